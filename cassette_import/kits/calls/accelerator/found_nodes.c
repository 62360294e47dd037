/* What the recorder has the profile find: the tree of a thread, and the node of a call path that is new. */

#include "recorder.h"

Tree *
other_tree(Recorder *self, unsigned long thread, int makes)
{
    PyObject *identifier = PyLong_FromUnsignedLong(thread);
    if (identifier == NULL) {
        return NULL;
    }
    PyObject *found = PyDict_GetItemWithError(self->threads, identifier);
    Py_DECREF(identifier);
    if (found != NULL) {
        Py_INCREF(found);
    }
    else if (PyErr_Occurred() || !makes || (found = PyObject_CallNoArgs(self->new_tree)) == NULL) {
        return NULL;
    }
    if (Py_TYPE(found) != self->state->tree_type) {
        PyErr_SetString(PyExc_TypeError, "the tree of a thread must be a Tree");
        Py_DECREF(found);
        return NULL;
    }
    PyObject *old = (PyObject *)self->tree;
    self->tree = (Tree *)found;
    self->thread = thread;
    Py_XDECREF(old);
    return (Tree *)found;
}

/* A program that recurses without end sees the traceback of its own frames: hooks in Python are no part of it either. */
void
leave_out_frames(void)
{
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *error = PyErr_GetRaisedException();
    PyException_SetTraceback(error, Py_None);
    PyErr_SetRaisedException(error);
#else
    PyObject *type, *error, *frames;
    PyErr_Fetch(&type, &error, &frames);
    Py_XDECREF(frames);
    PyErr_Restore(type, error, NULL);
#endif
}

Node *
found_node(Recorder *self, Tree *tree, PyObject *find, PyObject *sought)
{
    Node *parent = tree->node;
    PyObject *found = PyObject_CallFunctionObjArgs(find, (PyObject *)tree, sought, NULL);
    if (found == NULL) {
        if (PyErr_ExceptionMatches(PyExc_RecursionError)) {
            leave_out_frames();
        }
        return NULL;
    }
    if (Py_TYPE(found) != self->state->node_type || tree->node != parent) {
        PyErr_SetString(PyExc_TypeError, "what finds nodes must return a Node, and leave the tree where it is");
        Py_DECREF(found);
        return NULL;
    }
    Node *node = (Node *)found;
    PyObject *regular = PyDict_GetItemWithError(parent->children, node->place);
    int is_error = regular == NULL && PyErr_Occurred();
    node->is_simple = regular == found;
    Py_DECREF(found); /* its parent, or the tree, has it */
    return is_error ? NULL : node;
}
