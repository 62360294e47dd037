/* Plain callees: what a call site calls while nothing is tagged.

   A `PlainCallee` makes the call, and claims its result if the first value was tagged meanwhile. If there is metadata when it is
   called, the call is an event. Knows kinds of callees, and whether there is metadata; must not know rules. */

#include "dispatch.h"

int
metadata_exists(State *state)
{
    PyObject *found = PyDict_GetItemWithError(state->flags, state->name_of_metadata);
    return found != Py_False; /* also if there is an exception: the code in Python meets it, too */
}

typedef struct {
    CALLABLE_HEAD
    PlainInterception *of;
    PyObject *callee;
    PyObject *condition; /* on the arguments; NULL: there is none; Py_None: it never holds */
    PyObject *watched;   /* how the callee is watched, see `watched_calls.c`; NULL: it is not */
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
        found = is_among(types, Py_TYPE(arguments[number]));
    }
    return found;
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
    Py_ssize_t count = PyVectorcall_NARGS(flagged), named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    PyObject *values = PyTuple_New(count), *keywords = PyDict_New(), *answer = NULL;
    if (values != NULL && keywords != NULL) {
        for (Py_ssize_t number = 0; number < count; number++) {
            PyTuple_SET_ITEM(values, number, Py_NewRef(arguments[number]));
        }
        Py_ssize_t number = 0;
        while (number < named &&
               PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, number), arguments[count + number]) == 0) {
            number++;
        }
        if (number == named) {
            answer = PyObject_CallFunctionObjArgs(self->condition, values, keywords, NULL);
        }
    }
    Py_XDECREF(values);
    Py_XDECREF(keywords);
    int result = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return result;
}

/* Run the call as an event. */
static PyObject *
as_event(PlainCallee *self, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    Py_ssize_t count = PyVectorcall_NARGS(flagged) + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    PyObject **all = PyMem_New(PyObject *, count + 1);
    if (all == NULL) {
        return PyErr_NoMemory();
    }
    all[0] = self->callee;
    memcpy(all + 1, arguments, count * sizeof(PyObject *));
    PyObject *result = PyObject_Vectorcall(self->of->event, all, PyVectorcall_NARGS(flagged) + 1, names);
    PyMem_Free(all);
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
        int is_made = call_watched(of, self->callee, self->watched, arguments, flagged, names, &result);
        if (is_made != 0) {
            return is_made < 0 ? NULL : result;
        }
    }
    if (self->condition != NULL) {
        int is_plain = holds(self, arguments, flagged, names);
        if (is_plain <= 0) {
            return is_plain < 0 ? NULL : as_event(self, arguments, flagged, names);
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
        PyObject *pair[] = {self->callee, value};
        PyObject *claimed = PyObject_Vectorcall(of->claimed, pair, 2, NULL);
        Py_DECREF(value);
        return claimed;
    }
    return value;
}

/* It has the attributes of the callee, so that Python's own errors about a call name the callee. */
static PyObject *
attribute_of_callee(PyObject *self, PyObject *name)
{
    return PyObject_GetAttr(((PlainCallee *)self)->callee, name);
}

static PyObject *
text_of_callee(PyObject *self)
{
    return PyObject_Str(((PlainCallee *)self)->callee);
}

static int
traverse(PlainCallee *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->of);
    Py_VISIT(self->callee);
    Py_VISIT(self->condition);
    Py_VISIT(self->watched);
    return 0;
}

static int
clear(PlainCallee *self)
{
    Py_CLEAR(self->callee);
    Py_CLEAR(self->condition);
    Py_CLEAR(self->watched);
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

static PyObject *
make_callee(PlainInterception *of, PyObject *callee, PyObject *condition, PyObject *watched)
{
    PlainCallee *made = (PlainCallee *)new_callable(of->state->plain_callee_type, call_plainly);
    if (made != NULL) {
        made->of = (PlainInterception *)Py_NewRef(of);
        made->callee = Py_NewRef(callee);
        made->condition = Py_XNewRef(condition);
        made->watched = Py_XNewRef(watched);
    }
    return (PyObject *)made;
}

/* ---- which callees are called plainly */

/* Whether a function in C with this name has no rule and is no target. Takes the reference; NULL is an exception. */
static int
is_usual_name(PlainInterception *self, PyObject *name)
{
    if (name == NULL) {
        return -1;
    }
    int found = PySet_Contains(self->ruled_names, name);
    if (found == 0) {
        found = PySet_Contains(self->names_of_targets, name);
    }
    Py_DECREF(name);
    return found < 0 ? -1 : !found;
}

/* Whether the function of a method-wrapper, such as `super().__init__` that reaches `object`, has no rule and is no target.
   A class that may be changed can have another function under that name: Python looks it up. */
static int
wraps_usual_function(PlainInterception *self, PyObject *wrapper)
{
    PyObject *owner = PyObject_GetAttrString(wrapper, "__objclass__");
    if (owner == NULL) {
        return -1;
    }
    int is_usual = PyType_Check(owner) && PyType_HasFeature((PyTypeObject *)owner, Py_TPFLAGS_IMMUTABLETYPE);
    Py_DECREF(owner);
    return is_usual ? is_usual_name(self, PyObject_GetAttrString(wrapper, "__name__")) : 0;
}

/* A method in C whose name is that of a target or of a function with a rule; Py_None: Python finds that. */
static PyObject *
watched_method(PlainInterception *self, PyObject *callee)
{
    PyObject *name = PyObject_GetAttrString(callee, "__name__"), *owner = (PyObject *)Py_TYPE(PyCFunction_GET_SELF(callee));
    if (name == NULL) {
        return NULL;
    }
    int is_target = PySet_Contains(self->names_of_targets, name);
    PyObject *function = is_target || !PyType_HasFeature((PyTypeObject *)owner, Py_TPFLAGS_IMMUTABLETYPE)
                             ? Py_NewRef(Py_None)
                             : PyObject_GetAttr(owner, name);
    Py_DECREF(name);
    PyObject *number = is_target < 0 || function == NULL ? NULL : PyLong_FromVoidPtr(function);
    PyObject *condition = number == NULL ? NULL : PyDict_GetItemWithError(self->ruled, number);
    PyObject *watched = condition == NULL ? NULL : PyDict_GetItemWithError(self->leaves, number);
    int is_same = watched != NULL && Py_IS_TYPE(function, &PyMethodDescr_Type) &&
                  ((PyMethodDescrObject *)function)->d_method == ((PyCFunctionObject *)callee)->m_ml;
    Py_XDECREF(number);
    Py_XDECREF(function);
    if (PyErr_Occurred()) {
        return NULL;
    }
    return is_same ? make_callee(self, callee, condition, watched) : Py_None;
}

PyObject *
plain_callee(PlainInterception *self, PyObject *callee, int may_be_learned)
{
    PyTypeObject *type = Py_TYPE(callee);
    PyObject *function = callee;
    int is_method_in_c = 0, is_usual = 0;
    if (type == &PyMethod_Type) {
        function = PyMethod_GET_FUNCTION(callee);
        if (!Py_IS_TYPE(function, &PyFunction_Type)) {
            return Py_None;
        }
    }
    else if (type == &PyCFunction_Type) {
        PyObject *receiver = PyCFunction_GET_SELF(callee);
        is_method_in_c = receiver != NULL && !PyModule_CheckExact(receiver);
        is_usual = is_usual_name(self, PyUnicode_FromString(((PyCFunctionObject *)callee)->m_ml->ml_name));
        if (is_usual < 0) {
            return NULL;
        }
        if (is_method_in_c && !is_usual) {
            return watched_method(self, callee);
        }
        if (is_method_in_c) {
            return is_usual && !may_be_learned ? make_callee(self, callee, NULL, NULL) : Py_None;
        }
    }
    else if (type == self->state->method_wrapper_type) {
        is_usual = wraps_usual_function(self, callee);
        if (is_usual < 0) {
            return NULL;
        }
        return is_usual ? make_callee(self, callee, NULL, NULL) : Py_None;
    }
    else if (type != &PyFunction_Type && type != &PyType_Type) {
        return Py_None;
    }
    PyObject **place = &self->known[((size_t)callee >> 5) & (KNOWN_PRIMITIVES - 1)];
    if (self->is_call && is_plain_callee_of(*place, callee)) {
        return Py_NewRef(*place);
    }
    PyObject *number = PyLong_FromVoidPtr(function), *condition = NULL, *watched = NULL;
    if (number == NULL) {
        return NULL;
    }
    int is_other = PySet_Contains(self->readers, number);
    if (is_other == 0 && !is_usual) {
        is_other = PySet_Contains(self->targets, number);
        condition = is_other == 0 ? PyDict_GetItemWithError(self->ruled, number) : NULL;
        watched = condition != NULL ? PyDict_GetItemWithError(self->leaves, number) : NULL;
    }
    Py_DECREF(number);
    if (is_other < 0 || PyErr_Occurred()) {
        return NULL;
    }
    if (condition == self->any_arguments) {
        condition = NULL;
    }
    if (is_other || (condition == Py_None && watched == NULL) || (may_be_learned && condition == NULL)) {
        return Py_None;
    }
    PyObject *made = make_callee(self, callee, condition, watched);
    if (self->is_call && watched != NULL && made != NULL) {
        Py_XSETREF(*place, Py_NewRef(made));
    }
    return made;
}
