/* Interception while nothing is tagged, where the active context is looked up at each event.

   `Interception` does what the functions of `active_interception` do. `PlainInterception` does what the function
   of `event_runner` does for a variant whose events only propagate tags, as long as there is no metadata.
   What they do not know, they pass on. */

#include "dispatch.h"

/* ---- by one variant */

/* What a call site calls in place of a callee, where the variant is active. The callees of primitives are kept. */
static PyObject *
intercepted(PlainInterception *self, PyObject *callee)
{
    int is_primitive = !self->is_call && (PyCFunction_CheckExact(callee) || PyFunction_Check(callee));
    PyObject **place = &self->known[((size_t)callee >> 5) & (KNOWN_PRIMITIVES - 1)];
    if (is_primitive && is_plain_callee_of(*place, callee)) {
        return Py_NewRef(*place);
    }
    if (self->is_call || is_primitive) {
        PyObject *found = plain_callee(self, callee, 0);
        if (found != Py_None) {
            if (found != NULL && is_primitive) {
                Py_XSETREF(*place, Py_NewRef(found));
            }
            return found;
        }
    }
    return PyObject_CallOneArg(self->slowly, callee);
}

PyObject *
active_variant(State *state)
{
    PyObject *activation = active_here(state);
    if (activation == NULL) {
        return NULL;
    }
    PyObject *variant = SLOT(activation, state->of_variant);
    Py_DECREF(activation);
    return variant == Py_None ? NULL : variant;
}

static PyObject *
intercept_of_variant(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    PlainInterception *self = (PlainInterception *)callable;
    if (!is_one_argument(flagged, names)) {
        return NULL;
    }
    PyObject *variant = active_variant(self->state);
    if (variant == NULL && PyErr_Occurred()) {
        return NULL;
    }
    return variant == self->variant ? intercepted(self, arguments[0])
                                    : PyObject_CallOneArg(self->slowly, arguments[0]);
}

/* PlainInterception(slowly, variant, event, targets, names_of_targets, is_call, tables) */
static PyObject *
new_interception(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *slowly, *variant, *event, *targets, *names, *tables;
    PyObject *claimed, *readers, *ruled, *ruled_names, *any, *unwatched, *iterated, *types, *watches, *is_watching, *load_global;
    PyObject *leaves, *steps_plainly, *computes_here, *completions, *next, *thread, *wants_wrapped;
    PyObject *claimed_item, *claimed_stop;
    int is_call;
    if (!PyArg_ParseTuple(arguments, "OOOO!O!pO!:PlainInterception", &slowly, &variant, &event, &PyFrozenSet_Type,
                          &targets, &PyFrozenSet_Type, &names, &is_call, &PyTuple_Type, &tables) ||
        !PyArg_ParseTuple(tables, "OO!O!O!OOOO!O!UO!OOO!OOUOOO", &claimed, &PySet_Type, &readers, &PyDict_Type, &ruled,
                          &PySet_Type, &ruled_names, &any, &unwatched, &iterated, &PyFrozenSet_Type, &types,
                          &PyDict_Type, &watches, &is_watching, &PyDict_Type, &leaves, &steps_plainly, &computes_here,
                          &PyDict_Type, &completions, &next, &thread, &wants_wrapped, &claimed_item, &claimed_stop,
                          &load_global)) {
        return NULL;
    }
    PlainInterception *self = (PlainInterception *)new_callable(type, intercept_of_variant);
    if (self == NULL) {
        return NULL;
    }
    self->slowly = Py_NewRef(slowly);
    self->variant = Py_NewRef(variant);
    self->event = Py_NewRef(event);
    self->targets = Py_NewRef(targets);
    self->names_of_targets = Py_NewRef(names);
    self->is_call = (char)is_call;
    self->tables = Py_NewRef(tables);
    self->claimed = claimed;
    self->readers = readers;
    self->ruled = ruled;
    self->ruled_names = ruled_names;
    self->any_arguments = any;
    self->unwatched = unwatched;
    self->iterated = iterated;
    self->types_iterated = types;
    self->watches = watches;
    self->is_watching = is_watching;
    self->leaves = leaves;
    self->steps_plainly = steps_plainly;
    self->computes_here = computes_here;
    self->completions = completions;
    self->next = next;
    self->thread = thread;
    self->wants_wrapped = wants_wrapped;
    self->claimed_item = claimed_item;
    self->claimed_stop = claimed_stop;
    self->computes = -1;
    self->load_global = load_global;
    return (PyObject *)self;
}

static int
traverse_interception(PlainInterception *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->slowly);
    Py_VISIT(self->variant);
    Py_VISIT(self->event);
    Py_VISIT(self->targets);
    Py_VISIT(self->names_of_targets);
    Py_VISIT(self->tables);
    for (int number = 0; number < KNOWN_PRIMITIVES; number++) {
        Py_VISIT(self->known[number]);
        Py_VISIT(self->known_code[number].code);
        Py_VISIT(self->known_code[number].roots);
    }
    return 0;
}

static int
clear_interception(PlainInterception *self)
{
    for (int number = 0; number < KNOWN_PRIMITIVES; number++) {
        Py_CLEAR(self->known[number]);
        Py_CLEAR(self->known_code[number].code);
        Py_CLEAR(self->known_code[number].roots);
    }
    Py_CLEAR(self->slowly);
    Py_CLEAR(self->variant);
    Py_CLEAR(self->event);
    Py_CLEAR(self->targets);
    Py_CLEAR(self->names_of_targets);
    Py_CLEAR(self->tables);
    return 0;
}

CALLABLE_TYPE(plain_interception_spec, PlainInterception, "PlainInterception", new_interception, traverse_interception,
              clear_interception, no_methods);

/* ---- by whichever variant is active */

typedef struct {
    CALLABLE_HEAD
    PyObject *kind;
    PyObject *variant, *intercept; /* the variant that was active last, and its interception */
    unsigned long version;
} Interception;

/* Find the interception of the active variant. Returns -1 with an exception. */
static int
find_latest(Interception *self, PyObject *variant)
{
    PyObject *runner = NULL, *intercept = NULL, *runners = PyObject_GetAttrString(variant, "runners");
    unsigned long version = self->state->version;
    if (runners != NULL && (runner = PyObject_GetItem(runners, self->kind)) != NULL) {
        intercept = PyObject_GetAttrString(runner, "intercept");
    }
    Py_XDECREF(runners);
    Py_XDECREF(runner);
    if (intercept == NULL) {
        return -1;
    }
    Py_XSETREF(self->variant, Py_NewRef(variant));
    Py_XSETREF(self->intercept, intercept);
    self->version = version;
    return 0;
}

static PyObject *
intercept_anywhere(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    Interception *self = (Interception *)callable;
    if (!is_one_argument(flagged, names)) {
        return NULL;
    }
    PyObject *variant = active_variant(self->state);
    if (variant == NULL) {
        return PyErr_Occurred() ? NULL : Py_NewRef(arguments[0]);
    }
    if ((self->variant != variant || self->version != self->state->version) && find_latest(self, variant) < 0) {
        return NULL;
    }
    PyObject *intercept = Py_NewRef(self->intercept), *result;
    if (Py_IS_TYPE(intercept, self->state->plain_interception_type) &&
        ((PlainInterception *)intercept)->variant == variant) {
        result = intercepted((PlainInterception *)intercept, arguments[0]);
    }
    else {
        result = PyObject_CallOneArg(intercept, arguments[0]);
    }
    Py_DECREF(intercept);
    return result;
}

/* Interception(kind) */
static PyObject *
new_anywhere(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *kind;
    if (!PyArg_ParseTuple(arguments, "O!:Interception", &PyLong_Type, &kind)) {
        return NULL;
    }
    Interception *self = (Interception *)new_callable(type, intercept_anywhere);
    if (self != NULL) {
        self->kind = Py_NewRef(kind);
    }
    return (PyObject *)self;
}

static int
traverse_anywhere(Interception *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->kind);
    Py_VISIT(self->variant);
    Py_VISIT(self->intercept);
    return 0;
}

static int
clear_anywhere(Interception *self)
{
    Py_CLEAR(self->kind);
    Py_CLEAR(self->variant);
    Py_CLEAR(self->intercept);
    return 0;
}

CALLABLE_TYPE(interception_spec, Interception, "Interception", new_anywhere, traverse_anywhere, clear_anywhere,
              no_methods);
