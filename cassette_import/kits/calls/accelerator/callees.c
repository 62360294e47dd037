/* Callees: which function the hooks of an event get for what a call site calls.

   It is what `callables.split` returns first. The usual callees are recognised here; `split` itself decides about
   all others. */

#include "accelerator.h"

/* A method in C that is bound to an object: the descriptor in the class, found once for each type of objects. */
static PyObject *
function_of_method(Callees *callees, PyObject *callee, PyObject **owned)
{
    PyObject *receiver = PyCFunction_GET_SELF(callee);
    PyObject *owner = PyType_Check(receiver) ? receiver : (PyObject *)Py_TYPE(receiver);
    PyMethodDef *definition = ((PyCFunctionObject *)callee)->m_ml;
    size_t hash = ((size_t)definition >> 4) ^ ((size_t)owner >> 6);
    KnownMethod *known = &callees->known[hash & (KNOWN_METHODS - 1)];
    if (known->definition == definition && known->owner == owner) {
        return known->function ? known->function : callee;
    }
    PyObject *parts = PyObject_CallOneArg(callees->split, callee);
    if (parts == NULL) {
        return NULL;
    }
    PyObject *function = PyTuple_GetItem(parts, 0);
    if (function == NULL) {
        Py_DECREF(parts);
        return NULL;
    }
    /* Methods of a class that may change, or that the program may drop, are looked up each time. */
    unsigned long flags = PyType_GetFlags((PyTypeObject *)owner);
    if (!(flags & Py_TPFLAGS_HEAPTYPE) || (flags & Py_TPFLAGS_IMMUTABLETYPE)) {
        PyObject *old_owner = known->owner, *old_function = known->function;
        known->definition = definition;
        known->owner = Py_NewRef(owner);
        known->function = function == callee ? NULL : Py_NewRef(function);
        Py_XDECREF(old_owner);
        Py_XDECREF(old_function);
    }
    *owned = parts;
    return function;
}

/* Whether instances of a type may carry a function, or may be targets themselves. */
static int
may_carry(Callees *callees, PyTypeObject *type)
{
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(callees->carriers); number++) {
        if (PyTuple_GET_ITEM(callees->carriers, number) == (PyObject *)type) {
            return 1;
        }
    }
    return PyDict_GET_SIZE(callees->splitters) > 0 || PyDict_GET_SIZE(callees->calls_of_instances) > 0;
}

PyObject *
function_of(Callees *callees, PyObject *callee, PyObject **owned)
{
    PyTypeObject *type = Py_TYPE(callee);
    *owned = NULL;
    if (type == &PyFunction_Type || type == &PyType_Type) {
        return callee;
    }
    if (type == &PyMethod_Type) {
        PyObject *function = PyMethod_GET_FUNCTION(callee);
        if (Py_TYPE(function) == &PyFunction_Type) {
            return function;
        }
    }
    else if (type == &PyCFunction_Type || type == &PyCMethod_Type) {
        PyObject *receiver = PyCFunction_GET_SELF(callee);
        if (receiver == NULL || receiver == Py_None || PyModule_CheckExact(receiver)) {
            return callee;
        }
        return function_of_method(callees, callee, owned);
    }
    else if (!may_carry(callees, type)) {
        return callee;
    }
    *owned = PyObject_CallOneArg(callees->split, callee);
    return *owned == NULL ? NULL : PyTuple_GetItem(*owned, 0);
}

int
set_callees(Callees *callees, PyObject *arguments)
{
    PyObject *split, *splitters, *calls_of_instances, *carriers;
    if (!PyArg_ParseTuple(arguments, "OO!O!O!:configure", &split, &PyDict_Type, &splitters, &PyDict_Type,
                          &calls_of_instances, &PyTuple_Type, &carriers)) {
        return -1;
    }
    clear_callees(callees);
    callees->split = Py_NewRef(split);
    callees->splitters = Py_NewRef(splitters);
    callees->calls_of_instances = Py_NewRef(calls_of_instances);
    callees->carriers = Py_NewRef(carriers);
    return 0;
}

int
traverse_callees(Callees *callees, visitproc visit, void *arg)
{
    Py_VISIT(callees->split);
    Py_VISIT(callees->splitters);
    Py_VISIT(callees->calls_of_instances);
    Py_VISIT(callees->carriers);
    for (int number = 0; number < KNOWN_METHODS; number++) {
        Py_VISIT(callees->known[number].owner);
        Py_VISIT(callees->known[number].function);
    }
    return 0;
}

void
clear_callees(Callees *callees)
{
    Py_CLEAR(callees->split);
    Py_CLEAR(callees->splitters);
    Py_CLEAR(callees->calls_of_instances);
    Py_CLEAR(callees->carriers);
    for (int number = 0; number < KNOWN_METHODS; number++) {
        callees->known[number].definition = NULL;
        Py_CLEAR(callees->known[number].owner);
        Py_CLEAR(callees->known[number].function);
    }
}
