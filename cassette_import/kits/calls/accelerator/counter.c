/* Counter: the prehook of a call graph. `enter` does what `CallGraph.prehook` does.

   The caller is the code that the calling frame executes. Edges are found by the identities of caller and callee;
   the context makes those that are new, and keeps alive what identifies them. */

#include "accelerator.h"

/* ---- edges */

typedef struct {
    PyObject_HEAD
    PyObject *caller, *callee, *kept_alive;
    long long count;
} Edge;

static PyObject *
edge_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *caller, *callee, *kept_alive;
    if (!PyArg_ParseTuple(arguments, "OOO!:Edge", &caller, &callee, &PyTuple_Type, &kept_alive)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Edge *self = (Edge *)allocate(type, 0);
    if (self != NULL) {
        self->caller = Py_NewRef(caller);
        self->callee = Py_NewRef(callee);
        self->kept_alive = Py_NewRef(kept_alive);
    }
    return (PyObject *)self;
}

static int
edge_traverse(Edge *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->caller);
    Py_VISIT(self->callee);
    Py_VISIT(self->kept_alive);
    return 0;
}

static int
edge_clear(Edge *self)
{
    Py_CLEAR(self->caller);
    Py_CLEAR(self->callee);
    Py_CLEAR(self->kept_alive);
    return 0;
}

static void
edge_dealloc(Edge *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    edge_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMemberDef edge_members[] = {
    {"caller", T_OBJECT_EX, offsetof(Edge, caller), READONLY},
    {"callee", T_OBJECT_EX, offsetof(Edge, callee), READONLY},
    {"kept_alive", T_OBJECT_EX, offsetof(Edge, kept_alive)},
    {"count", T_LONGLONG, offsetof(Edge, count)},
    {NULL},
};

static PyType_Slot edge_slots[] = {
    {Py_tp_new, edge_new},
    {Py_tp_dealloc, edge_dealloc},
    {Py_tp_traverse, edge_traverse},
    {Py_tp_clear, edge_clear},
    {Py_tp_members, edge_members},
    {0, NULL},
};

PyType_Spec edge_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.Edge",
    .basicsize = sizeof(Edge),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = edge_slots,
};

/* ---- the counter */

typedef struct {
    PyObject *code, *function; /* borrowed: the edge, or the context, keeps them alive */
    Edge *edge;
} Place;

typedef struct {
    PyObject_HEAD
    State *state;
    PyObject *find_edge; /* finds or makes the edge from a frame to a function; returns it, and whether it lasts */
    Place *places;       /* a hash table; an empty place has no edge */
    size_t size, used;   /* the size is a power of two */
} Counter;

static Place *
place_of(Place *places, size_t size, PyObject *code, PyObject *function)
{
    size_t hash = ((size_t)code >> 4) * 31 + ((size_t)function >> 4);
    for (hash ^= hash >> 11;; hash++) {
        Place *place = &places[hash & (size - 1)];
        if (place->edge == NULL || (place->code == code && place->function == function)) {
            return place;
        }
    }
}

static int
grow(Counter *self)
{
    size_t size = self->size * 2;
    Place *places = PyMem_Calloc(size, sizeof(Place));
    if (places == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t number = 0; number < self->size; number++) {
        Place *old = &self->places[number];
        if (old->edge != NULL) {
            *place_of(places, size, old->code, old->function) = *old;
        }
    }
    PyMem_Free(self->places);
    self->places = places;
    self->size = size;
    return 0;
}

/* Have the context find an edge, and remember it if what identifies it lasts. Returns whether there is no exception. */
static int
count_new(Counter *self, PyObject *frame, PyObject *code, PyObject *function)
{
    PyObject *found = PyObject_CallFunctionObjArgs(self->find_edge, frame, function, NULL);
    if (found == NULL) {
        return 0;
    }
    PyObject *edge, *lasting;
    int is_edge = PyArg_ParseTuple(found, "O!O", self->state->edge_type, &edge, &lasting);
    if (is_edge) {
        ((Edge *)edge)->count++;
    }
    if (is_edge && lasting != Py_None && (self->used * 2 < self->size || grow(self) == 0)) {
        Place *place = place_of(self->places, self->size, code, lasting);
        if (place->edge == NULL) {
            *place = (Place){code, lasting, (Edge *)Py_NewRef(edge)};
            self->used++;
        }
    }
    Py_DECREF(found);
    return !PyErr_Occurred();
}

static int
count_call(Counter *self, PyObject *callee)
{
    PyFrameObject *frame = PyEval_GetFrame();
    PyObject *owned = NULL, *function = frame == NULL ? NULL : function_of(&self->state->callees, callee, &owned);
    if (function == NULL) {
        if (frame == NULL) {
            PyErr_SetString(PyExc_RuntimeError, "enter() must be called by code in Python");
        }
        return 0;
    }
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    Edge *edge = place_of(self->places, self->size, code, function)->edge;
    if (edge == NULL && Py_TYPE(function) == &PyFunction_Type) { /* the closures of one `def` */
        edge = place_of(self->places, self->size, code, PyFunction_GET_CODE(function))->edge;
    }
    int is_counted = 1;
    if (edge != NULL) {
        edge->count++;
    }
    else {
        Py_INCREF(frame);
        is_counted = count_new(self, (PyObject *)frame, code, function);
        Py_DECREF(frame);
    }
    Py_DECREF(code);
    Py_XDECREF(owned);
    return is_counted;
}

static PyObject *
counter_enter(Counter *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "enter() takes the callee");
        return NULL;
    }
    return count_call(self, arguments[0]) ? Py_NewRef(arguments[0]) : NULL;
}

static void
forget_places(Counter *self)
{
    for (size_t number = 0; self->places != NULL && number < self->size; number++) {
        Edge *edge = self->places[number].edge;
        self->places[number].edge = NULL;
        Py_XDECREF(edge);
    }
    self->used = 0;
}

static PyObject *
counter_forget(Counter *self, PyObject *Py_UNUSED(nothing))
{
    forget_places(self);
    Py_RETURN_NONE;
}

static PyObject *
counter_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *find_edge;
    State *state = PyType_GetModuleState(type);
    if (state == NULL || !PyArg_ParseTuple(arguments, "O:Counter", &find_edge)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Counter *self = (Counter *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->find_edge = Py_NewRef(find_edge);
    self->size = 256;
    self->places = PyMem_Calloc(self->size, sizeof(Place));
    if (self->places == NULL || state->callees.split == NULL) {
        PyErr_NoMemory();
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int
counter_traverse(Counter *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->find_edge);
    for (size_t number = 0; self->places != NULL && number < self->size; number++) {
        Py_VISIT(self->places[number].edge);
    }
    return 0;
}

static int
counter_clear(Counter *self)
{
    forget_places(self);
    return 0;
}

static void
counter_dealloc(Counter *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    forget_places(self);
    Py_CLEAR(self->find_edge);
    PyMem_Free(self->places);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef counter_methods[] = {
    {"enter", (PyCFunction)(void (*)(void))counter_enter, METH_FASTCALL, NULL},
    {"forget", (PyCFunction)counter_forget, METH_NOARGS, NULL},
    {NULL},
};

static PyType_Slot counter_slots[] = {
    {Py_tp_new, counter_new},
    {Py_tp_dealloc, counter_dealloc},
    {Py_tp_traverse, counter_traverse},
    {Py_tp_clear, counter_clear},
    {Py_tp_methods, counter_methods},
    {0, NULL},
};

PyType_Spec counter_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.Counter",
    .basicsize = sizeof(Counter),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = counter_slots,
};
