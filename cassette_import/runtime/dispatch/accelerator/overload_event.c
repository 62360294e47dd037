/* Overload events: the event of a target that has one overload and no hooks.

   It does what `shortcut_events.make_single_overload_event` does in Python for calls of the target itself. Knows
   suspensions; must not know how overloads are chosen, or call sites. */

#include "dispatch.h"

#define FEW 8

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    State *state;
    PyObject *module; /* it keeps the state */
    PyObject *event, *variant, *target, *overload;
    PyObject *handler; /* what has to be told of the first call; NULL after it */
    Py_ssize_t level, fewest, most;
} OverloadEvent;

/* The whole event, for calls that do not fit the overload. `values` has room for the target, and then the arguments. */
static PyObject *
run_event(OverloadEvent *self, PyObject **values, Py_ssize_t count, PyObject *names)
{
    values[0] = self->target;
    return PyObject_Vectorcall(self->event, values, (size_t)count + 1, names);
}

static PyObject *
run_overload(OverloadEvent *self, PyObject *activation, PyObject **values, Py_ssize_t count)
{
    PyObject *contexts = SLOT(activation, self->state->of_contexts);
    if (contexts == NULL || !PyTuple_Check(contexts) || PyTuple_GET_SIZE(contexts) <= self->level) {
        PyErr_SetString(PyExc_TypeError, "the activation has no such context");
        return NULL;
    }
    if (self->handler != NULL) {
        if (PyObject_SetAttr(self->handler, self->state->is_applied, Py_True) < 0) {
            return NULL;
        }
        Py_CLEAR(self->handler);
    }
    Switch made;
    values[0] = PyTuple_GET_ITEM(contexts, self->level); /* the activation keeps it alive, and `made` the activation */
    values[1] = self->target;
    if (begin_suspension(self->state, activation, self->level, &made) < 0) {
        return NULL;
    }
    PyObject *result = PyObject_Vectorcall(self->overload, values, (size_t)count + 2, NULL);
    if (end_suspension(self->state, &made) < 0) {
        Py_CLEAR(result);
    }
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
        int fits = named == 0 && self->fewest <= count && count <= self->most;
        if (fits && SLOT(activation, self->state->of_variant) == self->variant) {
            result = run_overload(self, activation, values, count);
        }
        else {
            result = run_event(self, values + 1, count, names);
        }
        Py_DECREF(activation);
    }
    if (values != few) {
        PyMem_Free(values);
    }
    return result;
}

/* OverloadEvent(event, variant, target, level, handler, overload, fewest, most) */
static PyObject *
new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *event, *variant, *target, *handler, *overload;
    Py_ssize_t level, fewest, most;
    PyObject *module = PyType_GetModule(type);
    if (module == NULL || !PyArg_ParseTuple(arguments, "OOOnOOnn:OverloadEvent", &event, &variant, &target, &level,
                                            &handler, &overload, &fewest, &most)) {
        return NULL;
    }
    OverloadEvent *self = (OverloadEvent *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->vectorcall = call;
    self->module = Py_NewRef(module);
    self->state = PyModule_GetState(module);
    self->event = Py_NewRef(event);
    self->variant = Py_NewRef(variant);
    self->target = Py_NewRef(target);
    self->handler = Py_NewRef(handler);
    self->overload = Py_NewRef(overload);
    self->level = level;
    self->fewest = fewest;
    self->most = most;
    return (PyObject *)self;
}

static int
traverse(OverloadEvent *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->module);
    Py_VISIT(self->event);
    Py_VISIT(self->variant);
    Py_VISIT(self->target);
    Py_VISIT(self->handler);
    Py_VISIT(self->overload);
    return 0;
}

static int
clear(OverloadEvent *self)
{
    Py_CLEAR(self->event);
    Py_CLEAR(self->variant);
    Py_CLEAR(self->target);
    Py_CLEAR(self->handler);
    Py_CLEAR(self->overload);
    return 0;
}

static void
dealloc(OverloadEvent *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    Py_CLEAR(self->module);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OverloadEvent, vectorcall), READONLY, NULL},
    {NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_dealloc, dealloc},
    {Py_tp_members, members},
    {0, NULL},
};

PyType_Spec overload_event_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.OverloadEvent",
    .basicsize = sizeof(OverloadEvent),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
