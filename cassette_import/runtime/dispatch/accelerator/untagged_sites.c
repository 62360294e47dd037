/* What else call sites call while nothing is tagged: what replaces a guard that was given up, and helpers that
   return their last argument. */

#include "dispatch.h"

/* ---- call sites that have given up their guard */

typedef struct {
    CALLABLE_HEAD
    PyObject *slowly;
    PlainInterception *interception;
    PyObject *given_up;   /* the keys of guards that have been given up */
    PyObject *cell, *name; /* what says that events have to be carried out */
} PlainSite;

/* plain(callee, key=None, receiver=None): what to call while nothing is tagged */
static PyObject *
call_of_site(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    PlainSite *self = (PlainSite *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flagged);
    if (count > 0 && names == NULL) {
        int is_given_up = count > 1 ? PyDict_Contains(self->given_up, arguments[1]) : 0;
        if (is_given_up < 0) {
            return NULL;
        }
        int may_be_known = !PyFunction_Check(arguments[0]) && !PyMethod_Check(arguments[0]);
        if ((is_given_up || may_be_known) && PyDict_GetItemWithError(self->cell, self->name) == Py_False) {
            PyObject *made = plain_callee(self->interception, arguments[0], !is_given_up);
            if (made != Py_None) {
                return made;
            }
        }
    }
    return PyObject_Vectorcall(self->slowly, arguments, flagged, names);
}

/* PlainSite(slowly, interception, given_up, cell, name) */
static PyObject *
new_site(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *slowly, *interception, *given_up, *cell, *name, *module = PyType_GetModule(type);
    if (module == NULL) {
        return NULL;
    }
    State *state = PyModule_GetState(module);
    if (!PyArg_ParseTuple(arguments, "OO!O!O!U:PlainSite", &slowly, state->plain_interception_type, &interception,
                          &PyDict_Type, &given_up, &PyDict_Type, &cell, &name)) {
        return NULL;
    }
    PlainSite *self = (PlainSite *)new_callable(type, call_of_site);
    if (self != NULL) {
        self->slowly = Py_NewRef(slowly);
        self->interception = (PlainInterception *)Py_NewRef(interception);
        self->given_up = Py_NewRef(given_up);
        self->cell = Py_NewRef(cell);
        self->name = Py_NewRef(name);
    }
    return (PyObject *)self;
}

static int
traverse_site(PlainSite *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->slowly);
    Py_VISIT(self->interception);
    Py_VISIT(self->given_up);
    Py_VISIT(self->cell);
    return 0;
}

static int
clear_site(PlainSite *self)
{
    Py_CLEAR(self->slowly);
    Py_CLEAR(self->interception);
    Py_CLEAR(self->given_up);
    Py_CLEAR(self->cell);
    Py_CLEAR(self->name);
    return 0;
}

CALLABLE_TYPE(plain_site_spec, PlainSite, "PlainSite", new_site, traverse_site, clear_site, no_methods);

/* ---- helpers that return their last argument as long as there is no metadata */

typedef struct {
    CALLABLE_HEAD
    PyObject *slowly;
} UnlessTagged;

static PyObject *
unless_tagged(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    UnlessTagged *self = (UnlessTagged *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flagged);
    if (count > 0 && names == NULL && !metadata_exists(self->state)) {
        return Py_NewRef(arguments[count - 1]);
    }
    return PyObject_Vectorcall(self->slowly, arguments, flagged, names);
}

/* UnlessTagged(slowly) */
static PyObject *
new_helper(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *slowly;
    if (!PyArg_ParseTuple(arguments, "O:UnlessTagged", &slowly)) {
        return NULL;
    }
    UnlessTagged *self = (UnlessTagged *)new_callable(type, unless_tagged);
    if (self != NULL) {
        self->slowly = Py_NewRef(slowly);
    }
    return (PyObject *)self;
}

static int
traverse_helper(UnlessTagged *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->slowly);
    return 0;
}

static int
clear_helper(UnlessTagged *self)
{
    Py_CLEAR(self->slowly);
    return 0;
}

CALLABLE_TYPE(unless_tagged_spec, UnlessTagged, "UnlessTagged", new_helper, traverse_helper, clear_helper, no_methods);
