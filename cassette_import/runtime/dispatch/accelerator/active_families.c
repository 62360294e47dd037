/* `family in ActiveFamilies()`: whether a family of variants is that of the active contexts, as entries of
   functions ask. */

#include "dispatch.h"

typedef struct {
    PyObject_HEAD
    State *state;
    PyObject *module; /* it keeps the state */
} ActiveFamilies;

static int
is_active(ActiveFamilies *self, PyObject *family)
{
    PyObject *activation = active_here(self->state);
    if (activation == NULL) {
        return -1;
    }
    int result = SLOT(activation, self->state->of_family) == family;
    Py_DECREF(activation);
    return result;
}

/* ActiveFamilies() */
static PyObject *
new_families(PyTypeObject *type, PyObject *Py_UNUSED(arguments), PyObject *Py_UNUSED(keywords))
{
    PyObject *module = PyType_GetModule(type);
    ActiveFamilies *self = module == NULL ? NULL : (ActiveFamilies *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->module = Py_NewRef(module);
        self->state = PyModule_GetState(module);
    }
    return (PyObject *)self;
}

static int
traverse_families(ActiveFamilies *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->module);
    return 0;
}

/* The module stays: it is asked for without a test whether there is one. */
static void
free_families(ActiveFamilies *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->module);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot slots_of_families[] = {
    {Py_tp_new, new_families},
    {Py_sq_contains, is_active},
    {Py_tp_traverse, traverse_families},
    {Py_tp_dealloc, free_families},
    {0, NULL},
};

PyType_Spec families_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.ActiveFamilies",
    .basicsize = sizeof(ActiveFamilies),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots_of_families,
};
