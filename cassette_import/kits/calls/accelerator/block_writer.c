/* When blocks of files are written: by a thread some milliseconds later, where the process forks, and where it
   ends. */

#include "block_file.h"

#if IS_MAPPED

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WAITING 20000000 /* nanoseconds after which a block is written */

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t writer;
static int has_writer;
static uintptr_t run; /* of the thread; it ends when there is another one */

static const int fatal_signals[] = {SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU};

/* ---- the thread */

static int
is_any_waiting(void)
{
    for (BlockFile *file = block_files; file != NULL; file = file->next) {
        if (atomic_load(&file->is_waiting)) {
            return 1;
        }
    }
    return 0;
}

static void *
write_later(void *own_run)
{
    pthread_mutex_lock(&block_files_lock);
    while (run == (uintptr_t)own_run) {
        if (!is_any_waiting()) {
            pthread_cond_wait(&changed, &block_files_lock);
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAITING;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (run == (uintptr_t)own_run && pthread_cond_timedwait(&changed, &block_files_lock, &until) != ETIMEDOUT) {
        }
        for (BlockFile *file = block_files; file != NULL; file = file->next) {
            if (atomic_exchange(&file->is_waiting, 0)) {
                write_block(file);
                atomic_store(&file->at_once, AT_ONCE);
            }
        }
    }
    pthread_mutex_unlock(&block_files_lock);
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

void
stop_writer(void)
{
    pthread_mutex_lock(&block_files_lock);
    int has_one = has_writer;
    pthread_t ending = writer;
    run++;
    has_writer = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&block_files_lock);
    if (has_one) {
        pthread_join(ending, NULL);
    }
}

void
write_block_later(BlockFile *self)
{
    pthread_mutex_lock(&block_files_lock);
    atomic_store(&self->is_waiting, 1);
    start_writer();
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&block_files_lock);
}

/* ---- forks, and the end of the process */

static void
before_fork(void)
{
    stop_writer(); /* Python warns of forks of processes with several threads */
    pthread_mutex_lock(&block_files_lock);
    for (BlockFile *file = block_files; file != NULL; file = file->next) {
        if (file->block == NULL && file->rest != NULL && !file->is_forked) {
            map_block(file); /* by which each process learns that others write too */
        }
        write_block(file);
    }
}

static void
after_fork(void)
{
    pthread_mutex_unlock(&block_files_lock);
}

/* The blocks are still those of the process of which this one is a copy. */
static void
in_forked(void)
{
    for (BlockFile *file = block_files; file != NULL; file = file->next) {
        file->is_forked = 1;
        atomic_store(&file->is_waiting, 0);
    }
    pthread_mutex_unlock(&block_files_lock);
}

/* Write the blocks, and remove the second files. The lock is held. */
static void
complete_files(void)
{
    for (BlockFile *file = block_files; file != NULL; file = file->next) {
        write_block(file);
        if (file->block != NULL && !file->has_failed && !file->is_forked) {
            unlink(file->rest);
        }
    }
}

static void
at_exit(void)
{
    pthread_mutex_lock(&block_files_lock);
    complete_files();
    pthread_mutex_unlock(&block_files_lock);
}

int
prepare_for_end(void)
{
    static int is_prepared;
    if (!is_prepared) {
        is_prepared = pthread_atfork(before_fork, after_fork, in_forked) == 0 && atexit(at_exit) == 0;
    }
    return is_prepared;
}

/* Write the blocks, and have the signal end the process. */
static void
on_fatal_signal(int number)
{
    int usual = errno;
    if (pthread_mutex_trylock(&block_files_lock) == 0) { /* else the blocks stay in the second files */
        complete_files();
        pthread_mutex_unlock(&block_files_lock);
    }
    errno = usual;
    raise(number); /* the handler has been removed */
}

void
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

void
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

#endif
