/* Kinds of callees: which of them are called plainly while nothing is tagged, and how.

   The function behind a callee decides: whether it is a target, and which rule it has. Python finds it for callees
   of other kinds than those here. */

#include "dispatch.h"

enum { FAILED = -1, PYTHON_DECIDES, IS_PLAIN, FUNCTION_DECIDES };

/* Whether a function in C with this name has no rule and is no target. Takes the reference; NULL is an exception. */
static int
is_usual_name(PlainInterception *self, PyObject *name)
{
    if (name == NULL) {
        return -1;
    }
    int found = PySet_Contains(self->ruled_names, name);
    if (found == 0) {
        found = PySet_Contains(self->names_of_targets, name);
    }
    Py_DECREF(name);
    return found < 0 ? -1 : !found;
}

static int
is_immutable(PyTypeObject *type)
{
    return PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE);
}

/* The function of a method-wrapper, such as `super().__init__` that reaches `object`. A class that may be changed can have
   another function under that name: Python looks it up. */
static int
of_method_wrapper(PlainInterception *self, PyObject *wrapper)
{
    PyObject *owner = PyObject_GetAttrString(wrapper, "__objclass__");
    if (owner == NULL) {
        return FAILED;
    }
    int is_fixed = PyType_Check(owner) && is_immutable((PyTypeObject *)owner);
    Py_DECREF(owner);
    int is_usual = is_fixed ? is_usual_name(self, PyObject_GetAttrString(wrapper, "__name__")) : 0;
    return is_usual < 0 ? FAILED : is_usual ? IS_PLAIN : PYTHON_DECIDES;
}

/* The function of a bound method in C, whose type no program changes. */
static int
of_method_in_c(PlainInterception *self, PyObject *callee, PyTypeObject *owner, PyObject **function)
{
    PyMethodDef *definition = ((PyCFunctionObject *)callee)->m_ml;
    PyObject *name = PyUnicode_FromString(definition->ml_name);
    int is_usual = is_usual_name(self, Py_XNewRef(name));
    int kind = is_usual < 0 ? FAILED : is_usual ? IS_PLAIN : PYTHON_DECIDES;
    if (kind == PYTHON_DECIDES && is_immutable(owner)) {
        PyObject *found = PyObject_GetAttr((PyObject *)owner, name);
        if (found == NULL) {
            PyErr_Clear();
        }
        else if (Py_IS_TYPE(found, &PyMethodDescr_Type) && ((PyMethodDescrObject *)found)->d_method == definition) {
            *function = found;
            kind = FUNCTION_DECIDES;
        }
        else {
            Py_DECREF(found);
        }
    }
    Py_XDECREF(name);
    return kind;
}

static int
of_function_in_c(PlainInterception *self, PyObject *callee, PyObject **function)
{
    PyObject *receiver = PyCFunction_GET_SELF(callee);
    if (receiver != NULL && !PyModule_CheckExact(receiver)) {
        return of_method_in_c(self, callee, Py_TYPE(receiver), function);
    }
    *function = Py_NewRef(callee);
    return FUNCTION_DECIDES;
}

/* The class of a parametrised one, such as `list[int]`: a class that no program changes, so its call runs no other code. */
static int
of_parametrised(PyObject *callee, PyObject **function)
{
    PyObject *origin = PyObject_GetAttrString(callee, "__origin__");
    if (origin == NULL) {
        return FAILED;
    }
    if (PyType_CheckExact(origin) && is_immutable((PyTypeObject *)origin)) {
        *function = origin;
        return FUNCTION_DECIDES;
    }
    Py_DECREF(origin);
    return PYTHON_DECIDES;
}

/* Who decides about a callee; the function behind it is a new reference. */
static int
kind_of_callee(PlainInterception *self, PyObject *callee, PyObject **function)
{
    PyTypeObject *type = Py_TYPE(callee);
    *function = NULL;
    if (type == &PyMethod_Type) {
        PyObject *behind = PyMethod_GET_FUNCTION(callee);
        if (!Py_IS_TYPE(behind, &PyFunction_Type)) {
            return PYTHON_DECIDES;
        }
        *function = Py_NewRef(behind);
        return FUNCTION_DECIDES;
    }
    if (type == &PyCFunction_Type || type == &PyCMethod_Type) {
        return of_function_in_c(self, callee, function);
    }
    if (type == self->state->method_wrapper_type) {
        return of_method_wrapper(self, callee);
    }
    if (type == &Py_GenericAliasType) {
        return of_parametrised(callee, function);
    }
    if (type == &PyFunction_Type || type == &PyMethodDescr_Type || type == &PyWrapperDescr_Type ||
        (PyType_Check(callee) && type->tp_call == PyType_Type.tp_call)) { /* a metaclass may have another `__call__` */
        *function = Py_NewRef(callee);
        return FUNCTION_DECIDES;
    }
    return PYTHON_DECIDES;
}

/* What is known of a callee. */
typedef struct {
    int is_plain;         /* whether it is called plainly, at least with some arguments */
    int is_bound;         /* whether it is made for each call, as bound methods are */
    PyObject *condition;  /* on the arguments; NULL: the plain call does the same with any; None: with none */
    PyObject *watched;    /* how it is watched; NULL: it is not */
    PyObject *completion; /* what claims its results; NULL: what claims all others */
} Known;

/* Look a function up in the tables. */
static int
look_up(PlainInterception *self, PyObject *function, Known *known)
{
    PyObject *number = PyLong_FromVoidPtr(function);
    int is_other = number == NULL ? -1 : PySet_Contains(self->readers, number);
    if (is_other == 0) {
        is_other = PySet_Contains(self->targets, number);
    }
    if (is_other == 0) {
        known->condition = PyDict_GetItemWithError(self->ruled, number);
        known->watched = known->condition == NULL ? NULL : PyDict_GetItemWithError(self->leaves, number);
    }
    Py_XDECREF(number);
    if (is_other < 0 || PyErr_Occurred()) {
        return -1;
    }
    if (known->condition == self->any_arguments) {
        known->condition = NULL;
    }
    known->is_plain = !is_other && (known->condition != Py_None || known->watched != NULL);
    return 0;
}

/* Look up what completes the calls of a callee of this type. */
static int
find_completion(PlainInterception *self, PyTypeObject *type, Known *known)
{
    PyObject *number = PyLong_FromVoidPtr(type);
    known->completion = number == NULL ? NULL : PyDict_GetItemWithError(self->completions, number);
    Py_XDECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

static int
find_out(PlainInterception *self, PyObject *callee, Known *known)
{
    PyObject *function;
    *known = (Known){0};
    int kind = kind_of_callee(self, callee, &function);
    if (kind == PYTHON_DECIDES) {
        if (find_completion(self, Py_TYPE(callee), known) < 0) {
            return -1;
        }
        return known->completion == NULL ? 0 : look_up(self, callee, known);
    }
    if (kind != FUNCTION_DECIDES) {
        known->is_plain = kind == IS_PLAIN;
        return kind == FAILED ? -1 : 0;
    }
    known->is_bound = function != callee;
    int found = look_up(self, function, known);
    Py_DECREF(function);
    if (Py_IS_TYPE(callee, &Py_GenericAliasType)) {
        known->watched = NULL; /* what watches a class does not know its parametrised form */
        known->is_plain = known->is_plain && known->condition != Py_None;
    }
    return found;
}

PyObject *
plain_callee(PlainInterception *self, PyObject *callee, int may_be_learned)
{
    PyObject **place = &self->known[((size_t)callee >> 5) & (KNOWN_PRIMITIVES - 1)];
    if (self->is_call && is_plain_callee_of(*place, callee)) {
        return Py_NewRef(*place);
    }
    Known known;
    if (find_out(self, callee, &known) < 0) {
        return NULL;
    }
    int is_special = known.condition != NULL || known.watched != NULL || known.completion != NULL;
    if (!known.is_plain || (may_be_learned && !is_special)) {
        return Py_None;
    }
    PyObject *made = make_plain_callee(self, callee, known.condition, known.watched, known.completion);
    if (self->is_call && known.watched != NULL && made != NULL && !known.is_bound) {
        Py_XSETREF(*place, Py_NewRef(made));
    }
    return made;
}
