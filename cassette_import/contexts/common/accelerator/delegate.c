/* Delegates: what stands between a body and the generator or coroutine for which it waits.

   Each step resumes the body and suspends it, as `followed_bodies._Delegate` does. No step takes a frame, so that deep
   recursion stays possible. Knows bodies and the protocols of iterators; must not know what is recorded. */

#include "accelerator.h"

typedef struct {
    PyObject_HEAD
    Body *body;
    PyObject *inner;
} Delegate;

PyObject *
new_delegate(Body *body, PyObject *inner)
{
    PyTypeObject *type = body->recorder->state->delegate_type;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Delegate *self = (Delegate *)allocate(type, 0);
    if (self != NULL) {
        self->body = (Body *)Py_NewRef(body);
        self->inner = Py_NewRef(inner);
    }
    return (PyObject *)self;
}

/* Note that the body is suspended, and pass on what it yields. */
static PyObject *
yielded(Delegate *self, PyObject *value)
{
    if (value != NULL && suspend_body(self->body) < 0) {
        Py_CLEAR(value);
    }
    return value;
}

static int
goes_on(Delegate *self)
{
    return self->body->is_running || resume_body(self->body) == 0;
}

static PyObject *
step(Delegate *self, PyObject *sent)
{
    PyObject *value = NULL;
    if (!goes_on(self)) {
        return NULL;
    }
    Py_INCREF(self);
    PySendResult result = PyIter_Send(self->inner, sent, &value);
    if (result == PYGEN_NEXT) {
        value = yielded(self, value);
    }
    else if (result == PYGEN_RETURN) {
        PyObject *stop = PyObject_CallOneArg(PyExc_StopIteration, value);
        Py_CLEAR(value);
        if (stop != NULL) {
            PyErr_SetObject(PyExc_StopIteration, stop);
            Py_DECREF(stop);
        }
    }
    Py_DECREF(self);
    return value;
}

static PyObject *
delegate_next(Delegate *self)
{
    return step(self, Py_None);
}

static PyObject *
delegate_send(Delegate *self, PyObject *sent)
{
    return step(self, sent);
}

static PyObject *
delegate_throw(Delegate *self, PyObject *arguments)
{
    PyObject *throws = goes_on(self) ? PyObject_GetAttrString(self->inner, "throw") : NULL;
    PyObject *value = throws == NULL ? NULL : PyObject_Call(throws, arguments, NULL);
    Py_XDECREF(throws);
    return yielded(self, value);
}

static PyObject *
delegate_getattr(Delegate *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr((PyObject *)self, name);
    if (found == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        return PyObject_GetAttr(self->inner, name);
    }
    return found;
}

static int
delegate_traverse(Delegate *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->body);
    Py_VISIT(self->inner);
    return 0;
}

static void
delegate_dealloc(Delegate *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->inner);
    Py_CLEAR(self->body);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef delegate_methods[] = {
    {"send", (PyCFunction)delegate_send, METH_O, NULL},
    {"throw", (PyCFunction)delegate_throw, METH_VARARGS, NULL},
    {NULL},
};

static PyType_Slot delegate_slots[] = {
    {Py_tp_dealloc, delegate_dealloc},
    {Py_tp_traverse, delegate_traverse},
    {Py_tp_getattro, delegate_getattr},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, delegate_next},
    {Py_am_await, PyObject_SelfIter},
    {Py_tp_methods, delegate_methods},
    {0, NULL},
};

PyType_Spec delegate_spec = {
    .name = "cassette_import.contexts.common.accelerator._accelerator.Delegate",
    .basicsize = sizeof(Delegate),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = delegate_slots,
};
