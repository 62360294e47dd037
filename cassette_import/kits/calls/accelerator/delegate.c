/* Delegates: what stands between a body and the iterator or awaitable for which it waits.

   Each step resumes the body and suspends it, as `followed_bodies._Delegate` does. No step takes a frame, so that
   deep recursion stays possible. */

#include "accelerator.h"

typedef struct {
    PyObject_HEAD
    Body *body;
    PyObject *inner;
    PyObject *throws;  /* the method `throw` of `inner` that is going to be called */
    char is_awaitable; /* whether `inner` is asked for its iterator when it is awaited */
    char is_last;      /* whether an exception ends the body */
} Delegate;

static Delegate *
new_delegate(Body *body, PyObject *inner)
{
    PyTypeObject *type = body->recorder->state->delegate_type;
    Delegate *self = (Delegate *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->body = (Body *)Py_NewRef(body);
        self->inner = Py_NewRef(inner);
    }
    return self;
}

/* Whether a generator is a coroutine; -1 with an exception. */
static int
is_coroutine(State *state, PyObject *generator)
{
    PyObject *code = PyObject_GetAttr(generator, state->gi_code);
    int found = code == NULL ? -1 : (((PyCodeObject *)code)->co_flags & CO_ITERABLE_COROUTINE) != 0;
    Py_XDECREF(code);
    return found;
}

PyObject *
delegated(Body *body, PyObject *iterable)
{
    if (PyGen_CheckExact(iterable)) {
        int coroutine = is_coroutine(body->recorder->state, iterable);
        return coroutine < 0 ? NULL : coroutine ? Py_NewRef(iterable) : (PyObject *)new_delegate(body, iterable);
    }
    if (PyCoro_CheckExact(iterable) || Py_TYPE(iterable)->tp_iter == NULL) {
        return Py_NewRef(iterable); /* the interpreter decides whether it is an error, and raises it */
    }
    PyObject *iterator = Py_TYPE(iterable)->tp_iter(iterable);
    if (iterator == NULL || !PyIter_Check(iterator)) {
        return iterator;
    }
    PyObject *made = (PyObject *)new_delegate(body, iterator);
    Py_DECREF(iterator);
    return made;
}

/* Whether the interpreter can wait for an awaitable; -1 with an exception. */
static int
can_be_awaited(State *state, PyObject *awaitable)
{
    if (PyCoro_CheckExact(awaitable)) {
        PyObject *waits_for = PyObject_GetAttr(awaitable, state->cr_await);
        Py_XDECREF(waits_for);
        return waits_for == NULL ? -1 : waits_for == Py_None;
    }
    if (PyGen_CheckExact(awaitable)) {
        return is_coroutine(state, awaitable);
    }
    PyAsyncMethods *methods = Py_TYPE(awaitable)->tp_as_async;
    return methods != NULL && methods->am_await != NULL;
}

PyObject *
awaited(Body *body, PyObject *awaitable, int is_last)
{
    int can = can_be_awaited(body->recorder->state, awaitable);
    if (can <= 0) { /* the interpreter raises the error */
        return can < 0 ? NULL : Py_NewRef(awaitable);
    }
    Delegate *made = new_delegate(body, awaitable);
    if (made != NULL) {
        made->is_awaitable = !PyCoro_CheckExact(awaitable) && !PyGen_CheckExact(awaitable);
        made->is_last = (char)is_last;
    }
    return (PyObject *)made;
}

/* The iterator of what is awaited: the delegate itself. */
static PyObject *
delegate_await(Delegate *self)
{
    if (self->is_awaitable) {
        PyObject *iterator = Py_TYPE(self->inner)->tp_as_async->am_await(self->inner);
        if (iterator == NULL || PyCoro_CheckExact(iterator) || !PyIter_Check(iterator)) {
            return iterator; /* the interpreter raises the error */
        }
        self->is_awaitable = 0;
        Py_SETREF(self->inner, iterator);
    }
    return Py_NewRef(self);
}

/* Note that the body is suspended, and pass on what it yields. */
static PyObject *
yielded(Delegate *self, PyObject *value)
{
    if (value == NULL) {
        int ends = self->is_last && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_StopIteration);
        return ends ? ended_body(self->body) : NULL;
    }
    if (suspend_body(self->body) < 0) {
        Py_CLEAR(value);
    }
    return value;
}

/* A generator or coroutine has returned a value: a step ends with StopIteration. */
static void
stop_with(PyObject *value)
{
    PyObject *stop = PyObject_CallOneArg(PyExc_StopIteration, value);
    if (stop != NULL) { /* what is handled now is no context of it: finding that takes a step for each level */
#if PY_VERSION_HEX >= 0x030C0000
        PyErr_SetRaisedException(stop);
#else
        PyErr_Restore(Py_NewRef(PyExc_StopIteration), stop, NULL);
#endif
    }
}

static PyObject *
delegate_next(Delegate *self)
{
    PyObject *value = NULL;
    PyTypeObject *type = Py_TYPE(self->inner);
    if (!goes_on(self->body)) {
        return NULL;
    }
    Py_INCREF(self);
    if (type->tp_as_async == NULL || type->tp_as_async->am_send == NULL) {
        value = yielded(self, type->tp_iternext(self->inner));
    }
    else if (PyIter_Send(self->inner, Py_None, &value) != PYGEN_RETURN) {
        value = yielded(self, value);
    }
    else {
        if (value != Py_None) {
            stop_with(value);
        }
        Py_CLEAR(value);
    }
    Py_DECREF(self);
    return value;
}

static PyObject *
delegate_send(Delegate *self, PyObject *sent)
{
    PyObject *value = NULL;
    if (!goes_on(self->body)) {
        return NULL;
    }
    Py_INCREF(self);
    if (PyIter_Send(self->inner, sent, &value) != PYGEN_RETURN) {
        value = yielded(self, value);
    }
    else {
        stop_with(value);
        Py_CLEAR(value);
    }
    Py_DECREF(self);
    return value;
}

static PyObject *
delegate_throw(Delegate *self, PyObject *arguments)
{
    PyObject *throws = self->throws;
    self->throws = NULL;
    if (!goes_on(self->body)) {
        Py_XDECREF(throws);
        return NULL;
    }
    if (throws == NULL) {
        throws = PyObject_GetAttr(self->inner, self->body->recorder->state->throw_);
    }
    PyObject *value = throws == NULL ? NULL : PyObject_Call(throws, arguments, NULL);
    Py_XDECREF(throws);
    return throws == NULL ? NULL : yielded(self, value);
}

/* `throw` and `close`: the interpreter looks them up, and does without them where the iterator has none. */
static PyObject *
delegate_getattr(Delegate *self, PyObject *name)
{
    if (PyUnicode_CompareWithASCIIString(name, "throw") == 0 && !PyGen_CheckExact(self->inner) &&
        !PyCoro_CheckExact(self->inner)) {
        PyObject *throws = PyObject_GetAttr(self->inner, name);
        if (throws == NULL) {
            return NULL;
        }
        Py_XSETREF(self->throws, throws);
    }
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
    Py_VISIT(self->throws);
    return 0;
}

static void
delegate_dealloc(Delegate *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->inner);
    Py_CLEAR(self->throws);
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
    {Py_am_await, delegate_await},
    {Py_tp_methods, delegate_methods},
    {0, NULL},
};

PyType_Spec delegate_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.Delegate",
    .basicsize = sizeof(Delegate),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = delegate_slots,
};
