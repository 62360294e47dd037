/* Watched calls: leaves that take the items of generators, or call functions of the program, while nothing is
   tagged.

   Such a leaf is called by the interpreter, with a `WatchedSource` in place of each source that may run code of
   the program, and a `WatchedCallback` in place of a callback. They pass everything through, and look after each
   step whether there is metadata. As soon as there is some, what Python has made for the rest of the call takes
   over: it gets the item of that step, and all later ones. */

#include "dispatch.h"

/* ---- how a leaf is watched */

enum { NEVER, IF_COMPUTED, ALWAYS };

int
read_leaf(PyObject *row, Leaf *leaf)
{
    return PyArg_ParseTuple(row, "OOOiiiiiiii", &leaf->of_source, &leaf->of_callback, &leaf->at_end, &leaf->fewest,
                            &leaf->most, &leaf->first, &leaf->last, &leaf->has_callback, &leaf->may_have_keywords,
                            &leaf->takes_any, &leaf->keeps);
}

/* ---- sources and callbacks */

#define WATCHED_HEAD \
    PyObject *activation, *callee; /* of the call of the leaf */ \
    PyObject *make;                /* makes what takes over */ \
    PyObject *rest;                /* what has taken over; NULL: nothing has */

typedef struct {
    PyObject_HEAD
    State *state;
    WATCHED_HEAD
    PyObject *iterator;
    PyObject *kept; /* the items until then; NULL: they are not kept */
    char has_key;   /* whether the leaf calls a key function */
} WatchedSource;

typedef struct {
    CALLABLE_HEAD
    WATCHED_HEAD
    PyObject *function;
    PyObject *plain;   /* what calls it while nothing is tagged, where this variant is active */
    PyObject *variant;
    PyObject *sources; /* the iterators with its arguments */
    unsigned long version;
} WatchedCallback;

/* The item, or the result, of the step during which the first value was tagged. */
static PyObject *
first_of_rest(PyObject *rest, PyObject *value)
{
    PyObject *method = PyObject_GetAttrString(rest, "first");
    PyObject *first = method == NULL ? NULL : PyObject_CallOneArg(method, value);
    Py_XDECREF(method);
    return first;
}

/* Make what takes over; an exception that is set stays so, unless this raises one. */
static int
take_over(PyObject *self, PyObject *make, PyObject **rest)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyObject *made = PyObject_CallOneArg(make, self);
    if (made == NULL) {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
        return -1;
    }
    PyErr_Restore(type, error, trace);
    Py_XSETREF(*rest, made);
    return 0;
}

/* The source ended in the step during which the first value was tagged. */
static PyObject *
end_of_source(WatchedSource *self)
{
    Py_XDECREF(PyObject_CallMethod(self->rest, "ended", NULL));
    return NULL;
}

static PyObject *
next_of_source(WatchedSource *self)
{
    State *state = self->state;
    PyObject *value;
    if (self->rest == NULL && !metadata_exists(state)) {
        PyObject *iterator = Py_NewRef(self->iterator);
        value = Py_TYPE(iterator)->tp_iternext(iterator);
        Py_DECREF(iterator);
        if (metadata_exists(state)) {
            if (self->rest == NULL && take_over((PyObject *)self, self->make, &self->rest) < 0) {
                Py_XDECREF(value);
                return NULL;
            }
            if (value != NULL) {
                PyObject *first = first_of_rest(self->rest, value);
                Py_DECREF(value);
                return first;
            }
        }
        if (value == NULL) {
            return self->rest == NULL || PyErr_Occurred() ? NULL : end_of_source(self);
        }
        if (self->kept != NULL && PyList_Append(self->kept, value) < 0) {
            Py_CLEAR(value);
        }
        return value;
    }
    if (self->rest == NULL && take_over((PyObject *)self, self->make, &self->rest) < 0) {
        return NULL;
    }
    PyObject *rest = Py_NewRef(self->rest);
    value = PyObject_CallMethod(rest, "__next__", NULL);
    Py_DECREF(rest);
    return value;
}

static PyObject *
call_watched_callback(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    WatchedCallback *self = (WatchedCallback *)callable;
    State *state = self->state;
    if (self->rest == NULL && !metadata_exists(state)) {
        PyObject *variant = active_variant(state);
        if (variant == NULL && PyErr_Occurred()) {
            return NULL;
        }
        if (variant == self->variant && self->version == state->version) {
            PyObject *value = PyObject_Vectorcall(self->plain, arguments, flagged, names);
            if (value == NULL || (self->rest == NULL && !metadata_exists(state))) {
                return value;
            }
            if (self->rest == NULL && take_over(callable, self->make, &self->rest) < 0) {
                Py_DECREF(value);
                return NULL;
            }
            PyObject *first = first_of_rest(self->rest, value);
            Py_DECREF(value);
            return first;
        }
    }
    if (self->rest == NULL && take_over(callable, self->make, &self->rest) < 0) {
        return NULL;
    }
    PyObject *rest = Py_NewRef(self->rest);
    PyObject *value = PyObject_Vectorcall(rest, arguments, flagged, names);
    Py_DECREF(rest);
    return value;
}

static int
traverse_source(WatchedSource *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->activation);
    Py_VISIT(self->callee);
    Py_VISIT(self->make);
    Py_VISIT(self->rest);
    Py_VISIT(self->iterator);
    Py_VISIT(self->kept);
    return 0;
}

/* Its iterator stays: an iterator of the interpreter may ask for it. */
static int
clear_source(WatchedSource *self)
{
    Py_CLEAR(self->rest);
    Py_CLEAR(self->kept);
    return 0;
}

static void
free_source(WatchedSource *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear_source(self);
    Py_CLEAR(self->iterator);
    Py_CLEAR(self->activation);
    Py_CLEAR(self->callee);
    Py_CLEAR(self->make);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef members_of_source[] = {
    {"activation", T_OBJECT, offsetof(WatchedSource, activation), READONLY, NULL},
    {"callee", T_OBJECT, offsetof(WatchedSource, callee), READONLY, NULL},
    {"iterator", T_OBJECT, offsetof(WatchedSource, iterator), READONLY, NULL},
    {"kept", T_OBJECT, offsetof(WatchedSource, kept), READONLY, NULL},
    {"has_key", T_BOOL, offsetof(WatchedSource, has_key), READONLY, NULL},
    {"rest", T_OBJECT, offsetof(WatchedSource, rest), READONLY, NULL},
    {NULL},
};

static PyType_Slot slots_of_source[] = {
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, next_of_source},
    {Py_tp_traverse, traverse_source},
    {Py_tp_clear, clear_source},
    {Py_tp_dealloc, free_source},
    {Py_tp_members, members_of_source},
    {0, NULL},
};

PyType_Spec watched_source_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.WatchedSource",
    .basicsize = sizeof(WatchedSource),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots_of_source,
};

static int
traverse_callback(WatchedCallback *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->activation);
    Py_VISIT(self->callee);
    Py_VISIT(self->make);
    Py_VISIT(self->rest);
    Py_VISIT(self->function);
    Py_VISIT(self->plain);
    Py_VISIT(self->variant);
    Py_VISIT(self->sources);
    return 0;
}

static int
clear_callback(WatchedCallback *self)
{
    Py_CLEAR(self->activation);
    Py_CLEAR(self->callee);
    Py_CLEAR(self->make);
    Py_CLEAR(self->rest);
    Py_CLEAR(self->function);
    Py_CLEAR(self->plain);
    Py_CLEAR(self->variant);
    Py_CLEAR(self->sources);
    return 0;
}

static PyMemberDef members_of_callback[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(WatchedCallback, vectorcall), READONLY, NULL},
    {"activation", T_OBJECT, offsetof(WatchedCallback, activation), READONLY, NULL},
    {"callee", T_OBJECT, offsetof(WatchedCallback, callee), READONLY, NULL},
    {"function", T_OBJECT, offsetof(WatchedCallback, function), READONLY, NULL},
    {"sources", T_OBJECT, offsetof(WatchedCallback, sources), READONLY, NULL},
    {"rest", T_OBJECT, offsetof(WatchedCallback, rest), READONLY, NULL},
    {NULL},
};

static PyType_Slot slots_of_callback[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, traverse_callback},
    {Py_tp_clear, clear_callback},
    {Py_tp_dealloc, free_callable},
    {Py_tp_members, members_of_callback},
    {0, NULL},
};

PyType_Spec watched_callback_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.WatchedCallback",
    .basicsize = sizeof(WatchedCallback),
    .flags = CALLABLE_FLAGS | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots_of_callback,
};

/* ---- the call of a leaf */

typedef struct {
    PlainInterception *of;
    PyObject *callee;
    PyObject *activation;
    const Leaf *leaf;
    int has_key;
    int is_watched; /* whether there is a source or a callback that may run code of the program */
} Call;

/* Whether the items are kept; -1 with an exception. */
static int
keeps_items(Call *call)
{
    PlainInterception *of = call->of;
    if (call->leaf->keeps == IF_COMPUTED && of->computes < 0) {
        PyObject *answer = PyObject_CallOneArg(of->computes_here, call->activation);
        of->computes = answer == NULL ? -1 : (char)PyObject_IsTrue(answer);
        Py_XDECREF(answer);
        return of->computes;
    }
    return call->leaf->keeps == IF_COMPUTED ? of->computes : call->leaf->keeps == ALWAYS;
}

static PyObject *
watch_source(Call *call, PyObject *iterator)
{
    PyTypeObject *type = call->of->state->watched_source_type;
    WatchedSource *made = (WatchedSource *)type->tp_alloc(type, 0);
    if (made != NULL) {
        made->state = call->of->state;
        made->activation = Py_NewRef(call->activation);
        made->callee = Py_NewRef(call->callee);
        made->make = Py_NewRef(call->leaf->of_source);
        made->iterator = Py_NewRef(iterator);
        made->has_key = (char)call->has_key;
        int keeps = keeps_items(call);
        if (keeps < 0 || (keeps && (made->kept = PyList_New(0)) == NULL)) {
            Py_CLEAR(made);
        }
    }
    return (PyObject *)made;
}

/* A callback; Py_None: Python knows what to do with this one. */
static PyObject *
watch_callback(Call *call, PyObject *function)
{
    PlainInterception *of = call->of;
    PyObject *plain = plain_callee(of, function, 0);
    if (plain == NULL || plain == Py_None) {
        return Py_XNewRef(plain);
    }
    WatchedCallback *made = (WatchedCallback *)new_callable(of->state->watched_callback_type, call_watched_callback);
    if (made == NULL) {
        Py_DECREF(plain);
        return NULL;
    }
    made->activation = Py_NewRef(call->activation);
    made->callee = Py_NewRef(call->callee);
    made->make = Py_NewRef(call->leaf->of_callback);
    made->function = Py_NewRef(function);
    made->plain = plain;
    made->variant = Py_NewRef(of->variant);
    made->version = of->state->version;
    return (PyObject *)made;
}

/* Whether a generator runs the body of an overdubbed function; -1 with an exception. */
static int
runs_overdubbed(Call *call, PyObject *generator)
{
#if PY_VERSION_HEX < 0x030C0000
    PyObject *code = Py_NewRef(((PyGenObject *)generator)->gi_code);
#else
    PyObject *code = (PyObject *)PyGen_GetCode((PyGenObject *)generator);
#endif
    PyObject *roots = SLOT(call->activation, call->of->state->of_roots);
    KnownCode *known = &call->of->known_code[((size_t)code >> 5) & (KNOWN_PRIMITIVES - 1)];
    if (known->code != code || known->roots != roots || known->version != call->of->state->version) {
        PyObject *answer = PyObject_CallOneArg(call->of->steps_plainly, generator);
        int result = answer == NULL ? -1 : PyObject_IsTrue(answer);
        Py_XDECREF(answer);
        if (result < 0) {
            Py_DECREF(code);
            return -1;
        }
        Py_XSETREF(known->code, Py_NewRef(code));
        Py_XSETREF(known->roots, Py_XNewRef(roots));
        known->version = call->of->state->version;
        known->is_overdubbed = (char)result;
    }
    Py_DECREF(code);
    return known->is_overdubbed;
}

/* Whether a function of the program makes the iterator of an object; -1 with an exception. */
static int
has_own_iterator(PyTypeObject *type)
{
    if (type->tp_iter == NULL || !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) || Py_TYPE(type) != &PyType_Type) {
        return 0;
    }
    PyObject *method = PyObject_GetAttrString((PyObject *)type, "__iter__");
    int result = method == NULL ? -1 : PyFunction_Check(method);
    Py_XDECREF(method);
    return result;
}

enum { FOR_PYTHON, SETTLED, LAZY, ITERABLE };

/* What kind of source an argument is; -1 with an exception. Nothing of the program runs. */
static int
kind_of_source(Call *call, PyObject *source)
{
    PyTypeObject *type = Py_TYPE(source);
    if (PyList_CheckExact(source) || PyTuple_CheckExact(source) || PyRange_Check(source)) {
        return SETTLED;
    }
    if (PyGen_CheckExact(source)) {
        int is_overdubbed = runs_overdubbed(call, source);
        return is_overdubbed > 0 ? LAZY : is_overdubbed;
    }
    if (type == &PyZip_Type || type == &PyMap_Type || type == &PyFilter_Type || type == &PyEnum_Type) {
        PyObject *answer = PyObject_CallOneArg(call->of->steps_plainly, source);
        int is_plain = answer == NULL ? -1 : PyObject_IsTrue(answer);
        Py_XDECREF(answer);
        return is_plain > 0 ? LAZY : is_plain;
    }
    int is_settled = type->tp_iter == NULL ? 0 : iterates_like(call->of->types_iterated, type, length_of(type));
    if (is_settled != 0) {
        return is_settled < 0 ? -1 : SETTLED;
    }
    int is_iterable = call->leaf->takes_any ? has_own_iterator(type) : 0;
    return is_iterable > 0 ? ITERABLE : is_iterable;
}

/* What the leaf gets in place of a source. */
static PyObject *
source_of_leaf(Call *call, PyObject *source, int kind)
{
    if (kind == SETTLED) {
        return call->leaf->has_callback ? PyObject_GetIter(source) : Py_NewRef(source);
    }
    call->is_watched = 1;
    PyObject *iterator = kind == ITERABLE ? PyObject_GetIter(source) : Py_NewRef(source);
    PyObject *made = iterator == NULL ? NULL : watch_source(call, iterator);
    Py_XDECREF(iterator);
    return made;
}

/* The end of a call during which the first value was tagged: its result, or NULL with an exception. */
static PyObject *
end_call(Call *call, PyObject *value, PyObject *given, PyObject *watched)
{
    PyObject *type = NULL, *error = NULL, *trace = NULL;
    if (value == NULL) {
        PyErr_Fetch(&type, &error, &trace);
        PyErr_NormalizeException(&type, &error, &trace);
        if (trace != NULL) {
            PyException_SetTraceback(error, trace);
        }
    }
    PyObject *result =
        PyObject_CallFunctionObjArgs(call->leaf->at_end, call->activation, call->callee, given, watched,
                                     value == NULL ? Py_None : value, error == NULL ? Py_None : error, NULL);
    if (result != NULL && value == NULL) {
        Py_CLEAR(result);
        PyErr_Restore(type, error, trace);
    }
    else {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
    }
    Py_XDECREF(value);
    return result;
}

/* Whether a part of the call has been taken over. */
static int
is_taken_over(State *state, PyObject *const *all, Py_ssize_t total)
{
    for (Py_ssize_t number = 0; number < total; number++) {
        if ((Py_IS_TYPE(all[number], state->watched_source_type) && ((WatchedSource *)all[number])->rest != NULL) ||
            (Py_IS_TYPE(all[number], state->watched_callback_type) && ((WatchedCallback *)all[number])->rest != NULL)) {
            return 1;
        }
    }
    return 0;
}

static PyObject *
tuple_of(PyObject *const *values, Py_ssize_t count)
{
    PyObject *made = PyTuple_New(count);
    for (Py_ssize_t number = 0; made != NULL && number < count; number++) {
        PyTuple_SET_ITEM(made, number, Py_NewRef(values[number]));
    }
    return made;
}

#define MOST_ARGUMENTS 8

/* Put sources and callbacks in the places of the arguments; 0: Python has to make this call; -1: an exception. */
static int
watch_arguments(Call *call, PyObject **all, Py_ssize_t count, PyObject *names)
{
    const Leaf *leaf = call->leaf;
    Py_ssize_t last = leaf->last < 0 || leaf->last > count ? count : leaf->last, callback = leaf->has_callback ? 0 : -1;
    for (Py_ssize_t number = 0; names != NULL && number < PyTuple_GET_SIZE(names); number++) {
        if (leaf->of_callback != Py_None && all[count + number] != Py_None &&
            PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, number), "key") == 0) {
            callback = count + number;
            call->has_key = 1;
        }
    }
    int kinds[MOST_ARGUMENTS];
    for (Py_ssize_t number = leaf->first; number < last; number++) {
        kinds[number] = kind_of_source(call, all[number]);
        if (kinds[number] <= 0) {
            return kinds[number];
        }
    }
    PyObject *watched = callback < 0 ? NULL : watch_callback(call, all[callback]);
    if (callback >= 0 && (watched == NULL || watched == Py_None)) {
        Py_XDECREF(watched);
        return watched == NULL ? -1 : 0;
    }
    for (Py_ssize_t number = leaf->first; number < last; number++) {
        PyObject *made = source_of_leaf(call, all[number], kinds[number]);
        if (made == NULL) {
            Py_XDECREF(watched);
            return -1;
        }
        Py_SETREF(all[number], made);
    }
    if (watched != NULL) {
        Py_SETREF(all[callback], watched);
        call->is_watched = 1;
        ((WatchedCallback *)watched)->sources = tuple_of(all + leaf->first, last - leaf->first);
        if (((WatchedCallback *)watched)->sources == NULL) {
            return -1;
        }
    }
    return 1;
}

int
call_watched(PlainInterception *of, PyObject *callee, const Leaf *leaf, PyObject *const *arguments, size_t flagged,
             PyObject *names, PyObject **result)
{
    Py_ssize_t count = PyVectorcall_NARGS(flagged), total = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    Call call = {.of = of, .callee = callee, .leaf = leaf};
    *result = NULL;
    if (total > MOST_ARGUMENTS || count < leaf->fewest || (leaf->most >= 0 && count > leaf->most) ||
        (names != NULL && !leaf->may_have_keywords)) {
        return 0;
    }
    call.activation = active_here(of->state);
    if (call.activation == NULL) {
        return -1;
    }
    PyObject *all[MOST_ARGUMENTS];
    for (Py_ssize_t number = 0; number < total; number++) {
        all[number] = Py_NewRef(arguments[number]);
    }
    int is_made = watch_arguments(&call, all, count, names);
    if (is_made > 0 && !call.is_watched) {
        is_made = 0; /* conditions on the arguments say whether the plain call does the same */
    }
    if (is_made > 0) {
        PyObject *value = PyObject_Vectorcall(callee, all, count, names);
        if (leaf->at_end != Py_None &&
            (metadata_exists(of->state) || is_taken_over(of->state, all, total))) {
            PyObject *type, *error, *trace;
            PyErr_Fetch(&type, &error, &trace);
            PyObject *given = tuple_of(arguments, count), *watched = tuple_of(all, total);
            PyErr_Restore(type, error, trace);
            if (given == NULL || watched == NULL) {
                Py_CLEAR(value);
            }
            else {
                value = end_call(&call, value, given, watched);
            }
            Py_XDECREF(given);
            Py_XDECREF(watched);
        }
        *result = value;
        is_made = value == NULL ? -1 : 1;
    }
    for (Py_ssize_t number = 0; number < total; number++) {
        Py_DECREF(all[number]);
    }
    Py_DECREF(call.activation);
    return is_made;
}
