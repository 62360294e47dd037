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

int
is_one_argument(size_t flagged, PyObject *names)
{
    if (PyVectorcall_NARGS(flagged) != 1 || names != NULL) {
        PyErr_SetString(PyExc_TypeError, "one positional argument is expected");
        return 0;
    }
    return 1;
}

/* ---- what stands at a call site for a callee */

typedef struct {
    CALLEE_HEAD
} CalleeProxy;

PyObject *
attribute_of_callee(PyObject *self, PyObject *name)
{
    return PyObject_GetAttr(((CalleeProxy *)self)->callee, name);
}

PyObject *
text_of_callee(PyObject *self)
{
    return PyObject_Str(((CalleeProxy *)self)->callee);
}

#define FEW 8

PyObject *
call_with_callee(PyObject *function, PyObject *callee, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    Py_ssize_t count = PyVectorcall_NARGS(flagged);
    if (flagged & PY_VECTORCALL_ARGUMENTS_OFFSET) { /* the place before the arguments may be used meanwhile */
        PyObject **all = (PyObject **)arguments - 1, *before = all[0];
        all[0] = callee;
        PyObject *result = PyObject_Vectorcall(function, all, (size_t)count + 1, names);
        all[0] = before;
        return result;
    }
    Py_ssize_t size = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    PyObject *few[FEW + 1], **all = size <= FEW ? few : PyMem_New(PyObject *, size + 1);
    if (all == NULL) {
        return PyErr_NoMemory();
    }
    all[0] = callee;
    memcpy(all + 1, arguments, (size_t)size * sizeof(PyObject *));
    PyObject *result = PyObject_Vectorcall(function, all, (size_t)count + 1, names);
    if (all != few) {
        PyMem_Free(all);
    }
    return result;
}

/* ---- names */

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
