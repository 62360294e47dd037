/* `value in InstancesOf(types)`: whether a value has one of some types, as guards of call sites ask.

   A set of types would have to be asked with `type(value)`, and would hash it. */

#include "dispatch.h"

typedef struct {
    PyObject_HEAD
    PyObject *types; /* a tuple */
} InstancesOf;

static int
is_instance(InstancesOf *self, PyObject *value)
{
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(self->types); number++) {
        if (PyTuple_GET_ITEM(self->types, number) == (PyObject *)Py_TYPE(value)) {
            return 1;
        }
    }
    return 0;
}

/* InstancesOf(types) */
static PyObject *
new_instances(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    PyObject *types;
    if (!PyArg_ParseTuple(arguments, "O!:InstancesOf", &PyTuple_Type, &types)) {
        return NULL;
    }
    InstancesOf *self = (InstancesOf *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->types = Py_NewRef(types);
    }
    return (PyObject *)self;
}

static int
traverse_instances(InstancesOf *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->types);
    return 0;
}

/* The types stay: they are asked for without a test whether there are any. */
static void
free_instances(InstancesOf *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->types);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef members_of_instances[] = {
    {"types", T_OBJECT_EX, offsetof(InstancesOf, types), READONLY, NULL},
    {NULL},
};

static PyType_Slot slots_of_instances[] = {
    {Py_tp_new, new_instances},
    {Py_sq_contains, is_instance},
    {Py_tp_members, members_of_instances},
    {Py_tp_traverse, traverse_instances},
    {Py_tp_dealloc, free_instances},
    {0, NULL},
};

PyType_Spec instances_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.InstancesOf",
    .basicsize = sizeof(InstancesOf),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots_of_instances,
};
