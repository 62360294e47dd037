/* Interception where every call is an event: `intercept(callee)` is a proxy that runs the event.

   `EveryCallee` does what the function of `event_runner.make_intercept_everything` does, and `EventCallee` what a
   `callee_proxy.Callee` does at a call site. */

#include "dispatch.h"

typedef struct {
    CALLEE_HEAD
    PyObject *event;
} EventCallee;

typedef struct {
    CALLABLE_HEAD
    PyObject *event, *variant; /* runs an event, and whose events these are */
    PyObject *elsewhere;       /* the interception while another variant is active */
} EveryCallee;

/* ---- the proxy of a callee */

static PyObject *
call_event(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    EventCallee *self = (EventCallee *)callable;
    return call_with_callee(self->event, self->callee, arguments, flagged, names);
}

static int
traverse_proxy(EventCallee *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->event);
    Py_VISIT(self->callee);
    return 0;
}

static int
clear_proxy(EventCallee *self)
{
    Py_CLEAR(self->event);
    Py_CLEAR(self->callee);
    return 0;
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(EventCallee, vectorcall), READONLY, NULL},
    {NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, traverse_proxy},
    {Py_tp_clear, clear_proxy},
    {Py_tp_dealloc, free_callable},
    {Py_tp_members, members},
    {Py_tp_getattro, attribute_of_callee},
    {Py_tp_str, text_of_callee},
    {0, NULL},
};

PyType_Spec event_callee_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.EventCallee",
    .basicsize = sizeof(EventCallee),
    .flags = CALLABLE_FLAGS | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

/* ---- the interception */

static PyObject *
intercept(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    EveryCallee *self = (EveryCallee *)callable;
    if (!is_one_argument(flagged, names)) {
        return NULL;
    }
    PyObject *variant = active_variant(self->state);
    if (variant == NULL && PyErr_Occurred()) {
        return NULL;
    }
    if (variant != self->variant) {
        return PyObject_CallOneArg(self->elsewhere, arguments[0]);
    }
    EventCallee *proxy = (EventCallee *)new_callable(self->state->event_callee_type, call_event);
    if (proxy != NULL) {
        proxy->event = Py_NewRef(self->event);
        proxy->callee = Py_NewRef(arguments[0]);
    }
    return (PyObject *)proxy;
}

/* EveryCallee(event, variant, elsewhere) */
static PyObject *
new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *event, *variant, *elsewhere;
    if (!PyArg_ParseTuple(arguments, "OOO:EveryCallee", &event, &variant, &elsewhere)) {
        return NULL;
    }
    EveryCallee *self = (EveryCallee *)new_callable(type, intercept);
    if (self != NULL) {
        self->event = Py_NewRef(event);
        self->variant = Py_NewRef(variant);
        self->elsewhere = Py_NewRef(elsewhere);
    }
    return (PyObject *)self;
}

static int
traverse(EveryCallee *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->event);
    Py_VISIT(self->variant);
    Py_VISIT(self->elsewhere);
    return 0;
}

static int
clear(EveryCallee *self)
{
    Py_CLEAR(self->event);
    Py_CLEAR(self->variant);
    Py_CLEAR(self->elsewhere);
    return 0;
}

CALLABLE_TYPE(every_callee_spec, EveryCallee, "EveryCallee", new, traverse, clear, no_methods);
