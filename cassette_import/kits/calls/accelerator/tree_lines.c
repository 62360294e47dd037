/* TreeLines: the lines of a trace that is a tree, as `Tree` writes them to a file of its own.

   A call begins a line; its outcome completes the line if nothing was written in between. */

#include "text.h"

#define MOST_LEVELS 100 /* deeper calls are not indented further */
#define INDENT 2

struct TreeLines {
    PyObject_HEAD
    BlockFile *file;
    long thread; /* of the call whose line is incomplete; 0: there is none */
    Py_ssize_t level;
};

/* Add what stands before a call of a thread at a level. Returns -1 with an exception. */
static int
add_prefix(Text *line, PyObject *thread, Py_ssize_t level)
{
    static const char spaces[] = "                                                  "
                                 "                                                  "
                                 "                                                  "
                                 "                                                  ";
    PyObject *name = PyTuple_GET_ITEM(thread, 1);
    if (PyTuple_GET_ITEM(thread, 2) != Py_True &&
        (ADD(line, "[") < 0 || add_string(line, name) < 0 || ADD(line, "] ") < 0)) {
        return -1;
    }
    if (level <= MOST_LEVELS) {
        return add_bytes(line, spaces, (size_t)level * INDENT);
    }
    if (add_bytes(line, spaces, MOST_LEVELS * INDENT) < 0 || ADD(line, "[level ") < 0 ||
        add_number(line, level) < 0) {
        return -1;
    }
    return ADD(line, "] ");
}

static int
is_thread(PyObject *thread)
{
    if (PyTuple_Check(thread) && PyTuple_GET_SIZE(thread) == 3 && PyUnicode_Check(PyTuple_GET_ITEM(thread, 1))) {
        return 1;
    }
    PyErr_SetString(PyExc_TypeError, "a thread must be a TracedThread");
    return 0;
}

int
begin_line(TreeLines *self, PyObject *thread, Py_ssize_t level, const Text *call)
{
    long number = is_thread(thread) ? PyLong_AsLong(PyTuple_GET_ITEM(thread, 0)) : -1;
    if (number == -1 && PyErr_Occurred()) {
        return -1;
    }
    Text line;
    begin_text(&line);
    int status = self->thread != 0 ? ADD(&line, "\n") : 0;
    status = status < 0 || add_prefix(&line, thread, level) < 0 || add_bytes(&line, call->bytes, call->length) < 0
        ? -1 : 0;
    if (status == 0) {
        self->thread = number;
        self->level = level;
        append_to_file(self->file, line.bytes, line.length);
    }
    end_text(&line);
    return status;
}

int
end_line(TreeLines *self, PyObject *thread, Py_ssize_t level, const Text *outcome)
{
    long number = is_thread(thread) ? PyLong_AsLong(PyTuple_GET_ITEM(thread, 0)) : -1;
    if (number == -1 && PyErr_Occurred()) {
        return -1;
    }
    Text line;
    begin_text(&line);
    int status = 0;
    if (self->thread == number && self->level == level) {
        status = ADD(&line, " ");
    }
    else {
        status = self->thread != 0 ? ADD(&line, "\n") : 0;
        status = status < 0 ? -1 : add_prefix(&line, thread, level + 1);
    }
    if (status == 0 && add_bytes(&line, outcome->bytes, outcome->length) == 0 && ADD(&line, "\n") == 0) {
        self->thread = 0;
        append_to_file(self->file, line.bytes, line.length);
    }
    else {
        status = -1;
    }
    end_text(&line);
    return status;
}

/* ---- for the calls that Python shows */

static PyObject *
write_part(TreeLines *self, PyObject *arguments, int (*write)(TreeLines *, PyObject *, Py_ssize_t, const Text *))
{
    PyObject *thread, *string;
    Py_ssize_t level;
    Text text;
    if (!PyArg_ParseTuple(arguments, "OnU", &thread, &level, &string)) {
        return NULL;
    }
    begin_text(&text);
    int status = add_string(&text, string) < 0 ? -1 : write(self, thread, level, &text);
    end_text(&text);
    return status < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *
lines_begin(TreeLines *self, PyObject *arguments)
{
    return write_part(self, arguments, begin_line);
}

static PyObject *
lines_end(TreeLines *self, PyObject *arguments)
{
    return write_part(self, arguments, end_line);
}

static PyObject *
lines_finish(TreeLines *self, PyObject *Py_UNUSED(nothing))
{
    if (self->thread != 0) {
        self->thread = 0;
        append_to_file(self->file, "\n", 1);
    }
    Py_RETURN_NONE;
}

static PyObject *
lines_note(TreeLines *self, PyObject *string)
{
    Text line;
    if (!PyUnicode_Check(string)) {
        PyErr_SetString(PyExc_TypeError, "a note must be a text");
        return NULL;
    }
    begin_text(&line);
    int status = self->thread != 0 ? ADD(&line, "\n") : 0;
    status = status < 0 || add_string(&line, string) < 0 ? -1 : ADD(&line, "\n");
    if (status == 0) {
        self->thread = 0;
        append_to_file(self->file, line.bytes, line.length);
    }
    end_text(&line);
    return status < 0 ? NULL : Py_NewRef(Py_None);
}

/* ---- the type */

static PyObject *
lines_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    State *state = PyType_GetModuleState(type);
    PyObject *file;
    if (state == NULL || !PyArg_ParseTuple(arguments, "O!:TreeLines", state->block_file_type, &file)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    TreeLines *self = (TreeLines *)allocate(type, 0);
    if (self != NULL) {
        self->file = (BlockFile *)Py_NewRef(file);
    }
    return (PyObject *)self;
}

static int
lines_traverse(TreeLines *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->file);
    return 0;
}

static void
lines_dealloc(TreeLines *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->file);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef lines_methods[] = {
    {"begin", (PyCFunction)lines_begin, METH_VARARGS, NULL},
    {"end", (PyCFunction)lines_end, METH_VARARGS, NULL},
    {"finish", (PyCFunction)lines_finish, METH_NOARGS, NULL},
    {"note", (PyCFunction)lines_note, METH_O, NULL},
    {NULL},
};

static PyType_Slot lines_slots[] = {
    {Py_tp_new, lines_new},
    {Py_tp_dealloc, lines_dealloc},
    {Py_tp_traverse, lines_traverse},
    {Py_tp_methods, lines_methods},
    {0, NULL},
};

PyType_Spec tree_lines_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.TreeLines",
    .basicsize = sizeof(TreeLines),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = lines_slots,
};
