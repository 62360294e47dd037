/* Loops of `async for` while nothing is tagged: the interpreter's own steps, of an iterator that goes through this
   file.

   `AsyncLoop` and `AsyncSteps` do what the functions of `runtime.syntax.delegation` do, as long as there is no
   metadata and no hook takes the steps of the active variant. All else they pass on. */

#include "loops.h"

/* ---- the iterator of a loop */

typedef struct {
    PyObject_HEAD
    Loop *loop;
    PyObject *iterator;
} AsyncSteps;

static PyObject *
next_awaitable(AsyncSteps *self)
{
    PyObject *variant, *iterator = Py_NewRef(self->iterator), *awaitable;
    int is_plain = steps_are_plain(self->loop, &variant);
    if (is_plain < 0) {
        awaitable = NULL;
    }
    else if (is_plain || variant == NULL) {
        awaitable = Py_TYPE(iterator)->tp_as_async->am_anext(iterator);
    }
    else {
        awaitable = PyObject_CallOneArg(self->loop->later, iterator);
    }
    Py_DECREF(iterator);
    return awaitable;
}

static int
traverse_steps(AsyncSteps *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->iterator);
    return 0;
}

static int
clear_steps(AsyncSteps *self)
{
    Py_CLEAR(self->iterator);
    return 0;
}

static void
free_steps(AsyncSteps *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear_steps(self);
    Py_CLEAR(self->loop);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {
    {Py_am_aiter, PyObject_SelfIter},
    {Py_am_anext, next_awaitable},
    {Py_tp_traverse, traverse_steps},
    {Py_tp_clear, clear_steps},
    {Py_tp_dealloc, free_steps},
    {0, NULL},
};

PyType_Spec async_steps_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.AsyncSteps",
    .basicsize = sizeof(AsyncSteps),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

/* ---- the beginning of a loop */

static int
has_slot(PyObject *value, int of_iterator)
{
    PyAsyncMethods *methods = Py_TYPE(value)->tp_as_async;
    return methods != NULL && (of_iterator ? methods->am_anext != NULL : methods->am_aiter != NULL);
}

/* loop(iterable) */
PyObject *
begin_async_loop(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    Loop *self = (Loop *)callable;
    if (PyVectorcall_NARGS(flagged) == 1 && names == NULL && has_slot(arguments[0], 0)) {
        PyObject *variant;
        int is_plain = steps_are_plain(self, &variant);
        if (is_plain < 0) {
            return NULL;
        }
        if (is_plain || variant == NULL) {
            PyObject *iterator = Py_TYPE(arguments[0])->tp_as_async->am_aiter(arguments[0]);
            if (iterator == NULL) {
                return NULL;
            }
            if (!has_slot(iterator, 1)) {
                Py_SETREF(iterator, PyObject_CallOneArg(self->claimed, iterator));
                return iterator;
            }
            PyTypeObject *type = self->state->async_steps_type;
            AsyncSteps *made = (AsyncSteps *)type->tp_alloc(type, 0);
            if (made == NULL) {
                Py_DECREF(iterator);
                return NULL;
            }
            made->loop = (Loop *)Py_NewRef(self);
            made->iterator = iterator;
            return (PyObject *)made;
        }
    }
    return PyObject_Vectorcall(self->slowly, arguments, flagged, names);
}

CALLABLE_TYPE(async_loop_spec, Loop, "AsyncLoop", new_loop, traverse_loop, clear_loop, no_methods);
