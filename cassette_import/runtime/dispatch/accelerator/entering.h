/* What entering contexts and the type of the methods share: the structures. */

#ifndef CASSETTE_ENTERING_H
#define CASSETTE_ENTERING_H

#include "dispatch.h"

/* Where activations, families and what types of contexts share have their attributes. */
typedef struct {
    Py_ssize_t contexts, entered, family, hook_activations, inherited, left, outer, roots, successor, suspended, tags,
        token, variant;
    Py_ssize_t active, is_met, is_silent;
    Py_ssize_t events, key, latest, passes;
} Offsets;

/* The attributes that are read by name. */
typedef struct {
    PyObject *type_defaults, *events, *passes, *is_changed, *report_escapes, *keys, *is_superseded, *instrumented_at,
        *generation, *meta_path, *known, *end, *forget_entries;
} Names;

typedef struct {
    CALLABLE_HEAD
    PyObject *slowly; /* the method in Python */
    PyTypeObject *ready_type, *defaults_type;
    PyObject *entered, *held;        /* the activations in use */
    PyObject *waiting, *first_finder; /* modules that are awaited, and the finder that has to be first then */
    PyObject *system, *registry;     /* the attributes of `sys`; what knows the functions that are overdubbed */
    PyObject *is_any_active;         /* the name of the flag */
    Offsets of;
    Names name;
} EntryMethod;

PyObject *enter_context(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names);
PyObject *exit_context(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names);

#endif
