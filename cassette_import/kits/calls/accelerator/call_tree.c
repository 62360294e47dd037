/* Nodes and trees of calls: `profile.call_tree.Node` and `ThreadTree`, with the same attributes. */

#include "accelerator.h"

/* ---- nodes */

static PyObject *
node_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *label, *place, *parent, *kind, *children;
    if (!PyArg_ParseTuple(arguments, "OOOOO!:Node", &label, &place, &parent, &kind, &PyDict_Type, &children)) {
        return NULL;
    }
    if (parent != Py_None && Py_TYPE(parent) != type) {
        PyErr_SetString(PyExc_TypeError, "the parent of a node must be a node or None");
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Node *node = (Node *)allocate(type, 0);
    if (node == NULL) {
        return NULL;
    }
    node->label = Py_NewRef(label);
    node->place = Py_NewRef(place);
    node->parent = Py_NewRef(parent);
    node->kind = Py_NewRef(kind);
    node->children = Py_NewRef(children);
    node->sites = Py_NewRef(children);
    node->site = Py_NewRef(Py_None);
    node->announces = Py_NewRef(Py_None);
    return (PyObject *)node;
}

static int
node_traverse(Node *node, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(node));
    Py_VISIT(node->label);
    Py_VISIT(node->place);
    Py_VISIT(node->parent);
    Py_VISIT(node->kind);
    Py_VISIT(node->children);
    Py_VISIT(node->sites);
    Py_VISIT(node->site);
    Py_VISIT(node->announces);
    return 0;
}

static int
node_clear(Node *node)
{
    memset(node->recent, 0, sizeof(node->recent));
    Py_CLEAR(node->label);
    Py_CLEAR(node->place);
    Py_CLEAR(node->parent);
    Py_CLEAR(node->kind);
    Py_CLEAR(node->children);
    Py_CLEAR(node->sites);
    Py_CLEAR(node->site);
    Py_CLEAR(node->announces);
    return 0;
}

static void
node_dealloc(Node *node)
{
    PyTypeObject *type = Py_TYPE(node);
    PyObject_GC_UnTrack(node);
    node_clear(node);
    PyObject_GC_Del(node);
    Py_DECREF(type);
}

/* As in Python: the function itself if it is long-lived, else its identity while the call is in progress. */
static PyObject *
node_get_key(Node *node, void *Py_UNUSED(closure))
{
    if (node->function == NULL) {
        Py_RETURN_NONE;
    }
    return node->lasts ? Py_NewRef(node->function) : PyLong_FromVoidPtr(node->function);
}

static int
node_set_key(Node *node, PyObject *key, void *Py_UNUSED(closure))
{
    if (key == NULL) {
        PyErr_SetString(PyExc_AttributeError, "a node has always a key");
        return -1;
    }
    node->lasts = !PyLong_CheckExact(key);
    if (node->lasts) {
        node->function = key;
        return 0;
    }
    node->function = PyLong_AsVoidPtr(key);
    return node->function == NULL && PyErr_Occurred() ? -1 : 0;
}

static PyMemberDef node_members[] = {
    {"label", T_OBJECT_EX, offsetof(Node, label), READONLY},
    {"place", T_OBJECT_EX, offsetof(Node, place), READONLY},
    {"kind", T_OBJECT_EX, offsetof(Node, kind), READONLY},
    {"children", T_OBJECT_EX, offsetof(Node, children)},
    {"sites", T_OBJECT_EX, offsetof(Node, sites)},
    {"site", T_OBJECT_EX, offsetof(Node, site)},
    {"announces", T_OBJECT_EX, offsetof(Node, announces)},
    {"calls", T_LONGLONG, offsetof(Node, calls)},
    {"indirect", T_LONGLONG, offsetof(Node, indirect)},
    {"start", T_DOUBLE, offsetof(Node, start)},
    {"total", T_DOUBLE, offsetof(Node, total)},
    {"folded_time", T_DOUBLE, offsetof(Node, folded_time)},
    {NULL},
};

static PyObject *
node_get_parent(Node *node, void *Py_UNUSED(closure))
{
    return Py_XNewRef(node->parent);
}

static int
node_set_parent(Node *node, PyObject *parent, void *Py_UNUSED(closure))
{
    if (parent == NULL || Py_TYPE(parent) != Py_TYPE(node)) {
        PyErr_SetString(PyExc_TypeError, "the parent of a node must be a node");
        return -1;
    }
    PyObject *old = node->parent;
    node->parent = Py_NewRef(parent);
    Py_XDECREF(old);
    return 0;
}

static PyGetSetDef node_getset[] = {
    {"key", (getter)node_get_key, (setter)node_set_key},
    {"parent", (getter)node_get_parent, (setter)node_set_parent},
    {NULL},
};

static PyType_Slot node_slots[] = {
    {Py_tp_new, node_new},
    {Py_tp_dealloc, node_dealloc},
    {Py_tp_traverse, node_traverse},
    {Py_tp_clear, node_clear},
    {Py_tp_members, node_members},
    {Py_tp_getset, node_getset},
    {0, NULL},
};

PyType_Spec node_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.Node",
    .basicsize = sizeof(Node),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = node_slots,
};

/* ---- trees */

static PyObject *
tree_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *name, *root;
    int is_corrected;
    State *state = PyType_GetModuleState(type);
    if (state == NULL || !PyArg_ParseTuple(arguments, "OO!p:Tree", &name, state->node_type, &root, &is_corrected)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Tree *tree = (Tree *)allocate(type, 0);
    if (tree == NULL) {
        return NULL;
    }
    tree->name = Py_NewRef(name);
    tree->root = Py_NewRef(root);
    tree->node = (Node *)Py_NewRef(root);
    tree->is_corrected = (char)is_corrected;
    tree->identifier = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    tree->folded = PyDict_New();
    if (tree->folded == NULL || tree->identifier == NULL) {
        Py_CLEAR(tree);
    }
    return (PyObject *)tree;
}

static int
tree_traverse(Tree *tree, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(tree));
    Py_VISIT(tree->node);
    Py_VISIT(tree->name);
    Py_VISIT(tree->root);
    Py_VISIT(tree->folded);
    Py_VISIT(tree->identifier);
    return 0;
}

static int
tree_clear(Tree *tree)
{
    Py_CLEAR(tree->node);
    Py_CLEAR(tree->name);
    Py_CLEAR(tree->root);
    Py_CLEAR(tree->folded);
    Py_CLEAR(tree->identifier);
    return 0;
}

static void
tree_dealloc(Tree *tree)
{
    PyTypeObject *type = Py_TYPE(tree);
    PyObject_GC_UnTrack(tree);
    tree_clear(tree);
    PyObject_GC_Del(tree);
    Py_DECREF(type);
}

static PyObject *
tree_get_node(Tree *tree, void *Py_UNUSED(closure))
{
    return Py_XNewRef(tree->node);
}

static int
tree_set_node(Tree *tree, PyObject *node, void *Py_UNUSED(closure))
{
    if (node == NULL || tree->node == NULL || Py_TYPE(node) != Py_TYPE(tree->node)) {
        PyErr_SetString(PyExc_TypeError, "the innermost call of a tree must be a node");
        return -1;
    }
    descend(tree, (Node *)node);
    return 0;
}

static PyObject *
tree_get_overhead(Tree *tree, void *Py_UNUSED(closure))
{
    return PyFloat_FromDouble(tree->measured_overhead);
}

static int
tree_set_overhead(Tree *tree, PyObject *seconds, void *Py_UNUSED(closure))
{
    if (seconds == NULL) {
        PyErr_SetString(PyExc_AttributeError, "a tree has always an overhead");
        return -1;
    }
    double value = PyFloat_AsDouble(seconds);
    if (value == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    if (tree->is_corrected) { /* the clock of others is the real one */
        tree->measured_overhead = value;
    }
    return 0;
}

static PyMemberDef tree_members[] = {
    {"name", T_OBJECT_EX, offsetof(Tree, name), READONLY},
    {"root", T_OBJECT_EX, offsetof(Tree, root), READONLY},
    {"folded", T_OBJECT_EX, offsetof(Tree, folded), READONLY},
    {"specialising", T_DOUBLE, offsetof(Tree, specialising)},
    {"entered", T_LONGLONG, offsetof(Tree, entered)},
    {"specialised", T_LONGLONG, offsetof(Tree, specialised)},
    {NULL},
};

static PyGetSetDef tree_getset[] = {
    {"node", (getter)tree_get_node, (setter)tree_set_node},
    {"measured_overhead", (getter)tree_get_overhead, (setter)tree_set_overhead},
    {NULL},
};

static PyType_Slot tree_slots[] = {
    {Py_tp_new, tree_new},
    {Py_tp_dealloc, tree_dealloc},
    {Py_tp_traverse, tree_traverse},
    {Py_tp_clear, tree_clear},
    {Py_tp_members, tree_members},
    {Py_tp_getset, tree_getset},
    {0, NULL},
};

PyType_Spec tree_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.Tree",
    .basicsize = sizeof(Tree),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = tree_slots,
};
