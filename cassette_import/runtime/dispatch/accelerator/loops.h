/* What the files about loops share. */

#ifndef CASSETTE_LOOPS_H
#define CASSETTE_LOOPS_H

#include "dispatch.h"

typedef struct {
    CALLABLE_HEAD
    PyObject *slowly;     /* does the same in Python */
    PyObject *kinds_of;   /* what is below, of a variant; None if steps are events there in any case */
    PyObject *later;      /* makes what does a step of an iterator if there is metadata */
    PyObject *unpack;     /* an `Unpacking` */
    PyObject *claimed;    /* an item that was taken while the first value was tagged */
    PyObject *variant;    /* the variant that was active last */
    PyObject *kinds;
    PyObject *containers, *iterators; /* of `kinds`: types, by identity, that run only code of the interpreter */
    PyObject *steps_plainly;          /* of `kinds`: whether an iterator needs no rule */
    PyObject *files;                  /* of `kinds`: the files with overdubbed functions, by name */
    unsigned long version;
    enum { OF_EVENTS, HERE, SPLAT, LATE_SPLAT, DELEGATE } mode;
} Loop;

/* Whether steps are plain here; -1 with an exception. `*active` is the active variant, borrowed. */
int steps_are_plain(Loop *self, PyObject **active);

PyObject *new_loop(PyTypeObject *type, PyObject *arguments, PyObject *keywords);
int traverse_loop(Loop *self, visitproc visit, void *arg);
int clear_loop(Loop *self);

/* async_loops.c */
PyObject *begin_async_loop(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names);

#endif
