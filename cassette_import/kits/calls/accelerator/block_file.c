/* BlockFile: a file that is written in blocks, of which nothing is lost.

   The first lines are written at once, those of a program that writes many in blocks. What is not written yet lies
   in a block that is mapped from a second file, `FILE.rest`, which stays however the process ends. A thread writes
   the block some milliseconds later, and then the next lines are written at once again. `fork`, the end of the
   process, and signals that end it write the block too. The second file is there from the first block to the end. */

#include "block_file.h"

#include <errno.h>
#include <fcntl.h>

#ifdef _WIN32

#include <io.h>
#define write(descriptor, bytes, count) _write((descriptor), (bytes), (unsigned int)(count))
#define close _close

#else

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#endif

#define MARK "cassette_import: the rest of a trace, see rest_file.complete\n"

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

pthread_mutex_t block_files_lock = PTHREAD_MUTEX_INITIALIZER;
BlockFile *block_files;

void
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

void
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
    pthread_mutex_lock(&block_files_lock);
    int is_prepared = prepare_for_end();
    if (is_left_over(rest)) {
        unlink(rest);
    }
    if (is_prepared && (self->rest = PyMem_RawMalloc(strlen(rest) + 1)) != NULL) {
        strcpy(self->rest, rest);
        self->next = block_files;
        block_files = self;
    }
    pthread_mutex_unlock(&block_files_lock);
}

/* Write the rest, and take no part in blocks any more. */
static void
end_file(BlockFile *self)
{
    BlockFile **place = &block_files;
    pthread_mutex_lock(&block_files_lock);
    write_block(self);
    while (*place != NULL && *place != self) {
        place = &(*place)->next;
    }
    if (*place == self) {
        *place = self->next;
    }
    int is_last = block_files == NULL;
    if (is_last) {
        leave_signals();
    }
    pthread_mutex_unlock(&block_files_lock);
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
    pthread_mutex_lock(&block_files_lock);
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
    pthread_mutex_unlock(&block_files_lock);
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
        pthread_mutex_lock(&block_files_lock);
        map_block(self);
        pthread_mutex_unlock(&block_files_lock);
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
        write_block_later(self);
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
    .name = "cassette_import.kits.calls.accelerator._accelerator.BlockFile",
    .basicsize = sizeof(BlockFile),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = file_slots,
};
