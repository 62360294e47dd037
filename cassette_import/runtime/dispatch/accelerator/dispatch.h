/* What the files of this extension share.

   Knows the structures; must not know what is done with them. */

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
        *learn_type, *splitting_call_type;
    Py_ssize_t of_contexts, of_hook_activations, of_variant; /* the offsets of slots of activations */
    Py_ssize_t of_variables; /* the offset of the variables of a context; 0: it is not known */
    KnownSwitch known[KNOWN_SWITCHES];
    KnownMethod methods[KNOWN_METHODS];
} State;

typedef struct {
    PyObject *activation;    /* what was active */
    PyObject *context;       /* the context whose variables were switched; NULL: there is none */
    PyObject *outer, *inner; /* its variables before and after */
} Switch;

#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

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

/* ---- module.c: names, as functions have them: tools that observe calls read the name of each callee */

extern PyGetSetDef names_of_functions[];

/* ---- suspended_call.c: a hook that is called while its context is suspended */

extern PyType_Spec suspended_call_spec;

/* ---- overload_event.c: the event of a target with overloads of one context */

extern PyType_Spec overload_event_spec;

/* ---- learning.c: what a call site calls whose guard does not hold */

extern PyType_Spec learn_spec;

/* ---- splitting.c: a hook that gets the function and the receiver of a bound method */

extern PyType_Spec splitting_call_spec;
int traverse_known_methods(State *state, visitproc visit, void *arg);
void clear_known_methods(State *state);

#endif
