/* What the files of this extension share. */

#ifndef CASSETTE_DISPATCH_H
#define CASSETTE_DISPATCH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#ifdef Py_GIL_DISABLED
#error "This extension relies on the global interpreter lock: free-threaded Python uses the code in Python."
#endif

/* ---- switching.c: another value of the context variable `ACTIVE` for the time of a call */

#define KNOWN_SWITCHES 64 /* a power of two */

typedef struct {
    PyObject *outer;     /* borrowed: the variables of a context, outside of hooks; NULL: the entry is empty */
    PyObject *reference; /* a weak reference to `outer`, whose callback empties the entry */
    PyObject *inner;     /* the same variables with the activation in which hooks run */
    PyObject *known;     /* the dict with that activation */
    Py_ssize_t level;
    PyObject *candidate; /* borrowed, and perhaps dead: the variables that were seen here last */
    PyObject *forget;    /* the callback */
} KnownSwitch;

#define KNOWN_METHODS 256 /* a power of two */

typedef struct {
    PyMethodDef *definition; /* NULL: the entry is empty */
    PyTypeObject *owner;     /* the type of receivers */
    PyObject *function;      /* the function that hooks get */
} KnownMethod;

typedef struct {
    PyObject *active;          /* the context variable `ACTIVE` */
    PyObject *hook_activation; /* `state.hook_activation` */
    PyTypeObject *activation_type, *suspension_type, *suspended_call_type, *overload_event_type,
        *accelerated_event_type, *event_callee_type, *every_callee_type, *learn_type, *splitting_call_type, *plain_callee_type, *plain_interception_type, *interception_type, *plain_site_type,
        *steps_type, *async_steps_type, *async_loop_type, *loop_type, *unpacking_type, *unless_tagged_type, *entry_method_type,
        *instances_type, *families_type, *watched_source_type, *watched_callback_type, *no_targets_type;
    PyTypeObject *method_wrapper_type;  /* no public header of CPython names it */
    PyTypeObject *checked_type;         /* that of the activation that was active last: it has these slots */
    PyObject *flags, *name_of_metadata; /* the cell with the flags; the name of the one that says there is metadata */
    int may_have_metadata;              /* 0: the flag is false */
    unsigned long version;              /* another one whenever a variant got other hooks */
    Py_ssize_t of_contexts, of_hook_activations, of_variant, of_family, of_roots; /* the offsets of slots of activations */
    Py_ssize_t of_variables; /* the offset of the variables of a context; 0: it is not known */
    KnownSwitch known[KNOWN_SWITCHES];
    KnownMethod methods[KNOWN_METHODS];
} State;

typedef struct {
    PyObject *activation;    /* what was active */
    PyObject *context;       /* the context whose variables were switched; NULL: there is none */
    PyObject *outer, *inner; /* its variables before and after */
} Switch;

/* ---- instances.c: whether a value has one of some types */

extern PyType_Spec instances_spec;

/* ---- no_targets.c: whether a callee is certainly no target */

extern PyType_Spec no_targets_spec;

/* ---- active_families.c: whether a family of variants is that of the active contexts */

extern PyType_Spec families_spec;

/* ---- plain_frames.c: variables of running frames */

PyObject *set_in_frames(PyObject *module, PyObject *arguments);

/* ---- function_code.c: the code of functions, replaced so that calls of them stay specialised */

PyObject *set_code(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/* given_texts.c */
PyObject *tell_of_texts(PyObject *module, PyObject *arguments);
PyObject *specialised_calls(PyObject *module, PyObject *function);

/* ---- observers.c: own work that tracers, profilers and tools do not notice */

PyObject *unobserved(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
int filter_observers(void);

/* ---- callable.c: what all types of callables have in common */

#define CALLABLE_HEAD \
    PyObject_HEAD \
    vectorcallfunc vectorcall; \
    State *state; \
    PyObject *module; /* it keeps the state */

typedef struct {
    CALLABLE_HEAD
} Callable;

/* A new instance of a type, which calls this function. NULL: an exception. */
PyObject *new_callable(PyTypeObject *type, vectorcallfunc call);

/* The end of an instance: `tp_clear` clears what is its own. */
void free_callable(PyObject *self);

/* Whether a call has one positional argument, and nothing else; 0 with an exception. */
int is_one_argument(size_t flagged, PyObject *names);

/* What stands at a call site for a callee. It has the callee's attributes, so that Python's own errors about a call
   name that. */
#define CALLEE_HEAD \
    CALLABLE_HEAD \
    PyObject *callee;

PyObject *attribute_of_callee(PyObject *self, PyObject *name);
PyObject *text_of_callee(PyObject *self);

/* Call a function with the callee before the arguments of a call. */
PyObject *call_with_callee(PyObject *function, PyObject *callee, PyObject *const *arguments, size_t flagged,
                           PyObject *names);

extern PyMethodDef no_methods[];

/* Names, as functions have them: tools that observe calls read the name of each callee. */
extern PyGetSetDef names_of_functions[];

#define CALLABLE_FLAGS \
    (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE)

/* The spec of a type of callables; further arguments are members, each with a comma behind it. */
#define CALLABLE_TYPE(spec, structure, type_name, make, visit_parts, clear_parts, type_methods, ...) \
    static PyMemberDef spec##_members[] = { \
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(structure, vectorcall), READONLY, NULL}, __VA_ARGS__{NULL}}; \
    static PyType_Slot spec##_slots[] = { \
        {Py_tp_new, make}, \
        {Py_tp_call, PyVectorcall_Call}, \
        {Py_tp_traverse, visit_parts}, \
        {Py_tp_clear, clear_parts}, \
        {Py_tp_dealloc, free_callable}, \
        {Py_tp_members, spec##_members}, \
        {Py_tp_methods, type_methods}, \
        {Py_tp_getset, names_of_functions}, \
        {0, NULL}, \
    }; \
    PyType_Spec spec = { \
        .name = "cassette_import.runtime.dispatch.accelerator._dispatch." type_name, \
        .basicsize = sizeof(structure), \
        .flags = CALLABLE_FLAGS, \
        .slots = spec##_slots, \
    }

#define VISIT_CALLABLE(self) \
    do { \
        Py_VISIT(Py_TYPE(self)); \
        Py_VISIT((self)->module); \
    } while (0)

#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

/* The offset of a slot of a class; -1 with an exception. */
Py_ssize_t offset_of_slot(PyTypeObject *type, const char *name);

/* What is active; a new reference. NULL: an exception. */
PyObject *active_here(State *state);

/* Make the contexts outside of a level active; return -1 with an exception. */
int begin_suspension(State *state, PyObject *activation, Py_ssize_t level, Switch *made);

/* Make active what was active. An exception that is set stays so. Returns -1 with an exception of its own. */
int end_suspension(State *state, Switch *made);

int find_variables(State *state);
int add_known_switches(State *state);
int traverse_known_switches(State *state, visitproc visit, void *arg);
void clear_known_switches(State *state);

extern PyType_Spec suspension_spec;
PyObject *suspend(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *resume(PyObject *module, PyObject *suspension);

/* ---- suspended_call.c: a hook that is called while its context is suspended */

extern PyType_Spec suspended_call_spec;

/* ---- overload_event.c: the event of a target with overloads of one context */

extern PyType_Spec overload_event_spec;

/* ---- accelerated_event.c: events of accelerated contexts where the active context is looked up at each */

extern PyType_Spec accelerated_event_spec;

/* ---- event_callee.c: interception where every call is an event */

extern PyType_Spec event_callee_spec, every_callee_spec;

/* ---- learning.c: what a call site calls whose guard does not hold */

extern PyType_Spec learn_spec;

/* ---- splitting.c: a hook that gets the function and the receiver of a bound method */

extern PyType_Spec splitting_call_spec;
int traverse_known_methods(State *state, visitproc visit, void *arg);
void clear_known_methods(State *state);

/* ---- plain_callee.c: what a call site calls while nothing is tagged */

#define KNOWN_PRIMITIVES 64 /* a power of two */

typedef struct {
    PyObject *code; /* of a generator; NULL: the entry is empty */
    PyObject *roots;
    unsigned long version;
    char is_overdubbed;
} KnownCode;

typedef struct {
    CALLABLE_HEAD
    PyObject *slowly;  /* does the same in Python */
    PyObject *variant; /* whose events these are */
    PyObject *event;   /* runs an event */
    PyObject *targets, *names_of_targets; /* by identity; the names of those in C */
    PyObject *tables;                     /* the tables of rules, which keeps those below */
    PyObject *claimed;                    /* the result of a call during which the first value was tagged */
    PyObject *readers;                    /* functions that read the frame they are called from, by identity */
    PyObject *ruled, *ruled_names;        /* functions whose rules apply always; the names of those in C */
    PyObject *any_arguments, *unwatched;  /* conditions: always; unless attributes are watched */
    PyObject *iterated, *types_iterated;  /* the condition that all arguments have some types; these, by identity */
    PyObject *watches, *is_watching;      /* the names of watched attributes; whether there are any */
    PyObject *load_global;
    PyObject *leaves;                     /* how leaves are watched, by identity */
    PyObject *steps_plainly;              /* whether the steps of an iterator need no rule */
    PyObject *completions;                /* what completes plain calls, by the identity of the callee's type */
    PyObject *next;                       /* the builtin */
    PyObject *thread, *wants_wrapped;     /* what tagging keeps for each thread; the name of an attribute of it */
    PyObject *claimed_item, *claimed_stop; /* an item, or the end of an iterator, when the first value was tagged */
    PyObject *computes_here;              /* whether contexts compute metadata, of an activation */
    KnownCode known_code[KNOWN_PRIMITIVES];
    PyObject *known[KNOWN_PRIMITIVES]; /* what is called for primitives, by their addresses */
    char is_call;
    char computes; /* whether contexts of the variant compute metadata; negative: it is not known yet */
} PlainInterception;

extern PyType_Spec plain_callee_spec;

/* Whether there is metadata anywhere in the process, as the flag in Python says. */
int find_metadata(State *state);

/* The same without a look at the flag as long as it was false at the last look, and has not been made true since. */
static inline int
metadata_exists(State *state)
{
    return state->may_have_metadata && find_metadata(state);
}

/* What calls a callee plainly if a condition on the arguments holds, and completes the call if the first value was tagged
   meanwhile. `watched` says how it is watched. All of these may be NULL. */
PyObject *make_plain_callee(PlainInterception *of, PyObject *callee, PyObject *condition, PyObject *watched,
                            PyObject *completion);

/* Whether what is called in place of a primitive is that of this one. */
int is_plain_callee_of(PyObject *made, PyObject *primitive);

/* ---- callee_kinds.c: which callees are called plainly while nothing is tagged */

/* What is called in place of a callee; Py_None, borrowed: Python finds that; NULL: an exception. If the call site may learn
   the callee, that is only one that no guard learns: its plain calls depend on the arguments, or are watched or completed. */
PyObject *plain_callee(PlainInterception *self, PyObject *callee, int may_be_learned);

/* ---- watched_calls.c: leaves that take the items of generators, or call functions of the program */

extern PyType_Spec watched_source_spec, watched_callback_spec;

typedef struct {
    PyObject *of_source, *of_callback; /* make what takes over from a source and from a callback; Py_None: there is none */
    PyObject *at_end;                  /* gets the result if there is metadata by then; Py_None: nothing is left to do */
    int fewest, most;                  /* the number of positional arguments; `most` is negative: any number */
    int first, last;                   /* which of them are sources; `last` is negative: all that follow */
    int has_callback;                  /* whether the first argument is a callback */
    int may_have_keywords;
    int takes_any;                     /* whether a source may be any iterable of the program */
    int keeps;                         /* whether the items are kept: never, if contexts compute metadata, always */
} Leaf; /* its references are borrowed from the row of the table */

/* Read a row of the table of leaves; 0 with an exception. */
int read_leaf(PyObject *row, Leaf *leaf);

/* Make a call of a leaf while nothing is tagged. 1: `*result` is its result; 0: Python has to make the call; -1: an exception. */
int call_watched(PlainInterception *of, PyObject *callee, const Leaf *leaf, PyObject *const *arguments, size_t flagged,
                 PyObject *names, PyObject **result);

/* ---- interception.c: events while nothing is tagged, where the active context is looked up at each */

extern PyType_Spec plain_interception_spec, interception_spec;

/* The active variant, borrowed: its activation has it. NULL without an exception: nothing is active. */
PyObject *active_variant(State *state);

/* ---- untagged_sites.c: what else call sites call while nothing is tagged */

extern PyType_Spec plain_site_spec, unless_tagged_spec;

/* ---- loops.c: loops and unpacking while nothing is tagged, where the active context is looked up at each step */

extern PyType_Spec steps_spec, loop_spec, unpacking_spec;

/* Whether a type is among some, which are a set of identities; -1 with an exception. */
int is_among(PyObject *types, PyTypeObject *type);

/* Whether one of some types is a base of a type, and has the same `__iter__`, and this `__len__`, unless that is NULL. */
int iterates_like(PyObject *types, PyTypeObject *type, lenfunc length);

/* What `len` calls; NULL: there is nothing. */
lenfunc length_of(PyTypeObject *type);

/* ---- async_loops.c: loops of `async for` */

extern PyType_Spec async_steps_spec, async_loop_spec;

/* ---- entry_method.c: the methods that enter and leave contexts */

extern PyType_Spec entry_method_spec;

#endif
