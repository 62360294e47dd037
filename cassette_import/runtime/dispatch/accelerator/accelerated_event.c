/* Events of accelerated contexts that look up the active context, as in bodies that can be suspended.

   It does what the function of `accelerated_hooks.make_accelerated_event` does. What it does not know, it passes on
   to that. No frame lies between the program's and the callee, so nothing stands in for functions that read frames. */

#include "dispatch.h"

/* A call from C to Python takes room on the stack of C, and Python functions may recurse deeper than that: calls
   that are nested deeper than this are made by the function in Python. */
#define MOST_NESTED 50

typedef struct {
    CALLABLE_HEAD
    PyObject *slowly;  /* does the same in Python */
    PyObject *variant; /* whose events these are */
    PyObject *enter, *leave, *fail;
    PyObject *name_of_recorder;
    int nested; /* the calls in progress */
} AcceleratedEvent;

/* The recorder of the only context of an activation, if its variant is that of the events. NULL, perhaps with an
   exception: there is none. */
static PyObject *
recorder_here(AcceleratedEvent *self)
{
    PyObject *activation = active_here(self->state), *recorder = NULL;
    if (activation != NULL && SLOT(activation, self->state->of_variant) == self->variant) {
        PyObject *contexts = SLOT(activation, self->state->of_contexts);
        if (contexts != NULL && PyTuple_Check(contexts) && PyTuple_GET_SIZE(contexts) > 0) {
            recorder = PyObject_GetAttr(PyTuple_GET_ITEM(contexts, 0), self->name_of_recorder);
        }
    }
    Py_XDECREF(activation);
    return recorder;
}

/* Run the errorhook while the exception that is set is being handled; it stays set. */
static void
run_errorhook(AcceleratedEvent *self, PyObject *recorder, PyObject *callee)
{
    PyObject *type, *error, *traceback, *arguments[] = {recorder, callee};
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(error, traceback);
    }
    PyObject *handled = PyErr_GetHandledException();
    PyErr_SetHandledException(error);
    PyObject *done = PyObject_Vectorcall(self->fail, arguments, 2, NULL);
    PyErr_SetHandledException(handled);
    Py_XDECREF(handled);
    if (done == NULL) { /* its exception has the other one as its context */
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
        return;
    }
    Py_DECREF(done);
    PyErr_Restore(type, error, traceback);
}

/* Run the event of a call of `arguments[0]` with the rest. */
static PyObject *
run_event(AcceleratedEvent *self, PyObject *recorder, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    PyObject *callee = arguments[0], *entering[] = {recorder, callee, recorder};
    PyObject *entered = PyObject_Vectorcall(self->enter, entering, 3, NULL);
    if (entered == NULL) {
        return NULL;
    }
    Py_DECREF(entered);
    self->nested++;
    PyObject *result = PyObject_Vectorcall(callee, arguments + 1, (size_t)(count - 1), names);
    self->nested--;
    if (result == NULL) {
        run_errorhook(self, recorder, callee);
        return NULL;
    }
    PyObject *leaving[] = {recorder, result, callee};
    PyObject *left = PyObject_Vectorcall(self->leave, leaving, 3, NULL);
    Py_DECREF(result);
    return left;
}

static PyObject *
call(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    AcceleratedEvent *self = (AcceleratedEvent *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flagged);
    PyObject *recorder = count > 0 && self->nested < MOST_NESTED ? recorder_here(self) : NULL;
    if (recorder == NULL) {
        return PyErr_Occurred() ? NULL : PyObject_Vectorcall(self->slowly, arguments, flagged, names);
    }
    PyObject *result = run_event(self, recorder, arguments, count, names);
    Py_DECREF(recorder);
    return result;
}

/* AcceleratedEvent(slowly, variant, enter, leave, fail) */
static PyObject *
new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *slowly, *variant, *enter, *leave, *fail;
    if (!PyArg_ParseTuple(arguments, "OOOOO:AcceleratedEvent", &slowly, &variant, &enter, &leave, &fail)) {
        return NULL;
    }
    AcceleratedEvent *self = (AcceleratedEvent *)new_callable(type, call);
    if (self == NULL) {
        return NULL;
    }
    self->slowly = Py_NewRef(slowly);
    self->variant = Py_NewRef(variant);
    self->enter = Py_NewRef(enter);
    self->leave = Py_NewRef(leave);
    self->fail = Py_NewRef(fail);
    self->name_of_recorder = PyUnicode_InternFromString("recorder");
    if (self->name_of_recorder == NULL) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int
traverse(AcceleratedEvent *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->slowly);
    Py_VISIT(self->variant);
    Py_VISIT(self->enter);
    Py_VISIT(self->leave);
    Py_VISIT(self->fail);
    return 0;
}

static int
clear(AcceleratedEvent *self)
{
    Py_CLEAR(self->slowly);
    Py_CLEAR(self->variant);
    Py_CLEAR(self->enter);
    Py_CLEAR(self->leave);
    Py_CLEAR(self->fail);
    Py_CLEAR(self->name_of_recorder);
    return 0;
}

CALLABLE_TYPE(accelerated_event_spec, AcceleratedEvent, "AcceleratedEvent", new, traverse, clear, no_methods);
