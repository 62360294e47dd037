/* The module `_dispatch`. Knows its types; must not know what they do. */

#include "dispatch.h"

/* The offset of a slot of a class; -1 with an exception. */
static Py_ssize_t
offset_of(PyTypeObject *type, const char *name)
{
    PyObject *found = PyObject_GetAttrString((PyObject *)type, name);
    if (found == NULL) {
        return -1;
    }
    Py_ssize_t offset = -1;
    if (Py_IS_TYPE(found, &PyMemberDescr_Type)) {
        offset = ((PyMemberDescrObject *)found)->d_member->offset;
    }
    else {
        PyErr_Format(PyExc_TypeError, "%s is no slot", name);
    }
    Py_DECREF(found);
    return offset;
}

/* configure(active, activation_type, hook_activation) */
static PyObject *
configure(PyObject *module, PyObject *arguments)
{
    State *state = PyModule_GetState(module);
    PyObject *active, *type, *hook_activation;
    if (!PyArg_ParseTuple(arguments, "O!O!O:configure", &PyContextVar_Type, &active, &PyType_Type, &type,
                          &hook_activation)) {
        return NULL;
    }
    state->of_contexts = offset_of((PyTypeObject *)type, "contexts");
    state->of_hook_activations = offset_of((PyTypeObject *)type, "hook_activations");
    state->of_variant = offset_of((PyTypeObject *)type, "variant");
    if (state->of_contexts < 0 || state->of_hook_activations < 0 || state->of_variant < 0 ||
        find_variables(state) < 0) {
        return NULL;
    }
    Py_XSETREF(state->active, Py_NewRef(active));
    Py_XSETREF(state->activation_type, (PyTypeObject *)Py_NewRef(type));
    Py_XSETREF(state->hook_activation, Py_NewRef(hook_activation));
    return PyBool_FromLong(state->of_variables != 0);
}

#define VERSION 2 /* see `_VERSION` in the module in Python that loads this one */

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

static PyMethodDef methods[] = {
    {"configure", configure, METH_VARARGS, NULL},
    {"suspend", (PyCFunction)(void (*)(void))suspend, METH_FASTCALL, NULL},
    {"resume", resume, METH_O, NULL},
    {NULL},
};

static PyTypeObject *
add_type(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddType(module, type) < 0) {
        Py_CLEAR(type);
    }
    return type;
}

static int
execute(PyObject *module)
{
    State *state = PyModule_GetState(module);
    if (PyModule_AddIntConstant(module, "VERSION", VERSION) < 0) {
        return -1;
    }
    if ((state->suspension_type = add_type(module, &suspension_spec)) == NULL ||
        (state->suspended_call_type = add_type(module, &suspended_call_spec)) == NULL ||
        (state->overload_event_type = add_type(module, &overload_event_spec)) == NULL ||
        (state->learn_type = add_type(module, &learn_spec)) == NULL ||
        (state->splitting_call_type = add_type(module, &splitting_call_spec)) == NULL) {
        return -1;
    }
    return add_known_switches(state);
}

static int
traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    Py_VISIT(state->active);
    Py_VISIT(state->hook_activation);
    Py_VISIT(state->activation_type);
    Py_VISIT(state->suspension_type);
    Py_VISIT(state->suspended_call_type);
    Py_VISIT(state->overload_event_type);
    Py_VISIT(state->learn_type);
    Py_VISIT(state->splitting_call_type);
    int result = traverse_known_methods(state, visit, arg);
    return result != 0 ? result : traverse_known_switches(state, visit, arg);
}

static int
clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    clear_known_switches(state);
    clear_known_methods(state);
    Py_CLEAR(state->active);
    Py_CLEAR(state->hook_activation);
    Py_CLEAR(state->activation_type);
    Py_CLEAR(state->suspension_type);
    Py_CLEAR(state->suspended_call_type);
    Py_CLEAR(state->overload_event_type);
    Py_CLEAR(state->learn_type);
    Py_CLEAR(state->splitting_call_type);
    return 0;
}

static void
destroy(void *module)
{
    clear(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_MOD_PER_INTERPRETER_GIL_SUPPORTED
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_dispatch",
    .m_size = sizeof(State),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = destroy,
};

PyMODINIT_FUNC
PyInit__dispatch(void)
{
    return PyModuleDef_Init(&definition);
}
