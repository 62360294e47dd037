/* Bodies: one run of the body of a generator or coroutine, as `profile.profiled_body.ProfiledBody` has it.

   From each resumption to the next suspension, the body is a call in the tree of the thread that advances it. Knows
   call trees and the active contexts; must not know how a body reports its steps. */

#include "accelerator.h"

PyObject *
new_body(Recorder *recorder, PyObject *code)
{
    PyTypeObject *type = (PyTypeObject *)recorder->body_type;
    if (type == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "follow_with() has not been called");
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Body *self = (Body *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->recorder = (Recorder *)Py_NewRef(recorder);
    self->code = Py_NewRef(code);
    self->key = PyLong_FromSsize_t(~(Py_ssize_t)code);
    if (self->key == NULL || resume_body(self) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* Whether the profile is active here; -1 with an exception. */
static int
is_active(Body *self)
{
    PyObject *activation;
    State *state = self->recorder->state;
    if (PyContextVar_Get(state->active, NULL, &activation) < 0 || activation == NULL) {
        return -1;
    }
    PyObject *contexts = PyObject_GetAttr(activation, state->contexts);
    Py_DECREF(activation);
    if (contexts == NULL || !PyTuple_Check(contexts)) {
        Py_XDECREF(contexts);
        return contexts == NULL ? -1 : 0;
    }
    int found = contexts == self->contexts;
    for (Py_ssize_t number = 0; !found && number < PyTuple_GET_SIZE(contexts); number++) {
        found = PyTuple_GET_ITEM(contexts, number) == self->recorder->profile;
    }
    if (found && contexts != self->contexts) {
        Py_XSETREF(self->contexts, Py_NewRef(contexts));
    }
    Py_DECREF(contexts);
    return found;
}

int
resume_body(Body *self)
{
    Recorder *recorder = self->recorder;
    double began = time_now(recorder);
    int active = IS_ERROR(began) ? -1 : is_active(self);
    if (active <= 0) {
        return active;
    }
    Tree *tree = tree_of_thread(recorder, 1);
    if (tree == NULL) {
        return -1;
    }
    Py_XSETREF(self->tree, (Tree *)Py_NewRef(tree));
    double start = began - tree->measured_overhead;
    PyObject *child = PyDict_GetItemWithError(tree->node->children, self->key);
    Node *node = child != NULL && Py_TYPE(child) == recorder->state->node_type ? (Node *)child : NULL;
    self->is_regular = node != NULL;
    if (node == NULL) {
        Node *parent = tree->node;
        node = PyErr_Occurred() ? NULL : found_node(recorder, tree, recorder->find_body, self->code, began);
        if (node == NULL) {
            return -1;
        }
        self->is_regular = PyDict_GetItemWithError(parent->children, self->key) == (PyObject *)node;
        if (PyErr_Occurred()) {
            return -1;
        }
    }
    Py_XSETREF(self->node, (Node *)Py_NewRef(node));
    node->start = start;
    node->callee = NULL;
    descend(tree, node);
    self->is_running = 1;
    return 0;
}

int
suspend_body(Body *self)
{
    double ended = time_now(self->recorder);
    if (IS_ERROR(ended)) {
        return -1;
    }
    if (!self->is_running) {
        return 0;
    }
    self->is_running = 0;
    Tree *tree = self->tree;
    Node *node = self->node;
    double end = ended - tree->measured_overhead;
    if (tree->node == node) {
        Node *parent = (Node *)node->parent;
        node->calls++;
        node->total += end - node->start;
        if (!self->is_regular) {
            parent->folded_time += end - node->start;
        }
        descend(tree, parent);
        return 0;
    }
    double one_off = tree->one_off;
    PyObject *done = PyObject_CallFunction(self->recorder->leave_body, "OOd", tree, node, end);
    if (done == NULL) {
        return -1;
    }
    Py_DECREF(done);
    return omit_time_since(self->recorder, tree, ended, one_off) ? 0 : -1;
}

/* Call a method of `FollowedBody`, which decides about what is unusual. */
static PyObject *
call_python(Body *self, PyObject *method, PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *given[3] = {(PyObject *)self};
    if (count < 1 || count > 2) {
        PyErr_SetString(PyExc_TypeError, "a step of a body takes one or two arguments");
        return NULL;
    }
    for (Py_ssize_t number = 0; number < count; number++) {
        given[number + 1] = arguments[number];
    }
    return PyObject_Vectorcall(method, given, (size_t)count + 1, NULL);
}

static PyObject *
body_resumed(Body *self, PyObject *const *arguments, Py_ssize_t count)
{
    return resume_body(self) < 0 ? NULL : Py_NewRef(count > 0 ? arguments[0] : Py_None);
}

static PyObject *
body_suspended(Body *self, PyObject *const *arguments, Py_ssize_t count)
{
    return suspend_body(self) < 0 ? NULL : Py_NewRef(count > 0 ? arguments[0] : Py_None);
}

static PyObject *
body_caught(Body *self, PyObject *Py_UNUSED(nothing))
{
    if (!self->is_running && resume_body(self) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* A body that was suspended has been closed. Before 3.13, the interpreter resumes it although nothing catches that. */
static PyObject *
body_ended(Body *self, PyObject *Py_UNUSED(nothing))
{
#if PY_VERSION_HEX >> 16 != 0x030D /* see `followed_bodies._CLOSING_RESUMES` */
    if (!self->is_running && resume_body(self) < 0) {
        return NULL;
    }
#endif
    if (suspend_body(self) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* The object itself, which goes on if it was suspended: `FollowedBody.going_on`. */
static PyObject *
body_going_on(Body *self, PyObject *Py_UNUSED(nothing))
{
    return !self->is_running && resume_body(self) < 0 ? NULL : Py_NewRef(self);
}

/* What `await` waits for: a coroutine in a delegate, which reports the steps of this body. */
static PyObject *
body_awaited(Body *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count == 1 && PyCoro_CheckExact(arguments[0])) {
        PyObject *waits_for = PyObject_GetAttrString(arguments[0], "cr_await");
        if (waits_for == NULL) {
            return NULL;
        }
        Py_DECREF(waits_for);
        if (waits_for == Py_None) {
            return new_delegate(self, arguments[0]);
        }
    }
    return call_python(self, self->recorder->state->awaited, arguments, count);
}

/* What `yield from` iterates over. */
static PyObject *
body_delegated(Body *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count == 1 && PyGen_CheckExact(arguments[0])) {
        PyObject *code = PyObject_GetAttrString(arguments[0], "gi_code");
        if (code == NULL) {
            return NULL;
        }
        int is_coroutine = PyCode_Check(code) && ((PyCodeObject *)code)->co_flags & CO_ITERABLE_COROUTINE;
        Py_DECREF(code);
        if (!is_coroutine) {
            return new_delegate(self, arguments[0]);
        }
    }
    return call_python(self, self->recorder->state->delegated, arguments, count);
}

static int
body_traverse(Body *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->recorder);
    Py_VISIT(self->code);
    Py_VISIT(self->contexts);
    Py_VISIT(self->first);
    Py_VISIT(self->tree);
    Py_VISIT(self->node);
    return 0;
}

/* Only what may refer back to the body: its steps use the rest until it is gone. */
static int
body_clear(Body *self)
{
    Py_CLEAR(self->first);
    return 0;
}

static void
body_dealloc(Body *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    body_clear(self);
    Py_CLEAR(self->recorder);
    Py_CLEAR(self->code);
    Py_CLEAR(self->key);
    Py_CLEAR(self->contexts);
    Py_CLEAR(self->tree);
    Py_CLEAR(self->node);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef body_methods[] = {
    {"resumed", (PyCFunction)(void (*)(void))body_resumed, METH_FASTCALL, NULL},
    {"suspended", (PyCFunction)(void (*)(void))body_suspended, METH_FASTCALL, NULL},
    {"awaited", (PyCFunction)(void (*)(void))body_awaited, METH_FASTCALL, NULL},
    {"delegated", (PyCFunction)(void (*)(void))body_delegated, METH_FASTCALL, NULL},
    {"caught", (PyCFunction)body_caught, METH_NOARGS, NULL},
    {"ended", (PyCFunction)body_ended, METH_NOARGS, NULL},
    {"going_on", (PyCFunction)body_going_on, METH_NOARGS, NULL},
    {NULL},
};

static PyMemberDef body_members[] = {
    {"is_running", T_BOOL, offsetof(Body, is_running), READONLY},
    {"_first", T_OBJECT_EX, offsetof(Body, first)},
    {NULL},
};

static PyType_Slot body_slots[] = {
    {Py_tp_dealloc, body_dealloc},
    {Py_tp_traverse, body_traverse},
    {Py_tp_clear, body_clear},
    {Py_tp_methods, body_methods},
    {Py_tp_members, body_members},
    {0, NULL},
};

PyType_Spec body_spec = {
    .name = "cassette_import.contexts.common.accelerator._accelerator.Body",
    .basicsize = sizeof(Body),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = body_slots,
};
