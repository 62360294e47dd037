/* What the files of the accelerator share. Only CPython's public C API is used. */

#ifndef CASSETTE_ACCELERATOR_H
#define CASSETTE_ACCELERATOR_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "clock.h"

#ifdef Py_GIL_DISABLED
#error "The accelerator relies on the global interpreter lock: free-threaded Python uses the hooks in Python."
#endif

/* ---- callees.c: which function an event shows for a callee */

#define KNOWN_METHODS 1024 /* a power of two */

typedef struct {
    PyMethodDef *definition; /* NULL: the entry is empty */
    PyObject *owner;         /* the type that the method belongs to */
    PyObject *function;      /* what `split` returns for it; NULL: the callee itself */
} KnownMethod;

typedef struct {
    PyObject *split;              /* callables.split */
    PyObject *splitters;          /* callables.SPLITTERS */
    PyObject *calls_of_instances; /* callables.CALLS_OF_INSTANCES */
    PyObject *carriers;           /* a tuple of further types whose instances carry a function */
    KnownMethod known[KNOWN_METHODS];
} Callees;

/* The function of a callee, as hooks get it. It is alive as long as the callee and `*owned` are. NULL: an exception. */
PyObject *function_of(Callees *callees, PyObject *callee, PyObject **owned);

/* Takes `(split, splitters, calls_of_instances, carriers)`. */
int set_callees(Callees *callees, PyObject *arguments);
int traverse_callees(Callees *callees, visitproc visit, void *arg);
void clear_callees(Callees *callees);

/* ---- call_tree.c: the nodes and trees that recorder.c changes, and that Python reads */

#define RECENT_CHILDREN 8 /* a power of two */

typedef struct Node {
    PyObject_HEAD
    PyObject *label, *place, *parent, *kind, *children, *sites, *site;
    struct Node *recent[RECENT_CHILDREN]; /* borrowed: nodes live as long as their tree */
    struct Node *body;               /* borrowed: the child of the body that was resumed here last, */
    PyObject *code;                  /* and its code, which the profile keeps alive */
    PyObject *announces;             /* the code of the function, if its body asks if there was a call event; or None */
    PyObject *function;              /* borrowed: how an event recognises the node */
    PyObject *callee;                /* borrowed: what the call in progress calls */
    long long calls, indirect;
    double start, total, folded_time;
    char lasts;     /* whether `function` is valid beyond the call in progress */
    char is_simple; /* whether the call in progress ends with nothing but its time */
} Node;

typedef struct {
    PyObject_HEAD
    Node *node;
    PyObject *name, *root, *folded, *identifier;
    double measured_overhead, specialising;
    long long entered, specialised;
    char is_corrected;
} Tree;

extern PyType_Spec node_spec, tree_spec;

/* Make `node` the innermost call in progress. */
static inline void
descend(Tree *tree, Node *node)
{
    Node *old = tree->node;
    tree->node = (Node *)Py_NewRef(node);
    Py_DECREF(old);
}

/* ---- module.c */

typedef struct {
    PyTypeObject *node_type, *tree_type, *recorder_type, *body_type, *delegate_type, *items_type, *async_items_type,
        *expression_type, *manager_type, *edge_type, *counter_type, *tally_type, *type_recorder_type, *call_stack_type,
        *trace_recorder_type, *formatter_type, *block_file_type, *tree_lines_type;
    PyObject *active;       /* the context variable with the activation */
    PyObject *contexts;     /* the slot of activations with the contexts */
    PyObject *recorder;     /* the name of an attribute of contexts */
    PyObject *result;       /* the word "result" */
    PyObject *aenter, *aexit; /* the names of the methods of asynchronous managers */
    PyObject *gi_code, *cr_await, *throw_; /* the names of attributes of generators and coroutines */
    PyObject *not_followed; /* a run of a body that is not followed */
    Callees callees;
} State;

/* ---- recorder.c: the hooks of a profile */

typedef struct {
    PyObject_HEAD
    State *state;
    PyObject *threads;     /* the trees by thread */
    PyObject *new_tree;    /* makes the tree of the running thread */
    PyObject *find_node;   /* finds or makes the node below the innermost call for a function */
    PyObject *leave_other; /* ends a call that is not the innermost one, or that is in a folded node */
    Ticks ticks;           /* the usual clock */
    PyObject *clock;       /* another clock than the usual one; None if there is none */
    PyObject *announced;   /* the thread in which the latest event is the call of a function whose body asks for that */
    PyObject *profile;     /* for bodies, see body.c: it is active where its recorder records */
    PyObject *find_body;   /* finds or makes the node below the innermost call for some code */
    PyObject *leave_body;  /* ends a run above which other nodes are left */
    Tree *tree;            /* the tree that was used last, and its thread */
    unsigned long thread;
} Recorder;

extern PyType_Spec recorder_spec;

/* The time; -1 with an exception if another clock raises one. */
double time_now(Recorder *self);
#define IS_ERROR(time) ((time) == -1.0 && PyErr_Occurred())

/* Set the clock of a thread back to `start`, since a hook took long. Returns -1 with an exception. */
int omit_hook(Recorder *self, Tree *tree, double start);

/* The tree of the running thread, borrowed. NULL without an exception: it has none, and `makes` is 0. */
Tree *tree_of_thread(Recorder *self, int makes);

/* ---- found_nodes.c: what the profile finds for its recorder */

/* Have the profile find a node with `find(tree, sought)`. The result is borrowed: its parent has it, or the tree. */
Node *found_node(Recorder *self, Tree *tree, PyObject *find, PyObject *sought);

/* Drop the traceback of the current exception, in which a program does not expect frames of hooks. */
void leave_out_frames(void);

/* ---- body.c: the runs of bodies of generators and coroutines */

typedef struct {
    PyObject_HEAD
    Recorder *recorder;
    PyObject *code;
    PyObject *first;    /* what the first loop of a generator expression takes items from */
    Tree *tree;
    Node *node;
    char is_running, is_regular;
} Body;

extern PyType_Spec body_spec;

/* A run of the body with this code, which begins now. */
PyObject *new_body(Recorder *recorder, PyObject *code);

/* Note that a body goes on, or that it is suspended. Return -1 with an exception. */
int resume_body(Body *self);
int suspend_body(Body *self);

/* Note that a body goes on, if it was suspended. Returns whether there is no exception. */
static inline int
goes_on(Body *self)
{
    return self->is_running || resume_body(self) == 0;
}

/* Note that a body has ended by the current exception, or with NULL and none. Always NULL. */
PyObject *ended_body(Body *self);

/* ---- delegate.c: what a body waits for */

extern PyType_Spec delegate_spec;

/* What `yield from` iterates over, in a delegate that reports the steps of the body. */
PyObject *delegated(Body *body, PyObject *iterable);

/* What `await` waits for, likewise. `is_last`: with an exception, the body ends. */
PyObject *awaited(Body *body, PyObject *awaitable, int is_last);

/* ---- items.c: what loops in a body take items from */

extern PyType_Spec items_spec, async_items_spec, expression_spec;

/* What a further loop of a generator expression iterates over. */
PyObject *items_of(Body *body, PyObject *iterable);

/* What `async for` iterates over. */
PyObject *async_items_of(Body *body, PyObject *iterable);

/* What the added outermost loop of a generator expression runs over: its body, once. */
PyObject *new_expression(Recorder *recorder, PyObject *code, PyObject *first, int is_async);

/* ---- managers.c: what `async with` enters and leaves */

extern PyType_Spec manager_spec;

/* What `async with` enters and leaves, with reports to the body. */
PyObject *async_manager_of(Body *body, PyObject *manager);


/* ---- counter.c: the prehook of a call graph */

extern PyType_Spec edge_spec, counter_spec;

/* ---- type_recorder.c: the posthook of call-types */

extern PyType_Spec tally_spec, type_recorder_spec;

PyObject *record_types(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names);

/* ---- call_stack.c: the calls in progress in a thread */

extern PyType_Spec call_stack_spec;

/* ---- trace_recorder.c: the prehook and the posthook of a trace */

extern PyType_Spec trace_recorder_spec;

PyObject *begin_call(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names);
PyObject *end_call_of_trace(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names);

/* ---- block_file.c: a file that is written in blocks */

typedef struct BlockFile BlockFile;

extern PyType_Spec block_file_spec;

/* Write at the end of the file. After an error, nothing more is written. */
void append_to_file(BlockFile *self, const char *bytes, size_t count);

/* ---- arguments.c */

PyObject *tuple_of(PyObject *const *values, Py_ssize_t count);
PyObject *dict_of(PyObject *const *values, PyObject *names);

#endif
