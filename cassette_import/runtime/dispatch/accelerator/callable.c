/* What all types of callables have in common. */

#include "dispatch.h"

PyObject *
new_callable(PyTypeObject *type, vectorcallfunc call)
{
    PyObject *module = PyType_GetModule(type);
    Callable *self = module == NULL ? NULL : (Callable *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->vectorcall = call;
        self->module = Py_NewRef(module);
        self->state = PyModule_GetState(module);
    }
    return (PyObject *)self;
}

void
free_callable(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    type->tp_clear(self);
    Py_CLEAR(((Callable *)self)->module);
    type->tp_free(self);
    Py_DECREF(type);
}

/* The last part of the name of its type. */
static PyObject *
name_of_function(PyObject *object, void *Py_UNUSED(closure))
{
    const char *name = Py_TYPE(object)->tp_name, *last = strrchr(name, '.');
    return PyUnicode_FromString(last == NULL ? name : last + 1);
}

PyGetSetDef names_of_functions[] = {
    {"__name__", name_of_function, NULL, NULL, NULL},
    {"__qualname__", name_of_function, NULL, NULL, NULL},
    {NULL},
};

PyMethodDef no_methods[] = {{NULL}};
