/* Splitting: a hook gets the function and the receiver of a callee that is a bound method in C, or a bound method.

   `SplittingCall(hook, slowly, leading)` does what `slowly` does, which `bound_hooks` makes in Python. That is
   called for all other callees, and for a method of a type that is met for the first time. */

#include "dispatch.h"

#define FEW 8

typedef struct {
    CALLABLE_HEAD
    PyObject *hook, *slowly;
    Py_ssize_t leading; /* the number of arguments before the callee */
} SplittingCall;

static KnownMethod *
known_method(State *state, PyMethodDef *definition, PyTypeObject *owner)
{
    size_t hash = ((size_t)definition >> 4) ^ ((size_t)owner >> 6);
    return &state->methods[hash & (KNOWN_METHODS - 1)];
}

/* Keep the function of a method, if the type of its receiver is one that stays as it is. */
static void
keep_method(State *state, PyMethodDef *definition, PyTypeObject *owner, PyObject *function)
{
    unsigned long flags = PyType_GetFlags(owner);
    if ((flags & Py_TPFLAGS_HEAPTYPE) && !(flags & Py_TPFLAGS_IMMUTABLETYPE)) {
        return;
    }
    KnownMethod *known = known_method(state, definition, owner);
    PyObject *old_owner = (PyObject *)known->owner, *old_function = known->function;
    known->definition = definition;
    known->owner = (PyTypeObject *)Py_NewRef(owner);
    known->function = Py_NewRef(function);
    Py_XDECREF(old_owner);
    Py_XDECREF(old_function);
}

/* Call the hook with the function and the receiver in place of the callee; return the function. */
static PyObject *
call_hook(SplittingCall *self, PyObject *function, PyObject *receiver, PyObject *const *arguments, Py_ssize_t count,
          PyObject *names)
{
    Py_ssize_t leading = self->leading, rest = count - leading - 1, named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    PyObject *few[FEW + 2], **values = few;
    if (count + named > FEW && (values = PyMem_New(PyObject *, count + named + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    Py_INCREF(function); /* the hook may drop what has it */
    memcpy(values, arguments, (size_t)leading * sizeof(PyObject *));
    values[leading] = function;
    values[leading + 1] = receiver;
    memcpy(values + leading + 2, arguments + leading + 1, (size_t)(rest + named) * sizeof(PyObject *));
    PyObject *result = PyObject_Vectorcall(self->hook, values, (size_t)count + 1, names);
    if (values != few) {
        PyMem_Free(values);
    }
    if (result == NULL) {
        Py_DECREF(function);
        return NULL;
    }
    Py_DECREF(result);
    return function;
}

static PyObject *
call(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    SplittingCall *self = (SplittingCall *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flagged);
    PyObject *callee = count > self->leading ? arguments[self->leading] : NULL;
    if (callee == NULL) {
        return PyObject_Vectorcall(self->slowly, arguments, flagged, names);
    }
    if (Py_IS_TYPE(callee, &PyMethod_Type) && Py_IS_TYPE(PyMethod_GET_FUNCTION(callee), &PyFunction_Type)) {
        return call_hook(self, PyMethod_GET_FUNCTION(callee), PyMethod_GET_SELF(callee), arguments, count, names);
    }
    if (!Py_IS_TYPE(callee, &PyCFunction_Type) && !Py_IS_TYPE(callee, &PyCMethod_Type)) {
        return PyObject_Vectorcall(self->slowly, arguments, flagged, names);
    }
    PyObject *receiver = PyCFunction_GET_SELF(callee);
    if (receiver == NULL || receiver == Py_None || PyModule_Check(receiver) || PyType_Check(receiver)) {
        return PyObject_Vectorcall(self->slowly, arguments, flagged, names);
    }
    PyMethodDef *definition = ((PyCFunctionObject *)callee)->m_ml;
    PyTypeObject *owner = Py_TYPE(receiver);
    KnownMethod *known = known_method(self->state, definition, owner);
    if (known->definition == definition && known->owner == owner) {
        return call_hook(self, known->function, receiver, arguments, count, names);
    }
    PyObject *function = PyObject_Vectorcall(self->slowly, arguments, flagged, names);
    if (function != NULL && function != callee) {
        keep_method(self->state, definition, owner, function);
    }
    return function;
}

int
traverse_known_methods(State *state, visitproc visit, void *arg)
{
    for (int number = 0; number < KNOWN_METHODS; number++) {
        Py_VISIT(state->methods[number].owner);
        Py_VISIT(state->methods[number].function);
    }
    return 0;
}

void
clear_known_methods(State *state)
{
    for (int number = 0; number < KNOWN_METHODS; number++) {
        state->methods[number].definition = NULL;
        Py_CLEAR(state->methods[number].owner);
        Py_CLEAR(state->methods[number].function);
    }
}

/* SplittingCall(hook, slowly, leading) */
static PyObject *
new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *hook, *slowly;
    Py_ssize_t leading;
    if (!PyArg_ParseTuple(arguments, "OOn:SplittingCall", &hook, &slowly, &leading)) {
        return NULL;
    }
    SplittingCall *self = (SplittingCall *)new_callable(type, call);
    if (self == NULL) {
        return NULL;
    }
    self->hook = Py_NewRef(hook);
    self->slowly = Py_NewRef(slowly);
    self->leading = leading;
    return (PyObject *)self;
}

static int
traverse(SplittingCall *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->hook);
    Py_VISIT(self->slowly);
    return 0;
}

static int
clear(SplittingCall *self)
{
    Py_CLEAR(self->hook);
    Py_CLEAR(self->slowly);
    return 0;
}

CALLABLE_TYPE(splitting_call_spec, SplittingCall, "SplittingCall", new, traverse, clear, no_methods);
