/* Plain callees: what a call site calls while nothing is tagged.

   A `PlainCallee` makes the call, and claims its result if the first value was tagged meanwhile. If there is
   metadata when it is called, the call is an event. */

#include "dispatch.h"

int
find_metadata(State *state)
{
    PyObject *found = PyDict_GetItemWithError(state->flags, state->name_of_metadata);
    /* Whoever makes the flag true notes that afterwards, and no other thread runs here in between. */
    state->may_have_metadata = found != Py_False; /* also if there is an exception: the code in Python meets it, too */
    return state->may_have_metadata;
}

typedef struct {
    CALLEE_HEAD
    PlainInterception *of;
    PyObject *condition; /* on the arguments; NULL: there is none; Py_None: it never holds */
    PyObject *watched;   /* how the callee is watched, see `watched_calls.c`; NULL: it is not */
    PyObject *completion; /* what claims the result, and gets the arguments too; NULL: what claims those of all others */
    Leaf leaf;           /* the same, read */
} PlainCallee;

int
is_plain_callee_of(PyObject *made, PyObject *primitive)
{
    return made != NULL && ((PlainCallee *)made)->callee == primitive;
}

/* The value of a global name; NULL without an exception: Python finds it. */
static PyObject *
global_value(PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2 || !PyDict_CheckExact(arguments[0]) || !PyUnicode_CheckExact(arguments[1])) {
        return NULL;
    }
    PyObject *found = PyDict_GetItemWithError(arguments[0], arguments[1]);
    if (found == NULL && !PyErr_Occurred()) {
        PyObject *others = PyDict_GetItemString(arguments[0], "__builtins__");
        if (others != NULL && PyModule_CheckExact(others)) {
            others = PyModule_GetDict(others);
        }
        if (others != NULL && PyDict_CheckExact(others)) {
            found = PyDict_GetItemWithError(others, arguments[1]);
        }
    }
    PyErr_Clear();
    return Py_XNewRef(found);
}

/* Whether all arguments of a call have some types, which are given by identity; -1 with an exception. */
static int
are_of_types(PyObject *types, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    Py_ssize_t count = PyVectorcall_NARGS(flagged) + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    int found = 1;
    for (Py_ssize_t number = 0; found > 0 && number < count; number++) {
        PyTypeObject *type = Py_TYPE(arguments[number]);
        found = iterates_like(types, type, length_of(type));
    }
    return found;
}

/* The arguments of a call as a tuple and a dict; -1 with an exception. */
static int
collect(PyObject *const *arguments, size_t flagged, PyObject *names, PyObject **values, PyObject **keywords)
{
    Py_ssize_t count = PyVectorcall_NARGS(flagged), named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    *values = PyTuple_New(count);
    *keywords = PyDict_New();
    int failed = *values == NULL || *keywords == NULL;
    for (Py_ssize_t number = 0; !failed && number < count; number++) {
        PyTuple_SET_ITEM(*values, number, Py_NewRef(arguments[number]));
    }
    for (Py_ssize_t number = 0; !failed && number < named; number++) {
        failed = PyDict_SetItem(*keywords, PyTuple_GET_ITEM(names, number), arguments[count + number]) < 0;
    }
    if (failed) {
        Py_CLEAR(*values);
        Py_CLEAR(*keywords);
        return -1;
    }
    return 0;
}

/* Whether a condition on the arguments of a call holds; -1 with an exception. */
static int
holds(PlainCallee *self, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    PlainInterception *of = self->of;
    if (self->condition == of->unwatched &&
        PyDict_GetItemWithError(of->watches, of->is_watching) == Py_False) {
        return 1;
    }
    if (self->condition == of->iterated) {
        return are_of_types(of->types_iterated, arguments, flagged, names);
    }
    if (self->condition == Py_None) {
        return 0;
    }
    PyObject *values, *keywords;
    if (collect(arguments, flagged, names, &values, &keywords) < 0) {
        return -1;
    }
    PyObject *answer = PyObject_CallFunctionObjArgs(self->condition, values, keywords, NULL);
    Py_DECREF(values);
    Py_DECREF(keywords);
    int result = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return result;
}

/* Run the call as an event. */
static PyObject *
as_event(PlainCallee *self, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    return call_with_callee(self->of->event, self->callee, arguments, flagged, names);
}

/* The next item for the program, which takes what a proxy gives with its wrapper. */
static PyObject *
step_for_program(PlainInterception *of, PyObject *iterator)
{
    PyObject *before = PyObject_GetAttr(of->thread, of->wants_wrapped);
    if (before == NULL || PyObject_SetAttr(of->thread, of->wants_wrapped, Py_True) < 0) {
        Py_XDECREF(before);
        return NULL;
    }
    PyObject *value = Py_TYPE(iterator)->tp_iternext(iterator), *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    int failed = PyObject_SetAttr(of->thread, of->wants_wrapped, before) < 0;
    Py_DECREF(before);
    if (failed) {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
        Py_XDECREF(value);
        return NULL;
    }
    PyErr_Restore(type, error, trace);
    return value;
}

/* `next(iterator, …)`, as its rule does it. The parts of an item may have metadata, which its iterator knows. */
static PyObject *
take_item(PlainInterception *of, PyObject *iterator, PyObject *otherwise, int steps_plainly)
{
    State *state = of->state;
    PyObject *value =
        steps_plainly ? Py_TYPE(iterator)->tp_iternext(iterator) : step_for_program(of, iterator);
    PyObject *type, *error, *trace;
    if (value != NULL) {
        if (metadata_exists(state)) {
            Py_SETREF(value, PyObject_CallFunctionObjArgs(of->claimed_item, value, iterator, NULL));
        }
        return value;
    }
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_StopIteration)) {
            return NULL;
        }
        if (metadata_exists(state)) {
            PyErr_Fetch(&type, &error, &trace);
            PyErr_NormalizeException(&type, &error, &trace);
            PyObject *done = PyObject_CallFunctionObjArgs(of->claimed_stop, error, iterator, NULL);
            if (done == NULL) {
                Py_XDECREF(type);
                Py_XDECREF(error);
                Py_XDECREF(trace);
                return NULL;
            }
            Py_DECREF(done);
            PyErr_Restore(type, error, trace);
        }
        if (otherwise != NULL) {
            PyErr_Clear();
        }
    }
    else if (otherwise == NULL) {
        PyErr_SetNone(PyExc_StopIteration);
    }
    return Py_XNewRef(otherwise);
}

/* The result of a call during which the first value was tagged, if its arguments say what becomes of it. */
static PyObject *
complete(PlainCallee *self, PyObject *value, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    PyObject *values, *keywords;
    if (collect(arguments, flagged, names, &values, &keywords) < 0) {
        return NULL;
    }
    PyObject *result =
        PyObject_CallFunctionObjArgs(self->completion, self->callee, values, keywords, value, NULL);
    Py_DECREF(values);
    Py_DECREF(keywords);
    return result;
}

static PyObject *
call_plainly(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    PlainCallee *self = (PlainCallee *)callable;
    PlainInterception *of = self->of;
    if (metadata_exists(self->state)) {
        return as_event(self, arguments, flagged, names);
    }
    if (self->watched != NULL) {
        PyObject *result;
        int is_made = call_watched(of, self->callee, &self->leaf, arguments, flagged, names, &result);
        if (is_made != 0) {
            return is_made < 0 ? NULL : result;
        }
    }
    if (self->condition != NULL) {
        int is_plain = holds(self, arguments, flagged, names);
        if (is_plain < 0) {
            return NULL;
        }
        Py_ssize_t count = PyVectorcall_NARGS(flagged);
        if (self->callee == of->next && names == NULL && (count == 1 || count == 2) && PyIter_Check(arguments[0])) {
            return take_item(of, arguments[0], count == 2 ? arguments[1] : NULL, is_plain);
        }
        if (!is_plain) {
            return as_event(self, arguments, flagged, names);
        }
    }
    else if (self->callee == of->load_global && names == NULL) {
        PyObject *found = global_value(arguments, PyVectorcall_NARGS(flagged));
        if (found != NULL) {
            return found;
        }
    }
    PyObject *value = PyObject_Vectorcall(self->callee, arguments, flagged, names);
    if (value != NULL && metadata_exists(self->state)) {
        PyObject *claimed;
        if (self->completion != NULL) {
            claimed = complete(self, value, arguments, flagged, names);
        }
        else {
            PyObject *pair[] = {self->callee, value};
            claimed = PyObject_Vectorcall(of->claimed, pair, 2, NULL);
        }
        Py_DECREF(value);
        return claimed;
    }
    return value;
}

static int
traverse(PlainCallee *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->of);
    Py_VISIT(self->callee);
    Py_VISIT(self->condition);
    Py_VISIT(self->watched);
    Py_VISIT(self->completion);
    return 0;
}

static int
clear(PlainCallee *self)
{
    Py_CLEAR(self->callee);
    Py_CLEAR(self->condition);
    Py_CLEAR(self->watched);
    Py_CLEAR(self->completion);
    Py_CLEAR(self->of);
    return 0;
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PlainCallee, vectorcall), READONLY, NULL},
    {NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_dealloc, free_callable},
    {Py_tp_members, members},
    {Py_tp_getattro, attribute_of_callee},
    {Py_tp_str, text_of_callee},
    {0, NULL},
};

PyType_Spec plain_callee_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.PlainCallee",
    .basicsize = sizeof(PlainCallee),
    .flags = CALLABLE_FLAGS | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

PyObject *
make_plain_callee(PlainInterception *of, PyObject *callee, PyObject *condition, PyObject *watched, PyObject *completion)
{
    PlainCallee *made = (PlainCallee *)new_callable(of->state->plain_callee_type, call_plainly);
    if (made != NULL) {
        made->of = (PlainInterception *)Py_NewRef(of);
        made->callee = Py_NewRef(callee);
        made->condition = Py_XNewRef(condition);
        made->watched = Py_XNewRef(watched);
        made->completion = Py_XNewRef(completion);
        if (watched != NULL && !read_leaf(watched, &made->leaf)) {
            Py_CLEAR(made);
        }
    }
    return (PyObject *)made;
}
