/* Suspended calls: a hook that is called while its context, and the contexts inside it, are suspended.

   It does what the functions do that `suspension` makes in Python. */

#include "dispatch.h"

typedef struct {
    CALLABLE_HEAD
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
    if (!PyArg_ParseTuple(arguments, "On:SuspendedCall", &function, &level)) {
        return NULL;
    }
    SuspendedCall *self = (SuspendedCall *)new_callable(type, call);
    if (self == NULL) {
        return NULL;
    }
    self->function = Py_NewRef(function);
    self->suspended = Py_NewRef(arguments);
    self->level = level;
    return (PyObject *)self;
}

static int
traverse(SuspendedCall *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
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

CALLABLE_TYPE(suspended_call_spec, SuspendedCall, "SuspendedCall", new, traverse, clear, no_methods,
              {"suspended", T_OBJECT_EX, offsetof(SuspendedCall, suspended), READONLY, NULL},);
