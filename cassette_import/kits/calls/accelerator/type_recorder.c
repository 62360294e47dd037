/* TypeRecorder: the posthook of call-types. `record_types` does what `CallTypes.posthook` does.

   A call is recognised by its call site, its function, and the types of what went in and out. One that was there
   before is only counted; the context finds out what the others are, and keeps alive what identifies them. */

#include "type_words.h"

#define MOST_SEEN 65536 /* calls that are recognised */

/* ---- tallies */

typedef struct {
    PyObject_HEAD
    long long count;
} Tally;

static void
tally_dealloc(Tally *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMemberDef tally_members[] = {
    {"count", T_LONGLONG, offsetof(Tally, count), READONLY},
    {NULL},
};

static PyType_Slot tally_slots[] = {
    {Py_tp_dealloc, tally_dealloc},
    {Py_tp_members, tally_members},
    {0, NULL},
};

PyType_Spec tally_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.Tally",
    .basicsize = sizeof(Tally),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = tally_slots,
};

/* ---- calls that were there before */

typedef struct {
    PyObject *code, *function; /* borrowed, as all words are: the context keeps them alive */
    PyObject *names;           /* of keyword arguments; NULL: there are none */
    int position;              /* of the call in the code */
    size_t hash, length;
    const void **words;
    Tally *tally; /* NULL: the entry is empty */
} Seen;

typedef struct {
    PyObject_HEAD
    State *state;
    PyObject *find_tally; /* finds or makes the tally of a call; returns it, and what recognises the function, or None */
    PyObject *types;      /* the types that the context keeps alive, by `id` */
    Seen *seen;           /* a hash table */
    size_t size, used;    /* the size is a power of two */
} TypeRecorder;

static size_t
hash_of(const Seen *call)
{
    size_t hash = ((size_t)call->code >> 4) * 31 + ((size_t)call->function >> 4) * 17 + (size_t)call->position;
    for (size_t number = 0; number < call->length; number++) {
        hash = (hash ^ ((size_t)call->words[number] >> 3)) * (size_t)1099511628211u;
    }
    return hash ^ hash >> 29;
}

/* Whether the names of keyword arguments are the same. All are exact strings. */
static int
are_names_equal(PyObject *names, PyObject *others)
{
    if (names == others) {
        return 1;
    }
    if (names == NULL || others == NULL || PyTuple_GET_SIZE(names) != PyTuple_GET_SIZE(others)) {
        return 0;
    }
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(names); number++) {
        PyObject *name = PyTuple_GET_ITEM(names, number), *other = PyTuple_GET_ITEM(others, number);
        if (name != other && PyUnicode_Compare(name, other) != 0) {
            return 0;
        }
    }
    return 1;
}

/* The entry for a call, which has its hash; an empty one if there is none. */
static Seen *
entry_of(Seen *seen, size_t size, const Seen *call)
{
    for (size_t place = call->hash;; place++) {
        Seen *entry = &seen[place & (size - 1)];
        if (entry->tally == NULL ||
            (entry->hash == call->hash && entry->code == call->code && entry->function == call->function &&
             entry->position == call->position && entry->length == call->length &&
             memcmp(entry->words, call->words, call->length * sizeof(void *)) == 0 &&
             are_names_equal(entry->names, call->names))) {
            return entry;
        }
    }
}

static int
grow(TypeRecorder *self)
{
    size_t size = self->size * 2;
    Seen *seen = PyMem_Calloc(size, sizeof(Seen));
    if (seen == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t number = 0; number < self->size; number++) {
        if (self->seen[number].tally != NULL) {
            *entry_of(seen, size, &self->seen[number]) = self->seen[number];
        }
    }
    PyMem_Free(self->seen);
    self->seen = seen;
    self->size = size;
    return 0;
}

/* Whether the context keeps all types of a call alive; -1 with an exception. */
static int
are_kept_alive(TypeRecorder *self, const Types *types)
{
    int are_kept = 1;
    for (size_t number = 0; are_kept > 0 && number < types->length; number++) {
        const void *word = types->words[number];
        if (is_mark(word)) {
            continue;
        }
        PyObject *identity = PyLong_FromVoidPtr((void *)word);
        are_kept = identity == NULL ? -1 : PyDict_Contains(self->types, identity);
        Py_XDECREF(identity);
    }
    return are_kept;
}

/* Recognise a call from now on. Returns -1 with an exception. */
static int
remember(TypeRecorder *self, Seen *call, Tally *tally)
{
    if (self->used >= MOST_SEEN) {
        return 0;
    }
    if (self->used * 2 >= self->size && grow(self) < 0) {
        return -1;
    }
    call->hash = hash_of(call);
    Seen *entry = entry_of(self->seen, self->size, call);
    if (entry->tally != NULL) {
        return 0;
    }
    const void **words = PyMem_Malloc(call->length * sizeof(void *));
    if (words == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(words, call->words, call->length * sizeof(void *));
    *entry = *call;
    entry->words = words;
    entry->names = Py_XNewRef(call->names);
    entry->tally = (Tally *)Py_NewRef(tally);
    self->used++;
    return 0;
}

/* The code by which closures of one `def` are recognised; NULL for other functions. The qualified name says that the
   function is not long-lived, as does that of the function for which the context returned the code. */
static PyObject *
code_of_closure(PyObject *function)
{
    if (Py_TYPE(function) != &PyFunction_Type) {
        return NULL;
    }
    PyObject *name = ((PyFunctionObject *)function)->func_qualname, *code = PyFunction_GET_CODE(function);
    PyObject *usual = ((PyCodeObject *)code)->co_qualname;
    return name == usual || PyUnicode_Compare(name, usual) == 0 ? code : NULL;
}

/* ---- the hook */

static int
are_exact_strings(PyObject *names)
{
    for (Py_ssize_t number = 0; names != NULL && number < PyTuple_GET_SIZE(names); number++) {
        if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(names, number))) {
            return 0;
        }
    }
    return 1;
}

/* Have the context find the tally of a call, and count the call. `arguments` begin with the result and the function.
   Returns whether there is no exception. */
static int
record_new(TypeRecorder *self, PyFrameObject *frame, Seen *call, PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *positional = tuple_of(&arguments[2], count), *keywords = dict_of(&arguments[2 + count], call->names);
    PyObject *found = positional == NULL || keywords == NULL ? NULL : PyObject_CallFunctionObjArgs(
        self->find_tally, (PyObject *)frame, arguments[1], positional, keywords, arguments[0], NULL);
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    if (found == NULL) {
        if (PyErr_ExceptionMatches(PyExc_RecursionError)) {
            leave_out_frames();
        }
        return 0;
    }
    PyObject *tally, *lasting;
    if (found != Py_None && PyArg_ParseTuple(found, "O!O", self->state->tally_type, &tally, &lasting)) {
        ((Tally *)tally)->count++;
        /* Another thread may have changed a container meanwhile. */
        Types now;
        Py_ssize_t given = count + (call->names == NULL ? 0 : PyTuple_GET_SIZE(call->names));
        find_types(&now, arguments[0], &arguments[2], given);
        if (lasting != Py_None && now.is_whole && now.length == call->length &&
            memcmp(now.words, call->words, now.length * sizeof(void *)) == 0 && are_exact_strings(call->names) &&
            are_kept_alive(self, &now) > 0) {
            call->function = lasting;
            remember(self, call, (Tally *)tally);
        }
    }
    Py_DECREF(found);
    return !PyErr_Occurred();
}

static int
record(TypeRecorder *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "record_types() must be called by code in Python");
        return 0;
    }
    Types types;
    find_types(&types, arguments[0], &arguments[2], count + (names == NULL ? 0 : PyTuple_GET_SIZE(names)));
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    Seen call = {
        .code = code,
        .function = arguments[1],
        .names = names,
        .position = PyFrame_GetLasti(frame),
        .length = types.length,
        .words = types.words,
    };
    call.hash = hash_of(&call);
    Tally *tally = types.is_whole ? entry_of(self->seen, self->size, &call)->tally : NULL;
    if (tally == NULL && types.is_whole && (call.function = code_of_closure(arguments[1])) != NULL) {
        call.hash = hash_of(&call);
        tally = entry_of(self->seen, self->size, &call)->tally;
    }
    int is_recorded = 1;
    if (tally != NULL) {
        tally->count++;
    }
    else {
        Py_INCREF(frame);
        is_recorded = record_new(self, frame, &call, arguments, count);
        Py_DECREF(frame);
    }
    Py_DECREF(code);
    return is_recorded;
}

PyObject *
record_types(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    State *state = PyModule_GetState(module);
    if (count < 3) {
        PyErr_SetString(PyExc_TypeError, "record_types() takes the context, the result and the function");
        return NULL;
    }
    PyObject *recorder = PyObject_GetAttr(arguments[0], state->recorder);
    if (recorder == NULL) {
        return NULL;
    }
    int is_recorded = 0;
    if (Py_TYPE(recorder) == state->type_recorder_type) {
        is_recorded = record((TypeRecorder *)recorder, &arguments[1], count - 3, names);
    }
    else {
        PyErr_SetString(PyExc_TypeError, "the recorder of the context must be a TypeRecorder");
    }
    Py_DECREF(recorder);
    return is_recorded ? Py_NewRef(Py_None) : NULL;
}

/* ---- the type */

static void
forget(TypeRecorder *self)
{
    for (size_t number = 0; self->seen != NULL && number < self->size; number++) {
        Seen entry = self->seen[number];
        self->seen[number].tally = NULL;
        if (entry.tally != NULL) {
            PyMem_Free(entry.words);
            Py_XDECREF(entry.names);
            Py_DECREF(entry.tally);
        }
    }
    self->used = 0;
}

static PyObject *
recorder_forget(TypeRecorder *self, PyObject *Py_UNUSED(nothing))
{
    forget(self);
    Py_RETURN_NONE;
}

static PyObject *
recorder_tally(TypeRecorder *self, PyObject *Py_UNUSED(nothing))
{
    PyTypeObject *type = self->state->tally_type;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

static PyObject *
recorder_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *find_tally, *types;
    State *state = PyType_GetModuleState(type);
    if (state == NULL || !PyArg_ParseTuple(arguments, "OO!:TypeRecorder", &find_tally, &PyDict_Type, &types)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    TypeRecorder *self = (TypeRecorder *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->find_tally = Py_NewRef(find_tally);
    self->types = Py_NewRef(types);
    self->size = 256;
    self->seen = PyMem_Calloc(self->size, sizeof(Seen));
    if (self->seen == NULL) {
        PyErr_NoMemory();
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int
recorder_traverse(TypeRecorder *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->find_tally);
    Py_VISIT(self->types);
    return 0;
}

/* What the hook uses stays until the recorder is gone. */
static int
recorder_clear(TypeRecorder *self)
{
    forget(self);
    return 0;
}

static void
recorder_dealloc(TypeRecorder *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    forget(self);
    Py_CLEAR(self->find_tally);
    Py_CLEAR(self->types);
    PyMem_Free(self->seen);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef recorder_methods[] = {
    {"forget", (PyCFunction)recorder_forget, METH_NOARGS, NULL},
    {"tally", (PyCFunction)recorder_tally, METH_NOARGS, NULL},
    {NULL},
};

static PyType_Slot recorder_slots[] = {
    {Py_tp_new, recorder_new},
    {Py_tp_dealloc, recorder_dealloc},
    {Py_tp_traverse, recorder_traverse},
    {Py_tp_clear, recorder_clear},
    {Py_tp_methods, recorder_methods},
    {0, NULL},
};

PyType_Spec type_recorder_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.TypeRecorder",
    .basicsize = sizeof(TypeRecorder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = recorder_slots,
};
