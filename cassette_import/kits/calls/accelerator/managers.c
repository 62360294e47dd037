/* Managers: what stands between a body and what `async with` enters and leaves, as
   `followed_bodies._AsyncManager`. */

#include "accelerator.h"

typedef struct {
    PyObject_HEAD
    Body *body;
    PyObject *manager;
} Manager;

/* What a class or its bases hold under a name, not bound. NULL, perhaps with an exception: they hold nothing. */
static PyObject *
held_by_type(PyTypeObject *type, PyObject *name)
{
    PyObject *bases = type->tp_mro;
    for (Py_ssize_t number = 0; bases != NULL && number < PyTuple_GET_SIZE(bases); number++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(bases, number);
#if PY_VERSION_HEX >= 0x030C0000
        PyObject *namespace = PyType_GetDict(base);
#else
        PyObject *namespace = Py_XNewRef(base->tp_dict);
#endif
        PyObject *found = namespace == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(namespace, name));
        Py_XDECREF(namespace);
        if (found != NULL || PyErr_Occurred()) {
            return found;
        }
    }
    return NULL;
}

/* Call a special method as the interpreter finds it: on the type, bound to the manager. */
static PyObject *
call_special(PyObject *manager, PyObject *name, PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *method = held_by_type(Py_TYPE(manager), name);
    if (method == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetObject(PyExc_AttributeError, name);
        }
        return NULL;
    }
    descrgetfunc bind = Py_TYPE(method)->tp_descr_get;
    if (bind != NULL) {
        Py_SETREF(method, bind(method, manager, (PyObject *)Py_TYPE(manager)));
    }
    PyObject *result = method == NULL ? NULL : PyObject_Vectorcall(method, arguments, (size_t)count, NULL);
    Py_XDECREF(method);
    return result;
}

PyObject *
async_manager_of(Body *body, PyObject *manager)
{
    State *state = body->recorder->state;
    PyObject *enters = held_by_type(Py_TYPE(manager), state->aenter);
    PyObject *exits = enters == NULL ? NULL : held_by_type(Py_TYPE(manager), state->aexit);
    int can = enters != NULL && exits != NULL;
    Py_XDECREF(enters);
    Py_XDECREF(exits);
    if (!can) { /* the interpreter raises the error */
        return PyErr_Occurred() ? NULL : Py_NewRef(manager);
    }
    Manager *self = (Manager *)state->manager_type->tp_alloc(state->manager_type, 0);
    if (self != NULL) {
        self->body = (Body *)Py_NewRef(body);
        self->manager = Py_NewRef(manager);
    }
    return (PyObject *)self;
}

/* What `await` waits for: an awaitable of the manager's. */
static PyObject *
awaited_of(Manager *self, PyObject *awaitable)
{
    PyObject *made = awaitable == NULL ? NULL : awaited(self->body, awaitable, 0);
    Py_XDECREF(awaitable);
    return made;
}

static PyObject *
manager_enter(Manager *self, PyObject *Py_UNUSED(nothing))
{
    return awaited_of(self, call_special(self->manager, self->body->recorder->state->aenter, NULL, 0));
}

static PyObject *
manager_exit(Manager *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (!goes_on(self->body)) {
        return NULL;
    }
    return awaited_of(self, call_special(self->manager, self->body->recorder->state->aexit, arguments, count));
}

static int
manager_traverse(Manager *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->body);
    Py_VISIT(self->manager);
    return 0;
}

static void
manager_dealloc(Manager *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->manager);
    Py_CLEAR(self->body);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef manager_methods[] = {
    {"__aenter__", (PyCFunction)manager_enter, METH_NOARGS, NULL},
    {"__aexit__", (PyCFunction)(void (*)(void))manager_exit, METH_FASTCALL, NULL},
    {NULL},
};

static PyType_Slot manager_slots[] = {
    {Py_tp_dealloc, manager_dealloc},
    {Py_tp_traverse, manager_traverse},
    {Py_tp_methods, manager_methods},
    {0, NULL},
};

PyType_Spec manager_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.Manager",
    .basicsize = sizeof(Manager),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = manager_slots,
};
