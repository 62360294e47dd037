/* Variables of running frames: what rewritten code tests at each event is a local variable, and others set it from
   outside. */

#include "dispatch.h"

#if PY_VERSION_HEX < 0x030D0000
#define Py_BUILD_CORE
#include "internal/pycore_frame.h"
#undef Py_BUILD_CORE
#endif

/* The place of a variable in a frame; -1 if its code has none of that name. Names of variables are interned. */
static Py_ssize_t
place_of(PyFrameObject *frame, PyObject *name)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *names = code->co_localsplusnames;
    Py_ssize_t place = PyTuple_GET_SIZE(names);
    while (--place >= 0 && PyTuple_GET_ITEM(names, place) != name) {
    }
    Py_DECREF(code);
    return place;
}

/* Set a variable of a frame that is None; -1 with an exception. */
static int
set_if_none(PyFrameObject *frame, PyObject *name, PyObject *value)
{
    Py_ssize_t place = place_of(frame, name);
    if (place < 0) {
        return 0;
    }
#if PY_VERSION_HEX < 0x030D0000
    PyObject **variable = frame->f_frame->localsplus + place, *shown = frame->f_frame->f_locals;
    if (*variable == Py_None) {
        Py_SETREF(*variable, Py_NewRef(value));
        /* The interpreter copies this dict into the variables when a function that traces returns. */
        if (shown != NULL && PyDict_CheckExact(shown) && PyDict_Contains(shown, name) == 1) {
            return PyDict_SetItem(shown, name, value);
        }
    }
    return 0;
#else
    PyObject *variables = PyFrame_GetLocals(frame), *old = NULL;
    int result = variables == NULL ? -1 : 0;
    if (variables != NULL) {
        old = PyObject_GetItem(variables, name);
        if (old == NULL) {
            PyErr_Clear(); /* it is not bound yet */
        }
        result = old == Py_None ? PyObject_SetItem(variables, name, value) : 0;
    }
    Py_XDECREF(old);
    Py_XDECREF(variables);
    return result;
#endif
}

/* Set it in a frame and in those that have called it; takes the reference to the frame. */
static int
set_in_stack(PyFrameObject *frame, PyObject *name, PyObject *value)
{
    int result = 0;
    while (frame != NULL) {
        PyFrameObject *caller = PyFrame_GetBack(frame);
        result = result < 0 ? result : set_if_none(frame, name, value);
        Py_DECREF(frame);
        frame = caller;
    }
    return result;
}

/* set_in_frames(name, value, frames): set a variable that is None in all frames of all threads, and in the stacks of `frames`. */
PyObject *
set_in_frames(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *name, *value, *frames;
    if (!PyArg_ParseTuple(arguments, "UOO!:set_in_frames", &name, &value, &PyTuple_Type, &frames)) {
        return NULL;
    }
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    int result = 0, collects = PyGC_Disable(); /* finalizers would be code of the program */
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; thread != NULL && result == 0; thread = PyThreadState_Next(thread)) {
        result = set_in_stack(PyThreadState_GetFrame(thread), name, value);
    }
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(frames) && result == 0; number++) {
        PyObject *frame = PyTuple_GET_ITEM(frames, number);
        if (PyFrame_Check(frame)) {
            result = set_in_stack((PyFrameObject *)Py_NewRef(frame), name, value);
        }
    }
    if (collects) {
        PyGC_Enable();
    }
    Py_DECREF(name);
    if (result < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}
