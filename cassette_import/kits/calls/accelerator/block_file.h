/* What the files of a BlockFile share: its structure, and the files of this process that have blocks. */

#ifndef CASSETTE_BLOCK_FILE_H
#define CASSETTE_BLOCK_FILE_H

#include "accelerator.h"

#ifdef _WIN32

/* Here, contexts write to their files themselves. */
#define IS_MAPPED 0

#else

#define IS_MAPPED 1
#include <pthread.h>
#include <stdatomic.h>

#endif

#define BLOCK 65536
#define AT_ONCE 200 /* how many writes come before the first block, and between blocks */

#if IS_MAPPED

typedef struct {
    char text[BLOCK];   /* what is not written yet, between zeros */
    char mark[64];      /* MARK */
    uint64_t place;     /* where in the file the block begins */
    uint64_t is_shared; /* whether a forked process has written to the file, too */
} Block;

#endif

struct BlockFile {
    PyObject_HEAD
    int descriptor; /* -1: it is closed */
    int has_failed;
#if IS_MAPPED
    int is_forked; /* whether this process is a copy of that which has opened the file */
    char *rest; /* the name of the second file; NULL: each line is written at once */
    Block *block;
    atomic_size_t filled;  /* how much of the block is used */
    size_t written;        /* how much of that is in the file */
    atomic_int is_waiting; /* whether the thread will write the block */
    atomic_int at_once;    /* how many writes go to the file directly */
    BlockFile *next;
#endif
};

#if IS_MAPPED

/* Held while blocks are written, and while the list of files changes. */
extern pthread_mutex_t block_files_lock;

/* The files that have a second file, or may get one. */
extern BlockFile *block_files;

/* Give the file a block, if it can have one. The lock is held. */
void map_block(BlockFile *self);

/* Write what is not written yet. The lock is held. */
void write_block(BlockFile *self);

/* ---- block_writer.c */

/* Write the blocks where the process forks or ends. Returns whether that is so. The lock is held. */
int prepare_for_end(void);

/* Handle the signals that would end the process, or leave them to the process. */
void handle_signals(void);
void leave_signals(void);

/* Have the thread write the block later. */
void write_block_later(BlockFile *self);
void stop_writer(void);

#endif

#endif
