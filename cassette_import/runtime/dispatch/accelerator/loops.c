/* Loops and unpacking while nothing is tagged, where the active context is looked up at each step.

   `Loop`, `Steps` and `Unpacking` do what the functions of `runtime.syntax.iteration` do, for the usual iterables,
   as long as there is no metadata and no hook takes the steps of the active variant. All else they pass on. */

#include "loops.h"

/* ---- whether the active variant leaves steps alone as long as there is no metadata */

int
steps_are_plain(Loop *self, PyObject **active)
{
    PyObject *variant = *active = active_variant(self->state);
    if (variant == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    if (metadata_exists(self->state)) {
        return 0;
    }
    if (variant != self->variant || self->version != self->state->version) {
        unsigned long version = self->state->version;
        PyObject *answer = PyObject_CallOneArg(self->kinds_of, variant);
        if (answer == NULL) {
            return -1;
        }
        self->files = NULL;
        if (answer != Py_None && !PyArg_ParseTuple(answer, "O!O!O|O!", &PyFrozenSet_Type, &self->containers,
                                                   &PyFrozenSet_Type, &self->iterators, &self->steps_plainly,
                                                   &PyDict_Type, &self->files)) {
            Py_DECREF(answer);
            return -1;
        }
        Py_XSETREF(self->kinds, answer);
        Py_XSETREF(self->variant, Py_NewRef(variant));
        self->version = version;
    }
    return self->kinds != Py_None;
}

/* ---- unpacking */

/* Whether a value is a list or tuple, or one of a subclass, such as a named tuple, that iterates as these do. */
static int
is_sequence(PyObject *value)
{
    getiterfunc iterate = Py_TYPE(value)->tp_iter;
    return (PyTuple_Check(value) && iterate == PyTuple_Type.tp_iter) ||
           (PyList_Check(value) && iterate == PyList_Type.tp_iter);
}

/* Whether a value consists of lists and tuples, as deep as it is unpacked; -1 with an exception. */
static int
is_nested(PyObject *value, PyObject *spec)
{
    if (!PyTuple_CheckExact(spec) || PyTuple_GET_SIZE(spec) != 3 || !PyTuple_CheckExact(PyTuple_GET_ITEM(spec, 2))) {
        return 0;
    }
    PyObject *star = PyTuple_GET_ITEM(spec, 1), *inner = PyTuple_GET_ITEM(spec, 2);
    Py_ssize_t count = PyTuple_GET_SIZE(inner), size = PySequence_Fast_GET_SIZE(value);
    if (star != Py_None) {
        Py_ssize_t place = PyLong_AsSsize_t(star);
        if (place < 0 || count > place) {
            return place < 0 && PyErr_Occurred() ? -1 : 0;
        }
    }
    for (Py_ssize_t number = 0; number < count && number < size; number++) {
        PyObject *of_part = PyTuple_GET_ITEM(inner, number), *part = PySequence_Fast_GET_ITEM(value, number);
        if (of_part != Py_None) {
            int is_plain = is_sequence(part) ? is_nested(part, of_part) : 0;
            if (is_plain <= 0) {
                return is_plain;
            }
        }
    }
    return 1;
}

/* Whether the interpreter may unpack a value itself; -1 with an exception. */
static int
unpacks_plainly(PyObject *value, PyObject *spec)
{
    return is_sequence(value) ? is_nested(value, spec) : 0;
}

static PyObject *
unpack(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    Loop *self = (Loop *)callable;
    if (PyVectorcall_NARGS(flagged) == 2 && names == NULL) {
        PyObject *variant;
        int is_plain = steps_are_plain(self, &variant);
        if (is_plain == 0 && variant == NULL) {
            is_plain = 1; /* nothing is active */
        }
        is_plain = is_plain > 0 ? unpacks_plainly(arguments[0], arguments[1]) : is_plain;
        if (is_plain) {
            return is_plain < 0 ? NULL : Py_NewRef(arguments[0]);
        }
    }
    return PyObject_Vectorcall(self->slowly, arguments, flagged, names);
}

/* ---- the iterator of a loop */

typedef struct {
    PyObject_HEAD
    Loop *loop;
    PyObject *iterator; /* NULL: the loop is over */
    PyObject *variant;  /* the variant that was active when the loop began; NULL: none was */
    PyObject *spec;     /* how items are unpacked; NULL: they are not */
    PyObject *later;    /* `(end, step)`: what does a step otherwise; NULL: none was needed yet */
    unsigned long version;
} Steps;

/* A step that Python does. NULL without an exception: the loop is over. */
static PyObject *
step_later(Steps *self)
{
    if (self->later == NULL) {
        PyObject *made = PyObject_CallOneArg(self->loop->later, self->iterator);
        if (made == NULL) {
            return NULL;
        }
        Py_XSETREF(self->later, made);
    }
    PyObject *pair = Py_NewRef(self->later), *value = NULL, *end, *step;
    if (PyArg_ParseTuple(pair, "OO", &end, &step)) {
        value = PyObject_CallNoArgs(step);
        if (value == end) {
            Py_CLEAR(value);
            Py_CLEAR(self->iterator);
        }
    }
    Py_DECREF(pair);
    return value;
}

/* A step of the interpreter. NULL without an exception: the loop is over. */
static PyObject *
step_plainly(Steps *self)
{
    PyObject *iterator = Py_NewRef(self->iterator);
    PyObject *value = Py_TYPE(iterator)->tp_iternext(iterator);
    Py_DECREF(iterator);
    if (value == NULL && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_StopIteration))) {
        PyErr_Clear();
        Py_CLEAR(self->iterator);
    }
    return value;
}

static PyObject *
next_step(Steps *self)
{
    if (self->iterator == NULL) {
        return NULL;
    }
    State *state = self->loop->state;
    PyObject *variant = active_variant(state), *value;
    if (variant == NULL && PyErr_Occurred()) {
        return NULL;
    }
    int is_plain = variant == self->variant && self->version == state->version && !metadata_exists(state);
    PyObject *iterator = Py_NewRef(self->iterator);
    value = is_plain ? step_plainly(self) : step_later(self);
    if (value != NULL && is_plain && metadata_exists(state)) {
        is_plain = 0;
        Py_SETREF(value, PyObject_CallFunctionObjArgs(self->loop->claimed, value, iterator, NULL));
    }
    Py_DECREF(iterator);
    if (value == NULL || self->spec == NULL) {
        return value;
    }
    int is_unpacked = is_plain ? unpacks_plainly(value, self->spec) : 0;
    if (is_unpacked > 0) {
        return value;
    }
    PyObject *pair[] = {value, self->spec};
    PyObject *unpacked = is_unpacked < 0 ? NULL : PyObject_Vectorcall(self->loop->unpack, pair, 2, NULL);
    Py_DECREF(value);
    return unpacked;
}

static int
traverse_steps(Steps *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->iterator);
    Py_VISIT(self->later);
    return 0;
}

static int
clear_steps(Steps *self)
{
    Py_CLEAR(self->iterator);
    Py_CLEAR(self->later);
    return 0;
}

static void
free_steps(Steps *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear_steps(self);
    Py_CLEAR(self->variant);
    Py_CLEAR(self->spec);
    Py_CLEAR(self->loop);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot slots_of_steps[] = {
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, next_step},
    {Py_tp_traverse, traverse_steps},
    {Py_tp_clear, clear_steps},
    {Py_tp_dealloc, free_steps},
    {0, NULL},
};

PyType_Spec steps_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.Steps",
    .basicsize = sizeof(Steps),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots_of_steps,
};

static PyObject *
make_steps(Loop *loop, PyObject *iterator, PyObject *variant, PyObject *spec)
{
    PyTypeObject *type = loop->state->steps_type;
    Steps *made = (Steps *)type->tp_alloc(type, 0);
    if (made != NULL) {
        made->loop = (Loop *)Py_NewRef(loop);
        made->iterator = Py_NewRef(iterator);
        made->variant = Py_XNewRef(variant);
        made->spec = spec == Py_None ? NULL : Py_XNewRef(spec);
        made->version = loop->state->version;
    }
    return (PyObject *)made;
}

/* ---- the beginning of a loop

   The mode says what is wanted: an iterator of events; an iterator as it is, since no other context can resume the body; what
   a splat iterates over, if that is the tuple itself; what `yield from` iterates over, if that is the generator itself. */

int
is_among(PyObject *types, PyTypeObject *type)
{
    PyObject *number = PyLong_FromVoidPtr(type);
    int result = number == NULL ? -1 : PySet_Contains(types, number);
    Py_XDECREF(number);
    return result;
}

/* Whether a generator runs the body of a function of an installed package; -1 with an exception. */
static int
is_installed(Loop *self, PyObject *generator)
{
    PyObject *code = self->files == NULL ? NULL : PyObject_GetAttrString(generator, "gi_code");
    PyObject *file = code == NULL ? NULL : PyDict_GetItemWithError(self->files, ((PyCodeObject *)code)->co_filename);
    Py_XINCREF(file);
    PyObject *answer = file == NULL ? NULL : PyObject_GetAttrString(file, "installed");
    int found = answer == Py_True;
    Py_XDECREF(answer);
    Py_XDECREF(file);
    Py_XDECREF(code);
    return PyErr_Occurred() ? -1 : found;
}

lenfunc
length_of(PyTypeObject *type)
{
    lenfunc found = type->tp_as_sequence == NULL ? NULL : type->tp_as_sequence->sq_length;
    return found == NULL && type->tp_as_mapping != NULL ? type->tp_as_mapping->mp_length : found;
}

int
iterates_like(PyObject *types, PyTypeObject *type, lenfunc length)
{
    PyTypeObject *base = type;
    int found = is_among(types, base);
    while (found == 0 && base->tp_base != NULL && base->tp_base->tp_iter == type->tp_iter) {
        base = base->tp_base;
        found = is_among(types, base);
    }
    return found > 0 && length != NULL && length_of(base) != length ? 0 : found;
}

/* The iterator of an iterable that needs no rule as long as there is no metadata; NULL without an exception if it may. */
static PyObject *
plain_iterator(Loop *self, PyObject *iterable)
{
    PyTypeObject *type = Py_TYPE(iterable);
    if (type->tp_iter == NULL) {
        return NULL;
    }
    int found = iterates_like(self->containers, type, NULL);
    if (found > 0) {
        return PyObject_GetIter(iterable);
    }
    if (found == 0) {
        found = is_among(self->iterators, type);
    }
    int is_generator = PyGen_CheckExact(iterable), takes_from_others = type == &PyZip_Type || type == &PyEnum_Type ||
                                                                       type == &PyMap_Type || type == &PyFilter_Type;
    if (found == 0 && is_generator) {
        found = is_installed(self, iterable);
    }
    if (found == 0 && (is_generator || (takes_from_others && self->mode != HERE))) {
        PyObject *answer = PyObject_CallOneArg(self->steps_plainly, iterable);
        found = answer == NULL ? -1 : PyObject_IsTrue(answer);
        Py_XDECREF(answer);
    }
    return found > 0 ? Py_NewRef(iterable) : NULL;
}

/* Whether the `__iter__` of a type is a generator function of Python; -1 with an exception. */
static int
makes_generators(PyTypeObject *type)
{
    if (type->tp_iter == NULL || !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        return 0;
    }
    PyObject *method = PyObject_GetAttrString((PyObject *)type, "__iter__");
    if (method == NULL) {
        return -1;
    }
    int result = PyFunction_Check(method) &&
                 (((PyCodeObject *)PyFunction_GET_CODE(method))->co_flags & CO_GENERATOR) != 0;
    Py_DECREF(method);
    return result;
}

/* Whether the interpreter takes the items of what is splatted at once, without code of the program. */
static int
is_splatted_itself(Loop *self, PyObject *iterable, int is_plain)
{
    PyTypeObject *type = Py_TYPE(iterable);
    if (is_plain <= 0 || (self->mode != SPLAT && self->mode != LATE_SPLAT)) {
        return 0;
    }
    return type == &PyTuple_Type ||
           (self->mode == SPLAT && (type == &PyList_Type || type == &PyDict_Type || PyAnySet_CheckExact(iterable)));
}

/* loop(iterable, spec=None) */
static PyObject *
begin_loop(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    Loop *self = (Loop *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flagged);
    if (self->mode == DELEGATE && count == 1 && (PyGen_CheckExact(arguments[0]) || PyCoro_CheckExact(arguments[0]))) {
        return Py_NewRef(arguments[0]);
    }
    if (self->mode == DELEGATE && count == 1 && Py_TYPE(Py_TYPE(arguments[0])) == &PyType_Type) {
        PyObject *variant;
        int is_quick = makes_generators(Py_TYPE(arguments[0]));
        int is_plain = is_quick > 0 ? steps_are_plain(self, &variant) : is_quick;
        if (is_plain < 0) {
            return NULL;
        }
        if (is_plain || (is_quick && variant == NULL)) {
            return PyObject_GetIter(arguments[0]);
        }
    }
    if ((count == 1 || count == 2) && names == NULL && self->mode != DELEGATE) {
        PyObject *variant;
        int is_plain = steps_are_plain(self, &variant);
        if (is_splatted_itself(self, arguments[0], is_plain)) {
            return Py_NewRef(arguments[0]);
        }
        if (self->mode == LATE_SPLAT) {
            is_plain = is_plain < 0 ? is_plain : 0;
        }
        PyObject *iterator = NULL;
        if (is_plain > 0) {
            iterator = plain_iterator(self, arguments[0]);
        }
        else if (is_plain == 0 && variant == NULL && (self->mode == OF_EVENTS || self->mode == SPLAT) &&
                 Py_TYPE(arguments[0])->tp_iter != NULL) {
            iterator = PyObject_GetIter(arguments[0]);
        }
        if (iterator == NULL && PyErr_Occurred()) {
            return NULL;
        }
        if (iterator != NULL) {
            if (self->mode == HERE && !PyGen_CheckExact(iterator)) {
                return iterator;
            }
            PyObject *made = make_steps(self, iterator, variant, count == 2 ? arguments[1] : NULL);
            Py_DECREF(iterator);
            return made;
        }
    }
    return PyObject_Vectorcall(self->slowly, arguments, flagged, names);
}

/* steps(iterator, spec): the iterator of a loop whose steps are plain as long as there is no metadata; None if they are not. */
static PyObject *
steps(Loop *self, PyObject *arguments)
{
    PyObject *iterator, *spec, *variant;
    if (!PyArg_ParseTuple(arguments, "OO:steps", &iterator, &spec)) {
        return NULL;
    }
    int is_plain = steps_are_plain(self, &variant);
    if (is_plain < 0) {
        return NULL;
    }
    if (!is_plain || Py_TYPE(iterator)->tp_iternext == NULL) {
        Py_RETURN_NONE;
    }
    return make_steps(self, iterator, variant, spec);
}

/* Loop(slowly, kinds_of, mode="events", later=None, unpack=None, claimed=None), Unpacking(slowly, kinds_of), and
   AsyncLoop(slowly, kinds_of, "events", later) */
PyObject *
new_loop(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *slowly, *kinds_of, *later = NULL, *unpacking = NULL, *claimed = NULL;
    const char *mode = "events";
    if (!PyArg_ParseTuple(arguments, "OO|sOOO", &slowly, &kinds_of, &mode, &later, &unpacking, &claimed)) {
        return NULL;
    }
    Loop *self = (Loop *)new_callable(type, begin_loop);
    if (self != NULL) {
        self->vectorcall = type == self->state->unpacking_type     ? unpack
                           : type == self->state->async_loop_type ? begin_async_loop
                                                                  : begin_loop;
        self->mode = strcmp(mode, "here") == 0        ? HERE
                     : strcmp(mode, "splat") == 0      ? SPLAT
                     : strcmp(mode, "late splat") == 0 ? LATE_SPLAT
                     : strcmp(mode, "delegate") == 0   ? DELEGATE
                                                       : OF_EVENTS;
        self->slowly = Py_NewRef(slowly);
        self->kinds_of = Py_NewRef(kinds_of);
        self->later = Py_XNewRef(later);
        self->unpack = Py_XNewRef(unpacking);
        self->claimed = Py_XNewRef(claimed);
    }
    return (PyObject *)self;
}

int
traverse_loop(Loop *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->slowly);
    Py_VISIT(self->kinds_of);
    Py_VISIT(self->kinds);
    Py_VISIT(self->later);
    Py_VISIT(self->unpack);
    Py_VISIT(self->claimed);
    Py_VISIT(self->variant);
    return 0;
}

int
clear_loop(Loop *self)
{
    Py_CLEAR(self->slowly);
    Py_CLEAR(self->kinds_of);
    Py_CLEAR(self->kinds);
    Py_CLEAR(self->later);
    Py_CLEAR(self->unpack);
    Py_CLEAR(self->claimed);
    Py_CLEAR(self->variant);
    return 0;
}

static PyMethodDef methods_of_loop[] = {{"steps", (PyCFunction)steps, METH_VARARGS, NULL}, {NULL}};

CALLABLE_TYPE(loop_spec, Loop, "Loop", new_loop, traverse_loop, clear_loop, methods_of_loop);
CALLABLE_TYPE(unpacking_spec, Loop, "Unpacking", new_loop, traverse_loop, clear_loop, no_methods);
