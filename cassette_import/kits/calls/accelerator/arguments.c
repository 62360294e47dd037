/* Arguments: those of a call, as methods of contexts get them. */

#include "accelerator.h"

PyObject *
dict_of(PyObject *const *values, PyObject *names)
{
    PyObject *found = PyDict_New();
    for (Py_ssize_t number = 0; found != NULL && names != NULL && number < PyTuple_GET_SIZE(names); number++) {
        if (PyDict_SetItem(found, PyTuple_GET_ITEM(names, number), values[number]) < 0) {
            Py_CLEAR(found);
        }
    }
    return found;
}

PyObject *
tuple_of(PyObject *const *values, Py_ssize_t count)
{
    PyObject *found = PyTuple_New(count);
    for (Py_ssize_t number = 0; found != NULL && number < count; number++) {
        PyTuple_SET_ITEM(found, number, Py_NewRef(values[number]));
    }
    return found;
}
