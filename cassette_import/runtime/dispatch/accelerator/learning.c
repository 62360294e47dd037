/* Learning call sites: what a call site calls whose guard does not hold.

   `Learn(slowly, given_up, targets, held)` does what `slowly` does, the `learn` that `guards` makes in Python, for
   the usual callees: methods in C and targets that have been seen before, and Python functions at call sites that
   have no guard any more. All others it passes on. */

#include "dispatch.h"

#define KNOWN_CALLEES 128 /* a power of two */

typedef struct {
    void *definition; /* of a method: its `PyMethodDef`; else the callee itself. NULL: the entry is empty */
    PyObject *owner;  /* of a method: the type of its receiver; else the callee itself */
    PyObject *event;  /* what is called instead; NULL: the callee is no target */
    char is_bound;    /* whether the event gets the receiver, or the callee, as its first argument */
    char takes_receiver;
} KnownCallee;

typedef struct {
    CALLABLE_HEAD
    PyObject *slowly, *given_up, *targets, *held;
    char is_only_variant; /* whether no other variant may be active where code runs that other variants have, too */
    KnownCallee known[KNOWN_CALLEES];
} Learn;

static KnownCallee *
entry_of(Learn *self, void *definition, void *owner)
{
    size_t hash = ((size_t)definition >> 4) ^ ((size_t)owner >> 6);
    return &self->known[hash & (KNOWN_CALLEES - 1)];
}

/* The entry of a callee, filled or not; NULL if there can be none. */
static KnownCallee *
find(Learn *self, PyObject *callee, void **definition, PyObject **owner)
{
    PyTypeObject *type = Py_TYPE(callee);
    *definition = *owner = callee;
    if (type == &PyCFunction_Type || type == &PyCMethod_Type) {
        PyObject *receiver = PyCFunction_GET_SELF(callee);
        if (receiver != NULL && !PyModule_CheckExact(receiver)) {
            if (PyType_Check(receiver) || receiver == Py_None) {
                return NULL;
            }
            *definition = ((PyCFunctionObject *)callee)->m_ml;
            *owner = (PyObject *)Py_TYPE(receiver);
        }
    }
    return entry_of(self, *definition, *owner);
}

static int
is_target(Learn *self, PyObject *function)
{
    PyObject *number = PyLong_FromVoidPtr(function);
    if (number == NULL) {
        return -1;
    }
    int result = PySet_Contains(self->targets, number);
    Py_DECREF(number);
    return result;
}

/* Whether a call site with this guard may call an event itself. Flags follow the kind of the guard: "k" says that the call
   has keywords, "a" that another variant may be active. */
static int
may_call_event(Learn *self, PyObject *key)
{
    Py_UCS4 flag = PyUnicode_READ_CHAR(key, 1);
    return flag == '.' || (flag == 'a' && self->is_only_variant && PyUnicode_READ_CHAR(key, 2) == '.');
}

/* learn(callee, key, receiver=None, cleared=None) */
static PyObject *
call(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    Learn *self = (Learn *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flagged);
    if (count < 2 || names != NULL || !PyUnicode_Check(arguments[1]) || PyUnicode_GET_LENGTH(arguments[1]) < 3) {
        return PyObject_Vectorcall(self->slowly, arguments, flagged, names);
    }
    PyObject *callee = arguments[0], *key = arguments[1], *owner;
    void *definition;
    KnownCallee *known = find(self, callee, &definition, &owner);
    int is_known = known != NULL && known->definition == definition && known->owner == owner;
    if (is_known && known->event != NULL && may_call_event(self, key)) {
        if (!known->is_bound) {
            return Py_NewRef(known->event);
        }
        return PyMethod_New(known->event, known->takes_receiver ? PyCFunction_GET_SELF(callee) : callee);
    }
    if (count > 2 && PyUnicode_READ_CHAR(key, 0) == 'm') { /* it may have no temporaries, and so have compared nothing */
        PyObject *held = PyDict_GetItemWithError(self->held, key);
        if (held == callee) {
            return Py_NewRef(callee);
        }
        if (held == NULL && PyErr_Occurred()) {
            return NULL;
        }
    }
    PyObject *function = Py_IS_TYPE(callee, &PyMethod_Type) ? PyMethod_GET_FUNCTION(callee) : callee;
    int is_plain = is_known ? known->event == NULL : 0;
    if (is_plain || Py_IS_TYPE(function, &PyFunction_Type)) {
        int is_given_up = PyDict_Contains(self->given_up, key);
        if (is_given_up > 0 && !is_plain) {
            int found = is_target(self, function);
            is_plain = found == 0;
            is_given_up = found < 0 ? -1 : is_given_up;
        }
        if (is_given_up < 0) {
            return NULL;
        }
        if (is_given_up && is_plain) {
            return Py_NewRef(callee);
        }
    }
    return PyObject_Vectorcall(self->slowly, arguments, flagged, names);
}

static void
drop(KnownCallee *known)
{
    PyObject *owner = known->owner, *event = known->event;
    memset(known, 0, sizeof(KnownCallee));
    Py_XDECREF(owner);
    Py_XDECREF(event);
}

/* remember(callee, event, binds): `event` is called instead of it, with the receiver or the callee as its first argument
   if `binds` is "receiver" or "callee". The callee is no target if `event` is None. */
static PyObject *
remember(Learn *self, PyObject *arguments)
{
    PyObject *callee, *event, *owner;
    const char *binds;
    void *definition;
    if (!PyArg_ParseTuple(arguments, "OOz:remember", &callee, &event, &binds)) {
        return NULL;
    }
    KnownCallee *known = find(self, callee, &definition, &owner);
    if (known == NULL) {
        Py_RETURN_NONE;
    }
    drop(known);
    known->definition = definition;
    known->owner = Py_NewRef(owner);
    known->event = event == Py_None ? NULL : Py_NewRef(event);
    known->is_bound = binds != NULL;
    known->takes_receiver = binds != NULL && strcmp(binds, "receiver") == 0;
    Py_RETURN_NONE;
}

static PyObject *
forget_all(Learn *self, PyObject *Py_UNUSED(nothing))
{
    for (int number = 0; number < KNOWN_CALLEES; number++) {
        drop(&self->known[number]);
    }
    Py_RETURN_NONE;
}

/* Learn(slowly, given_up, targets, held) */
static PyObject *
new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *slowly, *given_up, *targets, *held;
    if (!PyArg_ParseTuple(arguments, "OO!O!O!:Learn", &slowly, &PyDict_Type, &given_up, &PyFrozenSet_Type, &targets,
                          &PyDict_Type, &held)) {
        return NULL;
    }
    Learn *self = (Learn *)new_callable(type, call);
    if (self != NULL) {
        self->slowly = Py_NewRef(slowly);
        self->given_up = Py_NewRef(given_up);
        self->targets = Py_NewRef(targets);
        self->held = Py_NewRef(held);
    }
    return (PyObject *)self;
}

static int
traverse(Learn *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->slowly);
    Py_VISIT(self->given_up);
    Py_VISIT(self->targets);
    Py_VISIT(self->held);
    for (int number = 0; number < KNOWN_CALLEES; number++) {
        Py_VISIT(self->known[number].owner);
        Py_VISIT(self->known[number].event);
    }
    return 0;
}

static int
clear(Learn *self)
{
    Py_CLEAR(self->slowly);
    Py_CLEAR(self->given_up);
    Py_CLEAR(self->targets);
    Py_CLEAR(self->held);
    for (int number = 0; number < KNOWN_CALLEES; number++) {
        drop(&self->known[number]);
    }
    return 0;
}

static PyMethodDef methods[] = {
    {"remember", (PyCFunction)remember, METH_VARARGS, NULL},
    {"forget", (PyCFunction)forget_all, METH_NOARGS, NULL},
    {NULL},
};

CALLABLE_TYPE(learn_spec, Learn, "Learn", new, traverse, clear, methods,
              {"is_only_variant", T_BOOL, offsetof(Learn, is_only_variant), 0, NULL},);
