/* Items: what stands between a body and what its loops take items from, and what begins generator expressions.

   They do what `followed_bodies.Items` and `AsyncItems`, and `followed_code._Once`, do. */

#include "accelerator.h"

/* ---- items of `for` and `async for` */

typedef struct {
    PyObject_HEAD
    Body *body;
    PyObject *iterator;
    char is_first; /* whether the body ends with this loop */
} Items;

static PyObject *
new_items(PyTypeObject *type, Body *body, PyObject *iterator, int is_first)
{
    Items *self = (Items *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->body = (Body *)Py_NewRef(body);
        self->iterator = Py_NewRef(iterator);
        self->is_first = (char)is_first;
    }
    return (PyObject *)self;
}

PyObject *
items_of(Body *body, PyObject *iterable)
{
    PyObject *iterator = PyObject_GetIter(iterable);
    PyObject *made = iterator == NULL ? NULL : new_items(body->recorder->state->items_type, body, iterator, 0);
    Py_XDECREF(iterator);
    return made;
}

static PyObject *
items_next(Items *self)
{
    if (!goes_on(self->body)) {
        return NULL;
    }
    PyObject *item = Py_TYPE(self->iterator)->tp_iternext(self->iterator);
    if (item != NULL) {
        return item;
    }
    int is_over = !PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_StopIteration);
    return is_over && !self->is_first ? NULL : ended_body(self->body);
}

PyObject *
async_items_of(Body *body, PyObject *iterable)
{
    PyAsyncMethods *methods = Py_TYPE(iterable)->tp_as_async;
    if (methods == NULL || methods->am_aiter == NULL) {
        return Py_NewRef(iterable); /* the interpreter raises the error */
    }
    PyObject *iterator = methods->am_aiter(iterable);
    PyObject *made = iterator == NULL ? NULL : new_items(body->recorder->state->async_items_type, body, iterator, 0);
    Py_XDECREF(iterator);
    return made;
}

/* The object itself, or else a wrong iterator, of which the interpreter complains. */
static PyObject *
async_items_iter(Items *self)
{
    PyAsyncMethods *methods = Py_TYPE(self->iterator)->tp_as_async;
    return Py_NewRef(methods != NULL && methods->am_anext != NULL ? (PyObject *)self : self->iterator);
}

static PyObject *
async_items_next(Items *self)
{
    if (!goes_on(self->body)) {
        return NULL;
    }
    PyObject *next = Py_TYPE(self->iterator)->tp_as_async->am_anext(self->iterator);
    PyObject *made = next == NULL ? NULL : awaited(self->body, next, self->is_first);
    Py_XDECREF(next);
    return made;
}

static int
items_traverse(Items *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->body);
    Py_VISIT(self->iterator);
    return 0;
}

static void
items_dealloc(Items *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->iterator);
    Py_CLEAR(self->body);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyType_Slot items_slots[] = {
    {Py_tp_dealloc, items_dealloc},
    {Py_tp_traverse, items_traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, items_next},
    {0, NULL},
};

static PyType_Slot async_items_slots[] = {
    {Py_tp_dealloc, items_dealloc},
    {Py_tp_traverse, items_traverse},
    {Py_am_aiter, async_items_iter},
    {Py_am_anext, async_items_next},
    {0, NULL},
};

PyType_Spec items_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.Items",
    .basicsize = sizeof(Items),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = items_slots,
};

PyType_Spec async_items_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.AsyncItems",
    .basicsize = sizeof(Items),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = async_items_slots,
};

/* ---- generator expressions */

typedef struct {
    PyObject_HEAD
    Recorder *recorder;
    PyObject *code;
    PyObject *first; /* NULL: the body has begun */
    char is_async;
} Expression;

PyObject *
new_expression(Recorder *recorder, PyObject *code, PyObject *first, int is_async)
{
    PyTypeObject *type = recorder->state->expression_type;
    Expression *self = (Expression *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->recorder = (Recorder *)Py_NewRef(recorder);
        self->code = Py_NewRef(code);
        self->first = Py_NewRef(first);
        self->is_async = (char)is_async;
    }
    return (PyObject *)self;
}

/* The body, which begins with this step. */
static PyObject *
expression_next(Expression *self)
{
    PyObject *first = self->first;
    if (first == NULL) {
        return NULL;
    }
    self->first = NULL;
    State *state = self->recorder->state;
    Body *body = (Body *)new_body(self->recorder, self->code);
    if (body != NULL) {
        body->first = new_items(self->is_async ? state->async_items_type : state->items_type, body, first, 1);
        if (body->first == NULL) {
            Py_CLEAR(body);
        }
    }
    Py_DECREF(first);
    return (PyObject *)body;
}

static int
expression_traverse(Expression *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->recorder);
    Py_VISIT(self->code);
    Py_VISIT(self->first);
    return 0;
}

static void
expression_dealloc(Expression *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->first);
    Py_CLEAR(self->code);
    Py_CLEAR(self->recorder);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyType_Slot expression_slots[] = {
    {Py_tp_dealloc, expression_dealloc},
    {Py_tp_traverse, expression_traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, expression_next},
    {0, NULL},
};

PyType_Spec expression_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.Expression",
    .basicsize = sizeof(Expression),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = expression_slots,
};
