/* CallStack: the calls in progress in a thread, which a trace shows, or counts. */

#include "call_stack.h"

int
grow_stack(CallStack *self)
{
    Py_ssize_t room = self->room ? self->room * 2 : 16;
    Call *calls = PyMem_Realloc(self->calls, (size_t)room * sizeof(Call));
    if (calls == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->calls = calls;
    self->room = room;
    return 0;
}

static PyObject *
stack_push(CallStack *self, PyObject *arguments)
{
    PyObject *function;
    int is_secret;
    if (!PyArg_ParseTuple(arguments, "Op:push", &function, &is_secret) || push_call(self, function, is_secret) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
stack_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *thread;
    if (!PyArg_ParseTuple(arguments, "O:CallStack", &thread)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    CallStack *self = (CallStack *)allocate(type, 0);
    if (self != NULL) {
        self->thread = Py_NewRef(thread);
    }
    return (PyObject *)self;
}

static int
stack_traverse(CallStack *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->thread);
    for (Py_ssize_t number = 0; number < self->count; number++) {
        Py_VISIT(self->calls[number].function);
    }
    return 0;
}

static int
stack_clear(CallStack *self)
{
    cut_calls(self, 0);
    return 0;
}

static void
stack_dealloc(CallStack *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    cut_calls(self, 0);
    Py_CLEAR(self->thread);
    PyMem_Free(self->calls);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef stack_methods[] = {
    {"push", (PyCFunction)stack_push, METH_VARARGS, NULL},
    {NULL},
};

static PyMemberDef stack_members[] = {
    {"thread", T_OBJECT_EX, offsetof(CallStack, thread), READONLY},
    {"level", T_PYSSIZET, offsetof(CallStack, level), READONLY},
    {NULL},
};

static PyType_Slot stack_slots[] = {
    {Py_tp_new, stack_new},
    {Py_tp_dealloc, stack_dealloc},
    {Py_tp_traverse, stack_traverse},
    {Py_tp_clear, stack_clear},
    {Py_tp_methods, stack_methods},
    {Py_tp_members, stack_members},
    {0, NULL},
};

PyType_Spec call_stack_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.CallStack",
    .basicsize = sizeof(CallStack),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = stack_slots,
};
