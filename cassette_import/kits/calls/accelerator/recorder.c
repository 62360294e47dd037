/* Recorder: the hooks of a profile. `enter` and `leave` do what `Profile.prehook` and `Profile.posthook` do.

   Call sites of accelerated contexts call them with what they call, and its result. Both read the clock once. What
   happens seldom is done by the profile's own methods: a call path that is new, a pair of hooks that is
   incomplete. */

#include "recorder.h"
#include "clock.h"

/* ---- the clock */

static double
other_clock(Recorder *self)
{
    PyObject *seconds = PyObject_CallNoArgs(self->clock);
    if (seconds == NULL) {
        return -1.0;
    }
    double value = PyFloat_AsDouble(seconds);
    Py_DECREF(seconds);
    return value;
}

static inline double
now(Recorder *self)
{
    return self->clock == Py_None ? quick_clock(&self->ticks) : other_clock(self);
}

double
time_now(Recorder *self)
{
    return now(self);
}

/* Set the clock of a thread back to `start`, since a hook took long. Returns -1 with an exception. */
int
omit_hook(Recorder *self, Tree *tree, double start)
{
    if (tree->is_corrected) {
        double ended = now(self);
        if (IS_ERROR(ended)) {
            return -1;
        }
        tree->measured_overhead = ended - start;
    }
    return 0;
}

/* ---- threads */

static inline Tree *
tree_here(Recorder *self, int makes)
{
    unsigned long thread = PyThread_get_thread_ident();
    return self->tree != NULL && self->thread == thread ? self->tree : other_tree(self, thread, makes);
}

Tree *
tree_of_thread(Recorder *self, int makes)
{
    return tree_here(self, makes);
}

/* ---- nodes */

/* The child of a node for something with this identity, borrowed. NULL, perhaps with an exception: there is none. */
static Node *
child_by_identity(Recorder *self, Node *parent, PyObject *object)
{
    if (PyDict_GET_SIZE(parent->children) == 0) {
        return NULL;
    }
    PyObject *identity = PyLong_FromVoidPtr(object);
    if (identity == NULL) {
        return NULL;
    }
    PyObject *child = PyDict_GetItemWithError(parent->children, identity);
    Py_DECREF(identity);
    return child != NULL && Py_TYPE(child) == self->state->node_type ? (Node *)child : NULL;
}

/* Where a node has the child for a function, if it was called lately. Functions are 16 bytes apart at least. */
static inline Node **
recent_place(Node *parent, PyObject *function)
{
    size_t address = (size_t)function >> 4;
    return &parent->recent[(address ^ address >> 3 ^ address >> 6) & (RECENT_CHILDREN - 1)];
}

/* The child for a function that was called from here before; NULL if the profile has to find it. */
static Node *
known_child(Recorder *self, Node *parent, PyObject *function)
{
    Node *node = child_by_identity(self, parent, function);
    int lasts = 1;
    if (node == NULL && !PyErr_Occurred() && Py_TYPE(function) == &PyFunction_Type) {
        node = child_by_identity(self, parent, PyFunction_GET_CODE(function)); /* the closures of one `def` */
        lasts = 0;
    }
    if (node != NULL) {
        node->function = function;
        node->lasts = (char)lasts;
        node->is_simple = 1;
        if (lasts) {
            *recent_place(parent, function) = node;
        }
    }
    return node;
}

static void
end_call(Tree *tree, Node *node, double end)
{
    node->calls++;
    node->total += end - node->start;
    node->callee = NULL;
    if (!node->lasts) {
        node->function = NULL;
    }
    descend(tree, (Node *)node->parent);
}

/* ---- the hooks */

/* Descend to the node of a callee, and start its clock; return the callee. */
static inline PyObject *
enter_call(Recorder *self, Tree *tree, PyObject *callee, double start)
{
    PyObject *owned, *function = function_of(&self->state->callees, callee, &owned);
    if (function == NULL) {
        Py_XDECREF(owned);
        return NULL;
    }
    Node *parent = tree->node;
    Node *node = *recent_place(parent, function);
    int is_recent = node != NULL && node->function == function && node->lasts;
    if (!is_recent) {
        node = known_child(self, parent, function);
        if (node == NULL && !PyErr_Occurred()) {
            node = found_node(self, tree, self->find_node, function);
        }
    }
    int is_quick = is_recent && owned == NULL;
    Py_XDECREF(owned);
    if (node == NULL || (!is_quick && omit_hook(self, tree, start) < 0)) {
        return NULL;
    }
    node->callee = callee;
    node->start = start;
    descend(tree, node);
    if (node->announces != Py_None) {
        PyObject *old = self->announced;
        self->announced = Py_NewRef(tree->identifier);
        Py_DECREF(old);
    }
    if (callee == Py_None) { /* the call fails, and no handler notes it */
        end_call(tree, node, start);
    }
    return Py_NewRef(callee);
}

static PyObject *
recorder_enter(Recorder *self, PyObject *const *arguments, Py_ssize_t count)
{
    double began = now(self);
    if (IS_ERROR(began)) {
        return NULL;
    }
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "enter() takes the callee");
        return NULL;
    }
    Tree *tree = tree_here(self, 1);
    if (tree == NULL) {
        return NULL;
    }
    Py_INCREF(tree); /* the profile may forget it meanwhile */
    double start = began - tree->measured_overhead;
    PyObject *entered = enter_call(self, tree, arguments[0], start);
    if (entered != NULL && count > 1 && arguments[1] == (PyObject *)self) { /* see `make_accelerated_event` */
        tree->node->indirect++;
    }
    Py_DECREF(tree);
    return entered;
}

/* The call in progress of a callee, or else of a function, borrowed. NULL: there is none. */
static Node *
call_in_progress(Tree *tree, PyObject *callee, PyObject *function)
{
    for (Node *node = tree->node; node->parent != Py_None; node = (Node *)node->parent) {
        if (node->callee == callee || node->function == function) {
            return node;
        }
    }
    return NULL;
}

/* End a call that is not simply the innermost one. */
static int
leave_other(Recorder *self, Tree *tree, PyObject *callee, double ending)
{
    PyObject *owned, *function = function_of(&self->state->callees, callee, &owned);
    if (function == NULL) {
        Py_XDECREF(owned);
        return -1;
    }
    Node *left = call_in_progress(tree, callee, function);
    PyObject *done = Py_None;
    if (left != NULL) {
        for (Node *node = tree->node; node != left; node = (Node *)node->parent) {
            node->callee = NULL; /* an interrupt has cut it off */
        }
        PyObject *end = PyFloat_FromDouble(ending);
        done = end == NULL ? NULL : PyObject_CallFunctionObjArgs(
            self->leave_other, (PyObject *)tree, (PyObject *)left, end, NULL);
        Py_XDECREF(end);
        left->callee = NULL;
    }
    Py_XDECREF(owned);
    if (done == NULL) {
        return -1;
    }
    if (left != NULL) {
        Py_DECREF(done);
    }
    return 0;
}

/* End the call of a callee. Returns whether there is no exception. */
static inline int
leave_call(Recorder *self, PyObject *callee)
{
    double ended = now(self);
    if (IS_ERROR(ended)) {
        return 0;
    }
    Tree *tree = tree_here(self, 0);
    if (tree == NULL) { /* this thread has no call in progress */
        return !PyErr_Occurred();
    }
    Node *node = tree->node;
    double end = ended - tree->measured_overhead;
    if (node->is_simple && (node->callee == callee || (node->callee != NULL && node->function == callee))) {
        end_call(tree, node, end);
        return 1;
    }
    Py_INCREF(tree);
    int is_error = leave_other(self, tree, callee, end) < 0 || omit_hook(self, tree, end) < 0;
    Py_DECREF(tree);
    return !is_error;
}

static PyObject *
recorder_leave(Recorder *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count < 2) {
        PyErr_SetString(PyExc_TypeError, "leave() takes the result and the callee");
        return NULL;
    }
    return leave_call(self, arguments[1]) ? Py_NewRef(arguments[0]) : NULL;
}

/* What `Profile.errorhook` does. */
static PyObject *
recorder_fail(Recorder *self, PyObject *callee)
{
    PyObject *nowhere = PyLong_FromLong(0); /* the function may not have begun */
    if (nowhere == NULL) {
        return NULL;
    }
    PyObject *old = self->announced;
    self->announced = nowhere;
    Py_DECREF(old);
    if (!leave_call(self, callee)) {
        if (!PyErr_ExceptionMatches(PyExc_RecursionError)) {
            return NULL;
        }
        PyErr_Clear(); /* the program's own exception goes on, and a later call mends the tree */
    }
    Py_RETURN_NONE;
}

static PyObject *
recorder_forget(Recorder *self, PyObject *Py_UNUSED(nothing))
{
    Py_CLEAR(self->tree);
    Py_RETURN_NONE;
}

/* ---- the type */

static PyObject *
recorder_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *threads, *new_tree, *find_node, *leave_other, *clock;
    State *state = PyType_GetModuleState(type);
    if (state == NULL || !PyArg_ParseTuple(arguments, "O!OOOO:Recorder", &PyDict_Type, &threads, &new_tree,
                                           &find_node, &leave_other, &clock)) {
        return NULL;
    }
    if (state->callees.split == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "configure() has not been called");
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Recorder *self = (Recorder *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->threads = Py_NewRef(threads);
    self->new_tree = Py_NewRef(new_tree);
    self->find_node = Py_NewRef(find_node);
    self->leave_other = Py_NewRef(leave_other);
    self->clock = Py_NewRef(clock);
    begin_ticks(&self->ticks);
    self->announced = PyLong_FromLong(0);
    if (self->announced == NULL) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int
recorder_traverse(Recorder *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->threads);
    Py_VISIT(self->new_tree);
    Py_VISIT(self->find_node);
    Py_VISIT(self->leave_other);
    Py_VISIT(self->clock);
    Py_VISIT(self->announced);
    Py_VISIT(self->profile);
    Py_VISIT(self->find_body);
    Py_VISIT(self->leave_body);
    Py_VISIT(self->tree);
    return 0;
}

/* The objects that the hooks use stay until the recorder is gone. */
static int
recorder_clear(Recorder *self)
{
    Py_CLEAR(self->tree);
    return 0;
}

static void
recorder_dealloc(Recorder *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    recorder_clear(self);
    Py_CLEAR(self->threads);
    Py_CLEAR(self->new_tree);
    Py_CLEAR(self->find_node);
    Py_CLEAR(self->leave_other);
    Py_CLEAR(self->clock);
    Py_CLEAR(self->announced);
    Py_CLEAR(self->profile);
    Py_CLEAR(self->find_body);
    Py_CLEAR(self->leave_body);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef recorder_methods[] = {
    {"enter", (PyCFunction)(void (*)(void))recorder_enter, METH_FASTCALL, NULL},
    {"leave", (PyCFunction)(void (*)(void))recorder_leave, METH_FASTCALL, NULL},
    {"fail", (PyCFunction)recorder_fail, METH_O, NULL},
    {"begun", (PyCFunction)(void (*)(void))recorder_begun, METH_FASTCALL, NULL},
    {"follow", (PyCFunction)recorder_follow, METH_O, NULL},
    {"follow_here", (PyCFunction)recorder_follow_here, METH_NOARGS, NULL},
    {"follow_expression", (PyCFunction)(void (*)(void))recorder_expression, METH_FASTCALL, NULL},
    {"follow_with", (PyCFunction)recorder_follow_with, METH_VARARGS, NULL},
    {"forget", (PyCFunction)recorder_forget, METH_NOARGS, NULL},
    {NULL},
};

static PyMemberDef recorder_members[] = {
    {"announced", T_OBJECT_EX, offsetof(Recorder, announced)},
    {NULL},
};

static PyType_Slot recorder_slots[] = {
    {Py_tp_new, recorder_new},
    {Py_tp_dealloc, recorder_dealloc},
    {Py_tp_traverse, recorder_traverse},
    {Py_tp_clear, recorder_clear},
    {Py_tp_methods, recorder_methods},
    {Py_tp_members, recorder_members},
    {0, NULL},
};

PyType_Spec recorder_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.Recorder",
    .basicsize = sizeof(Recorder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = recorder_slots,
};
