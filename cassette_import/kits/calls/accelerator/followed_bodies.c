/* The runs of bodies that a recorder begins: which function's body is followed, and by which call it was entered. */

#include "recorder.h"

static PyObject *code_here(void);

/* Whether the latest event in this thread is the call of the function whose body asks for that. It is asked once. */
static int
is_announced(Recorder *self)
{
    if (self->tree == NULL || self->announced != self->tree->identifier ||
        self->thread != PyThread_get_thread_ident()) {
        return 0;
    }
    PyObject *code = code_here(); /* `__new__` runs between the call of a class and `__init__` */
    if (code == NULL) {
        return -1;
    }
    int is_another = code != self->tree->node->announces;
    Py_DECREF(code);
    if (is_another) {
        return 0;
    }
    PyObject *nowhere = PyLong_FromLong(0);
    if (nowhere == NULL) {
        return -1;
    }
    Py_SETREF(self->announced, nowhere);
    return 1;
}

/* Whether a function with this code was entered from here before without a call event, and is now too. */
static int
is_known_callback(Recorder *self, PyObject *code)
{
    Tree *tree = tree_of_thread(self, 0);
    PyObject *key = tree == NULL ? NULL : PyLong_FromSsize_t(~(Py_ssize_t)code);
    if (key == NULL) {
        return 0;
    }
    PyObject *child = PyDict_GetItemWithError(tree->node->children, key);
    Py_DECREF(key);
    return child != NULL && Py_TYPE(child) == self->state->node_type && ((Node *)child)->label != tree->node->label;
}

/* The code of the innermost frame of the program. */
static PyObject *
code_here(void)
{
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "bodies are followed by calls in Python code");
        return NULL;
    }
    return (PyObject *)PyFrame_GetCode(frame);
}

/* The run of a function that begins and may have been entered without a call event. If there was one, the result is
   None, or with an argument a run that reports nothing. */
PyObject *
recorder_begun(Recorder *self, PyObject *const *Py_UNUSED(arguments), Py_ssize_t count)
{
    PyObject *body = NULL;
    int announced = is_announced(self);
    if (announced > 0) {
        body = Py_NewRef(Py_None);
    }
    else if (announced == 0) {
        PyObject *code = code_here();
        if (code != NULL && is_known_callback(self, code)) {
            body = new_body(self, code);
        }
        else if (code != NULL && !PyErr_Occurred()) {
            body = PyObject_CallMethod(self->profile, "follow_call", "O", code);
        }
        Py_XDECREF(code);
    }
    if (body == Py_None && count > 0) {
        Py_DECREF(body);
        return Py_NewRef(self->state->not_followed);
    }
    return body;
}

PyObject *
recorder_follow(Recorder *self, PyObject *code)
{
    return new_body(self, code);
}

/* The run of the body that begins here. */
PyObject *
recorder_follow_here(Recorder *self, PyObject *Py_UNUSED(nothing))
{
    PyObject *code = code_here();
    PyObject *body = code == NULL ? NULL : new_body(self, code);
    Py_XDECREF(code);
    return body;
}

PyObject *
recorder_expression(Recorder *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "follow_expression() takes code, an iterator, and whether it is asynchronous");
        return NULL;
    }
    return new_expression(self, arguments[0], arguments[1], arguments[2] == Py_True);
}

PyObject *
recorder_follow_with(Recorder *self, PyObject *arguments)
{
    PyObject *profile, *find_body, *leave_body;
    if (!PyArg_ParseTuple(arguments, "OOO:follow_with", &profile, &find_body, &leave_body)) {
        return NULL;
    }
    Py_XSETREF(self->profile, Py_NewRef(profile));
    Py_XSETREF(self->find_body, Py_NewRef(find_body));
    Py_XSETREF(self->leave_body, Py_NewRef(leave_body));
    Py_RETURN_NONE;
}
