/* Switching: another value of the context variable `ACTIVE` for the time of a call.

   The variables of a context are an immutable map. To set one makes a map, and to reset it another one, which
   takes most of the time of a suspended hook. So the map with the other activation is kept, for as long as the map
   exists that it was made of, and a context gets it as a whole: it is the same context, and no other variable
   changes. Where the map is in a context is found, and tried, when the extension is loaded. If it is not found,
   variables are set as usual. */

#include "dispatch.h"

#define VARIABLES(state, context) SLOT(context, (state)->of_variables)

PyObject *
active_here(State *state)
{
    PyObject *found = NULL;
    if (state->active != NULL && PyContextVar_Get(state->active, NULL, &found) < 0) {
        return NULL;
    }
    if (found != NULL && Py_TYPE(found) == state->checked_type) {
        return found;
    }
    if (found == NULL || !PyObject_TypeCheck(found, state->activation_type)) {
        Py_XDECREF(found);
        PyErr_SetString(PyExc_TypeError, "the context variable holds no activation");
        return NULL;
    }
    Py_XSETREF(state->checked_type, (PyTypeObject *)Py_NewRef(Py_TYPE(found)));
    return found;
}

/* ---- the maps that are kept */

static void
empty(KnownSwitch *known)
{
    PyObject *reference = known->reference, *inner = known->inner, *dict = known->known;
    known->outer = known->reference = known->inner = known->known = known->candidate = NULL;
    Py_XDECREF(reference);
    Py_XDECREF(inner);
    Py_XDECREF(dict);
}

/* The callback of a weak reference. `capsule` has the entry. */
static PyObject *
forget(PyObject *capsule, PyObject *reference)
{
    KnownSwitch *known = PyCapsule_GetPointer(capsule, NULL);
    if (known == NULL) {
        return NULL;
    }
    if (known->reference == reference) {
        empty(known);
    }
    Py_RETURN_NONE;
}

static PyMethodDef forget_definition = {"forget", forget, METH_O, NULL};

int
add_known_switches(State *state)
{
    for (int number = 0; number < KNOWN_SWITCHES; number++) {
        PyObject *capsule = PyCapsule_New(&state->known[number], NULL, NULL);
        if (capsule == NULL) {
            return -1;
        }
        state->known[number].forget = PyCFunction_New(&forget_definition, capsule);
        Py_DECREF(capsule);
        if (state->known[number].forget == NULL) {
            return -1;
        }
    }
    return 0;
}

int
traverse_known_switches(State *state, visitproc visit, void *arg)
{
    for (int number = 0; number < KNOWN_SWITCHES; number++) {
        Py_VISIT(state->known[number].reference);
        Py_VISIT(state->known[number].inner);
        Py_VISIT(state->known[number].known);
        Py_VISIT(state->known[number].forget);
    }
    return 0;
}

void
clear_known_switches(State *state)
{
    for (int number = 0; number < KNOWN_SWITCHES; number++) {
        empty(&state->known[number]);
        Py_CLEAR(state->known[number].forget);
    }
}

static KnownSwitch *
known_switch(State *state, PyObject *outer, Py_ssize_t level)
{
    size_t hash = ((size_t)outer >> 4) ^ ((size_t)outer >> 10) ^ (size_t)level;
    return &state->known[hash & (KNOWN_SWITCHES - 1)];
}

/* Keep a map, if the map outside is the same for the second time: many are there only once. Errors are ignored. */
static void
keep(KnownSwitch *known, PyObject *outer, PyObject *inner, PyObject *dict, Py_ssize_t level)
{
    if (known->candidate != outer) {
        known->candidate = outer;
        return;
    }
    PyObject *reference = PyWeakref_NewRef(outer, known->forget);
    if (reference == NULL) {
        PyErr_Clear();
        return;
    }
    empty(known);
    known->outer = known->candidate = outer;
    known->reference = reference;
    known->inner = Py_NewRef(inner);
    known->known = Py_NewRef(dict);
    known->level = level;
}

/* ---- suspensions */

/* Set the variable as usual, and perhaps keep the map that this makes. */
static int
begin_anew(State *state, Py_ssize_t level, Switch *made)
{
    PyObject *activation = made->activation;
    PyObject *dict = SLOT(activation, state->of_hook_activations), *number = PyLong_FromSsize_t(level), *found = NULL;
    if (number == NULL) {
        return -1;
    }
    Py_XINCREF(dict);
    if (dict != NULL && PyDict_CheckExact(dict)) {
        found = Py_XNewRef(PyDict_GetItemWithError(dict, number));
    }
    if (found == NULL && !PyErr_Occurred()) {
        found = PyObject_CallFunctionObjArgs(state->hook_activation, activation, number, NULL);
    }
    Py_DECREF(number);
    if (found == NULL) {
        Py_XDECREF(dict);
        return -1;
    }
    PyObject *context = state->of_variables == 0 ? NULL : PyThreadState_Get()->context;
    if (context != NULL) {
        made->context = Py_NewRef(context);
        made->outer = Py_NewRef(VARIABLES(state, context));
    }
    PyObject *token = PyContextVar_Set(state->active, found);
    if (token != NULL && context != NULL) {
        made->inner = Py_NewRef(VARIABLES(state, context));
        if (dict != NULL && PyDict_CheckExact(dict)) {
            keep(known_switch(state, made->outer, level), made->outer, made->inner, dict, level);
        }
    }
    else if (token == NULL) {
        Py_CLEAR(made->context);
        Py_CLEAR(made->outer);
    }
    Py_XDECREF(token);
    Py_DECREF(found);
    Py_XDECREF(dict);
    return token == NULL ? -1 : 0;
}

int
begin_suspension(State *state, PyObject *activation, Py_ssize_t level, Switch *made)
{
    made->context = made->outer = made->inner = NULL;
    made->activation = Py_NewRef(activation);
    PyThreadState *thread = PyThreadState_Get();
    PyObject *context = thread->context;
    if (state->of_variables != 0 && context != NULL) {
        PyObject *outer = VARIABLES(state, context);
        KnownSwitch *known = known_switch(state, outer, level);
        if (known->outer == outer && known->level == level &&
            known->known == SLOT(activation, state->of_hook_activations)) {
            made->context = Py_NewRef(context);
            made->outer = outer; /* with the reference that the context had */
            made->inner = Py_NewRef(known->inner);
            VARIABLES(state, context) = Py_NewRef(known->inner);
            thread->context_ver++; /* values of variables are cached by it */
            return 0;
        }
    }
    if (begin_anew(state, level, made) < 0) {
        Py_CLEAR(made->activation);
        return -1;
    }
    return 0;
}

int
end_suspension(State *state, Switch *made)
{
    int result = 0;
    PyObject *context = made->context, *outer = made->outer, *inner = made->inner;
    if (context != NULL && VARIABLES(state, context) == inner) {
        VARIABLES(state, context) = outer;
        Py_DECREF(inner);
        PyThreadState_Get()->context_ver++;
    }
    else { /* a variable was set meanwhile */
        PyObject *kind, *value, *traceback;
        PyErr_Fetch(&kind, &value, &traceback);
        PyObject *token = PyContextVar_Set(state->active, made->activation);
        if (token == NULL) {
            Py_XDECREF(kind);
            Py_XDECREF(value);
            Py_XDECREF(traceback);
            result = -1;
        }
        else {
            Py_DECREF(token);
            PyErr_Restore(kind, value, traceback);
        }
        Py_XDECREF(outer);
    }
    Py_XDECREF(inner);
    Py_XDECREF(context);
    Py_DECREF(made->activation);
    made->activation = NULL;
    return result;
}

/* ---- the same for code in Python, in whose frame the call is */

typedef struct {
    PyObject_HEAD
    Switch made;
} Suspension;

PyObject *
suspend(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    State *state = PyModule_GetState(module);
    if (count != 2 || !PyObject_TypeCheck(arguments[0], state->activation_type)) {
        PyErr_SetString(PyExc_TypeError, "suspend() takes an activation and a level");
        return NULL;
    }
    Py_ssize_t level = PyLong_AsSsize_t(arguments[1]);
    if (level == -1 && PyErr_Occurred()) {
        return NULL;
    }
    Suspension *self = PyObject_New(Suspension, state->suspension_type);
    if (self == NULL) {
        return NULL;
    }
    if (begin_suspension(state, arguments[0], level, &self->made) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

PyObject *
resume(PyObject *module, PyObject *suspension)
{
    State *state = PyModule_GetState(module);
    if (!Py_IS_TYPE(suspension, state->suspension_type) || ((Suspension *)suspension)->made.activation == NULL) {
        PyErr_SetString(PyExc_TypeError, "resume() takes a suspension that is not over");
        return NULL;
    }
    if (end_suspension(state, &((Suspension *)suspension)->made) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static void
suspension_dealloc(Suspension *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if (self->made.activation != NULL) { /* it was never resumed: the frame was dropped */
        Py_DECREF(self->made.activation);
        Py_XDECREF(self->made.context);
        Py_XDECREF(self->made.outer);
        Py_XDECREF(self->made.inner);
    }
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot suspension_slots[] = {
    {Py_tp_dealloc, suspension_dealloc},
    {0, NULL},
};

PyType_Spec suspension_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.Suspension",
    .basicsize = sizeof(Suspension),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = suspension_slots,
};

/* ---- where a context has its variables */

typedef struct {
    PyObject *found;
    int count;
} Found;

static int
visit_map(PyObject *object, Found *found)
{
    if (strcmp(Py_TYPE(object)->tp_name, "hamt") == 0) {
        found->found = object;
        found->count++;
    }
    return 0;
}

/* The map of a context; NULL if there is none, or several. */
static PyObject *
map_of(PyObject *context)
{
    Found found = {NULL, 0};
    traverseproc traverse = Py_TYPE(context)->tp_traverse;
    if (traverse != NULL) {
        traverse(context, (visitproc)visit_map, &found);
    }
    return found.count == 1 ? found.found : NULL;
}

/* Whether a variable has the value that a map has, when a context gets this map. The context has been entered. */
static int
is_switched(State *state, PyObject *context)
{
    int result = 0;
    PyObject *variable = PyContextVar_New("switched", NULL), *found = NULL;
    PyObject *first = variable == NULL ? NULL : PyContextVar_Set(variable, Py_False);
    PyObject *before = Py_XNewRef(map_of(context));
    PyObject *second = first == NULL ? NULL : PyContextVar_Set(variable, Py_True);
    PyObject *after = map_of(context);
    if (second != NULL && before != NULL && after != before && VARIABLES(state, context) == after &&
        PyType_SUPPORTS_WEAKREFS(Py_TYPE(after)) && PyThreadState_Get()->context == context) {
        VARIABLES(state, context) = before;
        PyThreadState_Get()->context_ver++;
        result = PyContextVar_Get(variable, NULL, &found) == 0 && found == Py_False && map_of(context) == before;
        VARIABLES(state, context) = after;
        PyThreadState_Get()->context_ver++;
    }
    Py_XDECREF(found);
    Py_XDECREF(before);
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(variable);
    return result;
}

int
find_variables(State *state)
{
    PyObject *context = PyContext_New();
    if (context == NULL) {
        return -1;
    }
    PyObject *map = map_of(context);
    Py_ssize_t size = Py_TYPE(context)->tp_basicsize, step = sizeof(PyObject *);
    state->of_variables = 0;
    for (Py_ssize_t offset = sizeof(PyObject); map != NULL && offset + step <= size; offset += step) {
        if (SLOT(context, offset) == map) {
            state->of_variables = offset;
        }
    }
    if (state->of_variables != 0) {
        if (PyContext_Enter(context) < 0) {
            Py_DECREF(context);
            return -1;
        }
        if (!is_switched(state, context)) {
            state->of_variables = 0;
        }
        if (PyContext_Exit(context) < 0) {
            Py_DECREF(context);
            return -1;
        }
    }
    Py_DECREF(context);
    if (PyErr_Occurred()) {
        return -1;
    }
    return 0;
}
