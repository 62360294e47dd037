/* `callee in NoTargets(functions, names)`: whether a callee is certainly no target, as call sites ask that call a
   local name: a Python function, a method that is one, or a method of a builtin type.

   `functions` are the Python functions among the targets, `names` the names of those in C. */

#include "dispatch.h"

#define KNOWN_DEFINITIONS 64 /* a power of two */
#define BITS 2048             /* a power of two */

typedef struct {
    PyMethodDef *definition; /* NULL: the entry is empty */
    char is_none;            /* whether its name is none of a target */
} KnownDefinition;

typedef struct {
    PyObject_HEAD
    PyObject *functions, *names; /* frozen sets */
    KnownDefinition known[KNOWN_DEFINITIONS];
    unsigned char may_contain[BITS / 8]; /* a bit for the addresses of functions: one that is not set is none of theirs */
} NoTargets;

static size_t
bit_of(PyObject *function)
{
    size_t address = (size_t)function;
    return ((address >> 4) ^ (address >> 15)) & (BITS - 1);
}

/* Whether a method is one of those that a type of the interpreter has had from the beginning: its definition lasts. */
static int
is_method_of_type(PyTypeObject *type, PyMethodDef *definition, PyObject *name)
{
    if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        return 0;
    }
    PyObject *found = PyObject_GetAttr((PyObject *)type, name);
    if (found == NULL) {
        PyErr_Clear();
        return 0;
    }
    int result = Py_IS_TYPE(found, &PyMethodDescr_Type) && ((PyMethodDescrObject *)found)->d_method == definition;
    Py_DECREF(found);
    return result;
}

static int
is_other_builtin(NoTargets *self, PyObject *callee)
{
    PyObject *receiver = PyCFunction_GET_SELF(callee);
    if (receiver == NULL || PyModule_Check(receiver) || PyType_Check(receiver)) {
        return 0;
    }
    PyMethodDef *definition = ((PyCFunctionObject *)callee)->m_ml;
    KnownDefinition *known = &self->known[((size_t)definition >> 5) & (KNOWN_DEFINITIONS - 1)];
    if (known->definition == definition) {
        return known->is_none;
    }
    PyObject *name = PyUnicode_FromString(definition->ml_name);
    if (name == NULL) {
        return -1;
    }
    int result = 0;
    if (is_method_of_type(Py_TYPE(receiver), definition, name)) {
        int is_target = PySet_Contains(self->names, name);
        result = is_target < 0 ? -1 : !is_target;
        if (result >= 0) {
            known->definition = definition;
            known->is_none = (char)result;
        }
    }
    Py_DECREF(name);
    return result;
}

static int
contains(NoTargets *self, PyObject *callee)
{
    PyObject *function = Py_IS_TYPE(callee, &PyMethod_Type) ? PyMethod_GET_FUNCTION(callee) : callee;
    if (Py_IS_TYPE(function, &PyFunction_Type)) {
        size_t bit = bit_of(function);
        if (!(self->may_contain[bit / 8] & 1 << bit % 8)) {
            return 1;
        }
        int found = PySet_Contains(self->functions, function);
        return found < 0 ? -1 : !found;
    }
    return Py_IS_TYPE(callee, &PyCFunction_Type) ? is_other_builtin(self, callee) : 0;
}

/* NoTargets(functions, names) */
static PyObject *
new_container(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    PyObject *functions, *names;
    if (!PyArg_ParseTuple(arguments, "O!O!:NoTargets", &PyFrozenSet_Type, &functions, &PyFrozenSet_Type, &names)) {
        return NULL;
    }
    PyObject *each = PySequence_Tuple(functions);
    NoTargets *self = each == NULL ? NULL : (NoTargets *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->functions = Py_NewRef(functions);
        self->names = Py_NewRef(names);
        for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(each); number++) {
            size_t bit = bit_of(PyTuple_GET_ITEM(each, number));
            self->may_contain[bit / 8] |= (unsigned char)(1 << bit % 8);
        }
    }
    Py_XDECREF(each);
    return (PyObject *)self;
}

static int
traverse_container(NoTargets *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->functions);
    Py_VISIT(self->names);
    return 0;
}

/* The sets stay: they are asked without a test whether there are any. */
static void
free_container(NoTargets *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->functions);
    Py_CLEAR(self->names);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot slots_of_container[] = {
    {Py_tp_new, new_container},
    {Py_sq_contains, contains},
    {Py_tp_traverse, traverse_container},
    {Py_tp_dealloc, free_container},
    {0, NULL},
};

PyType_Spec no_targets_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.NoTargets",
    .basicsize = sizeof(NoTargets),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots_of_container,
};
