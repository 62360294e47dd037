/* Suspended calls: a hook that is called while its context, and the contexts inside it, are suspended.

   It does what the functions do that `suspension` makes in Python. Knows suspensions; must not know events. */

#include "dispatch.h"

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    State *state;
    PyObject *module; /* it keeps the state */
    PyObject *function, *suspended;
    Py_ssize_t level;
} SuspendedCall;

static PyObject *
call(PyObject *callable, PyObject *const *arguments, size_t count, PyObject *names)
{
    SuspendedCall *self = (SuspendedCall *)callable;
    PyObject *activation = active_here(self->state);
    if (activation == NULL) {
        return NULL;
    }
    Switch made;
    int failed = begin_suspension(self->state, activation, self->level, &made);
    Py_DECREF(activation);
    if (failed) {
        return NULL;
    }
    PyObject *result = PyObject_Vectorcall(self->function, arguments, count, names);
    if (end_suspension(self->state, &made) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

/* SuspendedCall(function, level) */
static PyObject *
new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *function;
    Py_ssize_t level;
    PyObject *module = PyType_GetModule(type);
    if (module == NULL || !PyArg_ParseTuple(arguments, "On:SuspendedCall", &function, &level)) {
        return NULL;
    }
    SuspendedCall *self = (SuspendedCall *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->vectorcall = call;
    self->module = Py_NewRef(module);
    self->state = PyModule_GetState(module);
    self->function = Py_NewRef(function);
    self->suspended = Py_NewRef(arguments);
    self->level = level;
    return (PyObject *)self;
}

static int
traverse(SuspendedCall *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->module);
    Py_VISIT(self->function);
    Py_VISIT(self->suspended);
    return 0;
}

static int
clear(SuspendedCall *self)
{
    Py_CLEAR(self->function);
    Py_CLEAR(self->suspended);
    return 0;
}

static void
dealloc(SuspendedCall *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    Py_CLEAR(self->module);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(SuspendedCall, vectorcall), READONLY, NULL},
    {"suspended", T_OBJECT_EX, offsetof(SuspendedCall, suspended), READONLY, NULL},
    {NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_dealloc, dealloc},
    {Py_tp_members, members},
    {Py_tp_getset, names_of_functions},
    {0, NULL},
};

PyType_Spec suspended_call_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.SuspendedCall",
    .basicsize = sizeof(SuspendedCall),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
