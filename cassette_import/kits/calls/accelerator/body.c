/* Bodies: one run of the body of a generator or coroutine, as `profile.call_paths.ProfiledBody` has it.

   From each resumption to the next suspension, the body is a call in the tree of the thread that advances it. Its
   methods are those of `followed_bodies.FollowedBody`. */

#include "accelerator.h"

PyObject *
new_body(Recorder *recorder, PyObject *code)
{
    if (recorder->find_body == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "follow_with() has not been called");
        return NULL;
    }
    PyTypeObject *type = recorder->state->body_type;
    Body *self = (Body *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->recorder = (Recorder *)Py_NewRef(recorder);
    self->code = Py_NewRef(code);
    if (resume_body(self) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* Whether the profile is active here; -1 with an exception. */
static int
is_active(Recorder *recorder)
{
    PyObject *activation;
    State *state = recorder->state;
    if (PyContextVar_Get(state->active, NULL, &activation) < 0 || activation == NULL) {
        return -1;
    }
    PyMemberDescrObject *slot = (PyMemberDescrObject *)state->contexts;
    PyObject *contexts = NULL;
    if (PyObject_TypeCheck(activation, PyDescr_TYPE(slot))) {
        contexts = *(PyObject **)((char *)activation + slot->d_member->offset);
    }
    int found = 0;
    if (contexts != NULL && PyTuple_Check(contexts)) {
        for (Py_ssize_t number = PyTuple_GET_SIZE(contexts); !found && number > 0; number--) {
            found = PyTuple_GET_ITEM(contexts, number - 1) == recorder->profile;
        }
    }
    Py_DECREF(activation);
    return found;
}

/* The child of the innermost call for this body, borrowed. NULL, perhaps with an exception: the profile has to find it. */
static Node *
known_child(Body *self, Tree *tree)
{
    Node *parent = tree->node;
    if (parent->code == self->code) {
        return parent->body;
    }
    if (self->is_regular && self->tree == tree && self->node->parent == (PyObject *)parent) {
        return self->node;
    }
    PyObject *key = PyLong_FromSsize_t(~(Py_ssize_t)self->code);
    PyObject *child = key == NULL ? NULL : PyDict_GetItemWithError(parent->children, key);
    Py_XDECREF(key);
    if (child == NULL || Py_TYPE(child) != self->recorder->state->node_type) {
        return NULL;
    }
    parent->body = (Node *)child;
    parent->code = self->code;
    return (Node *)child;
}

/* The node that the profile finds or makes for this body, borrowed. */
static Node *
new_child(Body *self, Tree *tree, double start)
{
    Recorder *recorder = self->recorder;
    Node *node = found_node(recorder, tree, recorder->find_body, self->code);
    self->is_regular = node != NULL && known_child(self, tree) == node;
    return PyErr_Occurred() || omit_hook(recorder, tree, start) < 0 ? NULL : node;
}

int
resume_body(Body *self)
{
    Recorder *recorder = self->recorder;
    double began = time_now(recorder);
    int active = IS_ERROR(began) ? -1 : is_active(recorder);
    if (active <= 0) {
        return active;
    }
    Tree *tree = tree_of_thread(recorder, 1);
    if (tree == NULL) {
        return -1;
    }
    double start = began - tree->measured_overhead;
    Node *node = known_child(self, tree);
    if (node != NULL) {
        self->is_regular = 1;
    }
    else if (PyErr_Occurred() || (node = new_child(self, tree, start)) == NULL) {
        return -1;
    }
    if (self->tree != tree) {
        Py_XSETREF(self->tree, (Tree *)Py_NewRef(tree));
    }
    if (self->node != node) {
        Py_XSETREF(self->node, (Node *)Py_NewRef(node));
    }
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
    PyObject *done = PyObject_CallFunction(self->recorder->leave_body, "OOd", tree, node, end);
    if (done == NULL) {
        return -1;
    }
    Py_DECREF(done);
    return omit_hook(self->recorder, tree, end);
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
    if (!goes_on(self)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* A body that was suspended has been closed. Before 3.13, the interpreter resumes it although nothing catches that. */
static int
end_body(Body *self)
{
#if PY_VERSION_HEX >> 16 != 0x030D /* see `followed_bodies.CLOSING_RESUMES` */
    if (!goes_on(self)) {
        return -1;
    }
#endif
    return suspend_body(self);
}

static PyObject *
body_ended(Body *self, PyObject *Py_UNUSED(nothing))
{
    if (end_body(self) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyObject *
ended_body(Body *self)
{
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *error = PyErr_GetRaisedException();
    if (end_body(self) == 0) {
        PyErr_SetRaisedException(error);
    }
    else {
        Py_XDECREF(error);
    }
#else
    PyObject *type, *error, *frames;
    PyErr_Fetch(&type, &error, &frames);
    if (end_body(self) == 0) {
        PyErr_Restore(type, error, frames);
    }
    else {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(frames);
    }
#endif
    return NULL;
}

static PyObject *
body_awaited(Body *self, PyObject *awaitable)
{
    return awaited(self, awaitable, 0);
}

/* What the first loop of a generator expression takes items from. It is kept alive no longer. */
static PyObject *
body_first_items(Body *self, PyObject *Py_UNUSED(nothing))
{
    PyObject *items = self->first;
    self->first = NULL;
    if (items == NULL) {
        PyErr_SetString(PyExc_AttributeError, "the body has no first items");
    }
    return items;
}

static int
body_traverse(Body *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->recorder);
    Py_VISIT(self->code);
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
    Py_CLEAR(self->tree);
    Py_CLEAR(self->node);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef body_methods[] = {
    {"resumed", (PyCFunction)(void (*)(void))body_resumed, METH_FASTCALL, NULL},
    {"suspended", (PyCFunction)(void (*)(void))body_suspended, METH_FASTCALL, NULL},
    {"awaited", (PyCFunction)body_awaited, METH_O, NULL},
    {"delegated", (PyCFunction)delegated, METH_O, NULL},
    {"items", (PyCFunction)items_of, METH_O, NULL},
    {"async_items", (PyCFunction)async_items_of, METH_O, NULL},
    {"async_manager", (PyCFunction)async_manager_of, METH_O, NULL},
    {"first_items", (PyCFunction)body_first_items, METH_NOARGS, NULL},
    {"caught", (PyCFunction)body_caught, METH_NOARGS, NULL},
    {"ended", (PyCFunction)body_ended, METH_NOARGS, NULL},
    {NULL},
};

static PyMemberDef body_members[] = {
    {"is_running", T_BOOL, offsetof(Body, is_running), READONLY},
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
    .name = "cassette_import.kits.calls.accelerator._accelerator.Body",
    .basicsize = sizeof(Body),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = body_slots,
};
