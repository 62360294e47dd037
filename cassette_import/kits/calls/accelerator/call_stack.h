/* The stack of the calls in progress in a thread: its structure, and how calls are pushed and dropped. */

#ifndef CASSETTE_CALL_STACK_H
#define CASSETTE_CALL_STACK_H

#include "accelerator.h"

#define NOT_SHOWN -1

typedef struct {
    PyObject *function;
    Py_ssize_t level;
    int is_secret; /* whether the result is; NOT_SHOWN if the call is not shown */
} Call;

typedef struct {
    PyObject_HEAD
    PyObject *thread;
    Call *calls; /* outermost first */
    Py_ssize_t count, room;
    Py_ssize_t level; /* of the next call */
} CallStack;

/* Make room for a further call. Returns -1 with an exception. */
int grow_stack(CallStack *self);

/* Push a call. Returns -1 with an exception. */
static inline int
push_call(CallStack *self, PyObject *function, int is_secret)
{
    if (self->count == self->room && grow_stack(self) < 0) {
        return -1;
    }
    self->calls[self->count++] = (Call){Py_NewRef(function), self->level++, is_secret};
    return 0;
}

/* Drop the innermost calls until so many are left. */
static inline void
cut_calls(CallStack *self, Py_ssize_t count)
{
    while (self->count > count) {
        PyObject *function = self->calls[--self->count].function;
        Py_DECREF(function);
    }
}

#endif
