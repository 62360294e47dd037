/* Overload events: the event of a target that has overloads of one context and no hooks.

   It does what `event_runner` does in Python for calls of the target itself, and keeps which overload was
   chosen for the types of arguments. */

#include "dispatch.h"

#define FEW 8
#define KNOWN_CALLS 8
#define KNOWN_TYPES 4

enum { NEVER, SAME_TYPES, SAME_COUNT }; /* for which further calls an overload holds: see `event_runner` */

typedef struct {
    PyObject *overload;                 /* NULL: the entry is empty */
    PyTypeObject *types[KNOWN_TYPES];   /* of the arguments; NULL: any types */
    Py_ssize_t count;
} KnownCall;

typedef struct {
    CALLABLE_HEAD
    PyObject *event, *variant, *target, *choose;
    Py_ssize_t level;
    int next; /* the entry that is filled next */
    KnownCall known[KNOWN_CALLS];
} OverloadEvent;

static void
drop(KnownCall *known)
{
    KnownCall old = *known;
    memset(known, 0, sizeof(KnownCall));
    Py_XDECREF(old.overload);
    for (int number = 0; number < KNOWN_TYPES; number++) {
        Py_XDECREF(old.types[number]);
    }
}

static int
has_types(KnownCall *known, PyObject *const *arguments)
{
    for (Py_ssize_t number = 0; number < KNOWN_TYPES && known->types[number] != NULL; number++) {
        if (known->types[number] != Py_TYPE(arguments[number])) {
            return 0;
        }
    }
    return 1;
}

static void
keep(OverloadEvent *self, PyObject *overload, PyObject *const *arguments, Py_ssize_t count, long holds)
{
    if (holds == NEVER || (holds == SAME_TYPES && count > KNOWN_TYPES)) {
        return;
    }
    KnownCall *known = &self->known[self->next++ % KNOWN_CALLS];
    drop(known);
    known->overload = Py_NewRef(overload);
    known->count = count;
    for (Py_ssize_t number = 0; holds == SAME_TYPES && number < count; number++) {
        known->types[number] = (PyTypeObject *)Py_NewRef(Py_TYPE(arguments[number]));
    }
}

/* The overload for a call, a new reference. None: the whole event has to decide. NULL: an exception. */
static PyObject *
overload_of(OverloadEvent *self, PyObject *context, PyObject *const *arguments, Py_ssize_t count)
{
    for (int number = 0; number < KNOWN_CALLS; number++) {
        KnownCall *known = &self->known[number];
        if (known->overload != NULL && known->count == count && has_types(known, arguments)) {
            return Py_NewRef(known->overload);
        }
    }
    PyObject *given = PyTuple_New(count), *overload;
    if (given == NULL) {
        return NULL;
    }
    for (Py_ssize_t number = 0; number < count; number++) {
        PyTuple_SET_ITEM(given, number, Py_NewRef(arguments[number]));
    }
    PyObject *chosen = PyObject_CallFunctionObjArgs(self->choose, context, given, NULL);
    Py_DECREF(given);
    long holds;
    if (chosen == NULL || !PyArg_ParseTuple(chosen, "Ol", &overload, &holds)) {
        Py_XDECREF(chosen);
        return NULL;
    }
    Py_INCREF(overload);
    Py_DECREF(chosen);
    if (overload != Py_None) {
        keep(self, overload, arguments, count, holds);
    }
    return overload;
}

/* Run the overload for a call. `values` has room for two, and then the arguments. */
static PyObject *
run_overload(OverloadEvent *self, PyObject *activation, PyObject **values, Py_ssize_t count)
{
    PyObject *contexts = SLOT(activation, self->state->of_contexts), *result = NULL;
    if (contexts == NULL || !PyTuple_Check(contexts) || PyTuple_GET_SIZE(contexts) <= self->level) {
        PyErr_SetString(PyExc_TypeError, "the activation has no such context");
        return NULL;
    }
    PyObject *context = Py_NewRef(PyTuple_GET_ITEM(contexts, self->level));
    PyObject *overload = overload_of(self, context, values + 2, count);
    Switch made;
    if (overload == Py_None) {
        values[1] = self->target;
        result = PyObject_Vectorcall(self->event, values + 1, (size_t)count + 1, NULL);
    }
    else if (overload != NULL && begin_suspension(self->state, activation, self->level, &made) == 0) {
        values[0] = context;
        values[1] = self->target;
        result = PyObject_Vectorcall(overload, values, (size_t)count + 2, NULL);
        if (end_suspension(self->state, &made) < 0) {
            Py_CLEAR(result);
        }
    }
    Py_XDECREF(overload);
    Py_DECREF(context);
    return result;
}

static PyObject *
call(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    OverloadEvent *self = (OverloadEvent *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flagged), named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    PyObject *few[FEW + 2], **values = few, *result = NULL;
    if (count + named > FEW && (values = PyMem_New(PyObject *, count + named + 2)) == NULL) {
        return PyErr_NoMemory();
    }
    memcpy(values + 2, arguments, (size_t)(count + named) * sizeof(PyObject *));
    PyObject *activation = active_here(self->state);
    if (activation != NULL) {
        if (named == 0 && SLOT(activation, self->state->of_variant) == self->variant) {
            result = run_overload(self, activation, values, count);
        }
        else {
            values[1] = self->target;
            result = PyObject_Vectorcall(self->event, values + 1, (size_t)count + 1, names);
        }
        Py_DECREF(activation);
    }
    if (values != few) {
        PyMem_Free(values);
    }
    return result;
}

/* OverloadEvent(event, variant, target, level, choose) */
static PyObject *
new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *event, *variant, *target, *choose;
    Py_ssize_t level;
    if (!PyArg_ParseTuple(arguments, "OOOnO:OverloadEvent", &event, &variant, &target, &level, &choose)) {
        return NULL;
    }
    OverloadEvent *self = (OverloadEvent *)new_callable(type, call);
    if (self == NULL) {
        return NULL;
    }
    self->event = Py_NewRef(event);
    self->variant = Py_NewRef(variant);
    self->target = Py_NewRef(target);
    self->choose = Py_NewRef(choose);
    self->level = level;
    return (PyObject *)self;
}

static int
traverse(OverloadEvent *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->event);
    Py_VISIT(self->variant);
    Py_VISIT(self->target);
    Py_VISIT(self->choose);
    for (int number = 0; number < KNOWN_CALLS; number++) {
        Py_VISIT(self->known[number].overload);
        for (int place = 0; place < KNOWN_TYPES; place++) {
            Py_VISIT(self->known[number].types[place]);
        }
    }
    return 0;
}

static int
clear(OverloadEvent *self)
{
    Py_CLEAR(self->event);
    Py_CLEAR(self->variant);
    Py_CLEAR(self->target);
    Py_CLEAR(self->choose);
    for (int number = 0; number < KNOWN_CALLS; number++) {
        drop(&self->known[number]);
    }
    return 0;
}

CALLABLE_TYPE(overload_event_spec, OverloadEvent, "OverloadEvent", new, traverse, clear, no_methods);
