/* What the files of the recorder share. */

#ifndef CASSETTE_RECORDER_H
#define CASSETTE_RECORDER_H

#include "accelerator.h"

/* ---- found_nodes.c */

/* The tree of a thread that is not the one that was used last, borrowed. */
Tree *other_tree(Recorder *self, unsigned long thread, int makes);

/* ---- followed_bodies.c: methods of the recorder */

PyObject *recorder_begun(Recorder *self, PyObject *const *arguments, Py_ssize_t count);
PyObject *recorder_follow(Recorder *self, PyObject *code);
PyObject *recorder_follow_here(Recorder *self, PyObject *nothing);
PyObject *recorder_expression(Recorder *self, PyObject *const *arguments, Py_ssize_t count);
PyObject *recorder_follow_with(Recorder *self, PyObject *arguments);

#endif
