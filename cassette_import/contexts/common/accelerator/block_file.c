/* BlockFile: a file that is written in blocks, of which nothing is lost.

   The first lines are written at once, those of a program that writes many in blocks. What is not written yet lies in a
   block that is mapped from a second file, `FILE.rest`, which stays however the process ends. A thread writes the block
   some milliseconds later, and then the next lines are written at once again. `fork`, the end of the process, and signals
   that end it write the block too. The second file is there from the first block to the end. Knows files and signals;
   must not know what is written. */

#include "accelerator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#ifdef _WIN32

/* Here, contexts write to their files themselves. */
#include <io.h>
#define IS_MAPPED 0
#define write(descriptor, bytes, count) _write((descriptor), (bytes), (unsigned int)(count))
#define close _close

#else

#define IS_MAPPED 1
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#endif

#define BLOCK 65536
#define AT_ONCE 200          /* how many writes come before the first block, and between blocks */
#define WAITING 20000000     /* nanoseconds after which a block is written */
#define MARK "cassette_import: the rest of a trace, see rest_file.complete\n"

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

static void
write_all(BlockFile *self, const char *bytes, size_t count)
{
    while (!self->has_failed && count > 0) {
        Py_ssize_t done = write(self->descriptor, bytes, count);
        if (done < 0 && errno != EINTR) {
            self->has_failed = 1;
        }
        else if (done > 0) {
            bytes += done;
            count -= (size_t)done;
        }
    }
}

#if IS_MAPPED

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static BlockFile *files; /* those that have a second file, or may get one */
static pthread_t writer;
static int has_writer, is_prepared;
static uintptr_t run; /* of the thread; it ends when there is another one */

static const int fatal_signals[] = {SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU};

/* Write what is not written yet. The lock is held. */
static void
write_block(BlockFile *self)
{
    size_t filled = atomic_load(&self->filled);
    if (self->block != NULL && !self->is_forked && filled > self->written) {
        char *begin = self->block->text + self->written;
        write_all(self, begin, filled - self->written);
        if (self->has_failed) {
            return;
        }
        memset(begin, 0, filled - self->written);
        self->written = filled;
    }
}

/* ---- the thread */

static void map_block(BlockFile *self);

static int
is_any_waiting(void)
{
    for (BlockFile *file = files; file != NULL; file = file->next) {
        if (atomic_load(&file->is_waiting)) {
            return 1;
        }
    }
    return 0;
}

static void *
write_later(void *own_run)
{
    pthread_mutex_lock(&lock);
    while (run == (uintptr_t)own_run) {
        if (!is_any_waiting()) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAITING;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (run == (uintptr_t)own_run && pthread_cond_timedwait(&changed, &lock, &until) != ETIMEDOUT) {
        }
        for (BlockFile *file = files; file != NULL; file = file->next) {
            if (atomic_exchange(&file->is_waiting, 0)) {
                write_block(file);
                atomic_store(&file->at_once, AT_ONCE);
            }
        }
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Start the thread, which handles no signals. The lock is held. */
static void
start_writer(void)
{
    sigset_t all, usual;
    if (has_writer) {
        return;
    }
    run++;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &usual);
    has_writer = pthread_create(&writer, NULL, write_later, (void *)run) == 0;
    pthread_sigmask(SIG_SETMASK, &usual, NULL);
}

static void
stop_writer(void)
{
    pthread_mutex_lock(&lock);
    int has_one = has_writer;
    pthread_t ending = writer;
    run++;
    has_writer = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (has_one) {
        pthread_join(ending, NULL);
    }
}

/* ---- forks, and the end of the process */

static void
before_fork(void)
{
    stop_writer(); /* Python warns of forks of processes with several threads */
    pthread_mutex_lock(&lock);
    for (BlockFile *file = files; file != NULL; file = file->next) {
        if (file->block == NULL && file->rest != NULL && !file->is_forked) {
            map_block(file); /* by which each process learns that others write too */
        }
        write_block(file);
    }
}

static void
after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* The blocks are still those of the process of which this one is a copy. */
static void
in_forked(void)
{
    for (BlockFile *file = files; file != NULL; file = file->next) {
        file->is_forked = 1;
        atomic_store(&file->is_waiting, 0);
    }
    pthread_mutex_unlock(&lock);
}

/* Write the blocks, and remove the second files. The lock is held. */
static void
complete_files(void)
{
    for (BlockFile *file = files; file != NULL; file = file->next) {
        write_block(file);
        if (file->block != NULL && !file->has_failed && !file->is_forked) {
            unlink(file->rest);
        }
    }
}

static void
at_exit(void)
{
    pthread_mutex_lock(&lock);
    complete_files();
    pthread_mutex_unlock(&lock);
}

/* Write the blocks, and have the signal end the process. */
static void
on_fatal_signal(int number)
{
    int usual = errno;
    if (pthread_mutex_trylock(&lock) == 0) { /* else the blocks stay in the second files */
        complete_files();
        pthread_mutex_unlock(&lock);
    }
    errno = usual;
    raise(number); /* the handler has been removed */
}

/* Handle the signals that would end the process. */
static void
handle_signals(void)
{
    struct sigaction ours = {.sa_handler = on_fatal_signal, .sa_flags = (int)SA_RESETHAND | SA_ONSTACK}, usual;
    sigemptyset(&ours.sa_mask);
    for (size_t number = 0; number < sizeof(fatal_signals) / sizeof(int); number++) {
        if (sigaction(fatal_signals[number], NULL, &usual) == 0 && usual.sa_handler == SIG_DFL) {
            sigaction(fatal_signals[number], &ours, NULL);
        }
    }
}

static void
leave_signals(void)
{
    struct sigaction usual;
    for (size_t number = 0; number < sizeof(fatal_signals) / sizeof(int); number++) {
        if (sigaction(fatal_signals[number], NULL, &usual) == 0 && usual.sa_handler == on_fatal_signal) {
            usual.sa_handler = SIG_DFL;
            usual.sa_flags = 0;
            sigaction(fatal_signals[number], &usual, NULL);
        }
    }
}

/* ---- the block */

/* Whether the second file is that of an earlier run. */
static int
is_left_over(const char *rest)
{
    char mark[sizeof(MARK)];
    struct stat found;
    int descriptor = open(rest, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return 0;
    }
    int is_ours = fstat(descriptor, &found) == 0 && found.st_size == sizeof(Block) &&
                  pread(descriptor, mark, sizeof(mark), offsetof(Block, mark)) == sizeof(mark) &&
                  memcmp(mark, MARK, sizeof(mark)) == 0;
    close(descriptor);
    return is_ours;
}

/* Map the block. All of its file is written before, so that a full disk cannot make a page fail. */
static Block *
mapped_block(const char *rest, uint64_t place)
{
    static const Block empty = {.mark = MARK};
    int descriptor = open(rest, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return NULL;
    }
    Block *block = MAP_FAILED;
    if (write(descriptor, &empty, sizeof(empty)) == (ssize_t)sizeof(empty)) {
        block = mmap(NULL, sizeof(Block), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    }
    close(descriptor);
    if (block == MAP_FAILED) {
        unlink(rest);
        return NULL;
    }
    block->place = place;
    return block;
}

/* Give the file a block, if it can have one. The lock is held. */
static void
map_block(BlockFile *self)
{
    off_t place = lseek(self->descriptor, 0, SEEK_CUR);
    self->block = place < 0 ? NULL : mapped_block(self->rest, (uint64_t)place);
    if (self->block == NULL) {
        PyMem_RawFree(self->rest);
        self->rest = NULL;
        return;
    }
    handle_signals();
}

/* Take part in blocks. */
static void
begin_file(BlockFile *self, const char *rest)
{
    atomic_store(&self->at_once, AT_ONCE);
    pthread_mutex_lock(&lock);
    if (!is_prepared) {
        is_prepared = pthread_atfork(before_fork, after_fork, in_forked) == 0 && atexit(at_exit) == 0;
    }
    if (is_left_over(rest)) {
        unlink(rest);
    }
    if (is_prepared && (self->rest = PyMem_RawMalloc(strlen(rest) + 1)) != NULL) {
        strcpy(self->rest, rest);
        self->next = files;
        files = self;
    }
    pthread_mutex_unlock(&lock);
}

/* Write the rest, and take no part in blocks any more. */
static void
end_file(BlockFile *self)
{
    BlockFile **place = &files;
    pthread_mutex_lock(&lock);
    write_block(self);
    while (*place != NULL && *place != self) {
        place = &(*place)->next;
    }
    if (*place == self) {
        *place = self->next;
    }
    int is_last = files == NULL;
    if (is_last) {
        leave_signals();
    }
    pthread_mutex_unlock(&lock);
    if (is_last) {
        stop_writer();
    }
    if (self->block != NULL) {
        munmap(self->block, sizeof(Block));
        self->block = NULL;
        if (!self->is_forked && !self->has_failed) {
            unlink(self->rest);
        }
    }
    PyMem_RawFree(self->rest);
    self->rest = NULL;
}

/* ---- writing */

static void
write_at_once(BlockFile *self, const char *bytes, size_t count)
{
    if (self->block == NULL) {
        write_all(self, bytes, count);
        return;
    }
    pthread_mutex_lock(&lock);
    if (self->is_forked) {
        self->block->is_shared = 1;
    }
    write_block(self);
    write_all(self, bytes, count);
    if (!self->is_forked && !self->has_failed) {
        self->written = 0;
        atomic_store(&self->filled, 0);
        self->block->place = (uint64_t)lseek(self->descriptor, 0, SEEK_CUR);
    }
    pthread_mutex_unlock(&lock);
}

/* Whether the next line goes to the block. */
static int
is_in_block(BlockFile *self)
{
    int at_once = atomic_load_explicit(&self->at_once, memory_order_relaxed);
    if (at_once > 0) {
        atomic_store_explicit(&self->at_once, at_once - 1, memory_order_relaxed);
        return 0;
    }
    if (self->block == NULL && self->rest != NULL && !self->is_forked) {
        pthread_mutex_lock(&lock);
        map_block(self);
        pthread_mutex_unlock(&lock);
    }
    return self->block != NULL && !self->is_forked && !self->block->is_shared;
}

void
append_to_file(BlockFile *self, const char *bytes, size_t count)
{
    if (self->has_failed) {
        return;
    }
    if (!is_in_block(self) || count > BLOCK) {
        write_at_once(self, bytes, count);
        return;
    }
    size_t filled = atomic_load_explicit(&self->filled, memory_order_relaxed);
    if (BLOCK - filled < count) {
        write_at_once(self, NULL, 0);
        filled = 0;
        if (self->has_failed) {
            return;
        }
    }
    memcpy(self->block->text + filled, bytes, count);
    atomic_store(&self->filled, filled + count);
    if (!atomic_load(&self->is_waiting)) {
        pthread_mutex_lock(&lock);
        atomic_store(&self->is_waiting, 1);
        start_writer();
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
}

#else

void
append_to_file(BlockFile *self, const char *bytes, size_t count)
{
    write_all(self, bytes, count);
}

#endif

/* ---- the type */

static void
close_file(BlockFile *self)
{
    if (self->descriptor >= 0) {
#if IS_MAPPED
        end_file(self);
#endif
        close(self->descriptor);
        self->descriptor = -1;
        self->has_failed = 1; /* nothing more is written */
    }
}

static PyObject *
file_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    int descriptor;
    const char *rest;
    if (!PyArg_ParseTuple(arguments, "iz:BlockFile", &descriptor, &rest)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    BlockFile *self = (BlockFile *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->descriptor = descriptor;
#if IS_MAPPED
    if (rest != NULL) {
        begin_file(self, rest);
    }
#endif
    return (PyObject *)self;
}

static PyObject *
file_write(BlockFile *self, PyObject *bytes)
{
    char *begin;
    Py_ssize_t count;
    if (PyBytes_AsStringAndSize(bytes, &begin, &count) < 0) {
        return NULL;
    }
    append_to_file(self, begin, (size_t)count);
    Py_RETURN_NONE;
}

static PyObject *
file_close(BlockFile *self, PyObject *Py_UNUSED(nothing))
{
    close_file(self);
    Py_RETURN_NONE;
}

static void
file_dealloc(BlockFile *self)
{
    PyTypeObject *type = Py_TYPE(self);
    close_file(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef file_methods[] = {
    {"write", (PyCFunction)file_write, METH_O, NULL},
    {"close", (PyCFunction)file_close, METH_NOARGS, NULL},
    {NULL},
};

static PyType_Slot file_slots[] = {
    {Py_tp_new, file_new},
    {Py_tp_dealloc, file_dealloc},
    {Py_tp_methods, file_methods},
    {0, NULL},
};

PyType_Spec block_file_spec = {
    .name = "cassette_import.contexts.common.accelerator._accelerator.BlockFile",
    .basicsize = sizeof(BlockFile),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = file_slots,
};
