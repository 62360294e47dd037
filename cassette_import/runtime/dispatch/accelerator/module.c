/* The module `_dispatch`. */

#include "dispatch.h"

Py_ssize_t
offset_of_slot(PyTypeObject *type, const char *name)
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

/* configure(active, activation_type, hook_activation, flags, name_of_metadata) */
static PyObject *
configure(PyObject *module, PyObject *arguments)
{
    State *state = PyModule_GetState(module);
    PyObject *active, *type, *hook_activation, *flags, *name_of_metadata;
    if (!PyArg_ParseTuple(arguments, "O!O!OO!U:configure", &PyContextVar_Type, &active, &PyType_Type, &type,
                          &hook_activation, &PyDict_Type, &flags, &name_of_metadata)) {
        return NULL;
    }
    state->of_contexts = offset_of_slot((PyTypeObject *)type, "contexts");
    state->of_hook_activations = offset_of_slot((PyTypeObject *)type, "hook_activations");
    state->of_variant = offset_of_slot((PyTypeObject *)type, "variant");
    state->of_family = offset_of_slot((PyTypeObject *)type, "family");
    state->of_roots = offset_of_slot((PyTypeObject *)type, "roots");
    if (state->of_roots < 0 || state->of_contexts < 0 || state->of_hook_activations < 0 || state->of_variant < 0 ||
        state->of_family < 0 || find_variables(state) < 0) {
        return NULL;
    }
    Py_XSETREF(state->active, Py_NewRef(active));
    Py_XSETREF(state->activation_type, (PyTypeObject *)Py_NewRef(type));
    Py_XSETREF(state->hook_activation, Py_NewRef(hook_activation));
    Py_XSETREF(state->flags, Py_NewRef(flags));
    state->may_have_metadata = 1;
    Py_XSETREF(state->name_of_metadata, Py_NewRef(name_of_metadata));
    return PyBool_FromLong(state->of_variables != 0);
}

#define VERSION 15 /* see `_VERSION` in the module in Python that loads this one */

/* Note that a variant has got other hooks. */
static PyObject *
note_change(PyObject *module, PyObject *Py_UNUSED(nothing))
{
    ((State *)PyModule_GetState(module))->version++;
    Py_RETURN_NONE;
}

/* Note that the flag has been made true which says that there is metadata. */
static PyObject *
note_metadata(PyObject *module, PyObject *Py_UNUSED(nothing))
{
    ((State *)PyModule_GetState(module))->may_have_metadata = 1;
    Py_RETURN_NONE;
}

static PyObject *
filter_observers_of_thread(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    if (filter_observers() < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"unobserved", (PyCFunction)(void (*)(void))unobserved, METH_FASTCALL, NULL},
    {"filter_observers", filter_observers_of_thread, METH_NOARGS, NULL},
    {"set_in_frames", set_in_frames, METH_VARARGS, NULL},
    {"configure", configure, METH_VARARGS, NULL},
    {"suspend", (PyCFunction)(void (*)(void))suspend, METH_FASTCALL, NULL},
    {"resume", resume, METH_O, NULL},
    {"note_metadata", note_metadata, METH_NOARGS, NULL},
    {"note_change", note_change, METH_NOARGS, NULL},
    {"set_code", (PyCFunction)(void (*)(void))set_code, METH_FASTCALL, NULL},
    {"specialised_calls", specialised_calls, METH_O, NULL},
    {"tell_of_texts", tell_of_texts, METH_VARARGS, NULL},
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

/* The types of the module, and where its state has them. */
static const struct {
    PyType_Spec *spec;
    size_t offset;
} types[] = {
    {&suspension_spec, offsetof(State, suspension_type)},
    {&suspended_call_spec, offsetof(State, suspended_call_type)},
    {&overload_event_spec, offsetof(State, overload_event_type)},
    {&accelerated_event_spec, offsetof(State, accelerated_event_type)},
    {&event_callee_spec, offsetof(State, event_callee_type)},
    {&every_callee_spec, offsetof(State, every_callee_type)},
    {&learn_spec, offsetof(State, learn_type)},
    {&splitting_call_spec, offsetof(State, splitting_call_type)},
    {&plain_callee_spec, offsetof(State, plain_callee_type)},
    {&plain_interception_spec, offsetof(State, plain_interception_type)},
    {&plain_site_spec, offsetof(State, plain_site_type)},
    {&interception_spec, offsetof(State, interception_type)},
    {&steps_spec, offsetof(State, steps_type)},
    {&async_steps_spec, offsetof(State, async_steps_type)},
    {&async_loop_spec, offsetof(State, async_loop_type)},
    {&loop_spec, offsetof(State, loop_type)},
    {&unpacking_spec, offsetof(State, unpacking_type)},
    {&unless_tagged_spec, offsetof(State, unless_tagged_type)},
    {&entry_method_spec, offsetof(State, entry_method_type)},
    {&instances_spec, offsetof(State, instances_type)},
    {&families_spec, offsetof(State, families_type)},
    {&watched_source_spec, offsetof(State, watched_source_type)},
    {&watched_callback_spec, offsetof(State, watched_callback_type)},
    {&no_targets_spec, offsetof(State, no_targets_type)},
};

#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))
#define TYPE_OF(state, number) (*(PyTypeObject **)((char *)(state) + types[number].offset))

static int
execute(PyObject *module)
{
    State *state = PyModule_GetState(module);
    if (PyModule_AddIntConstant(module, "VERSION", VERSION) < 0) {
        return -1;
    }
    for (size_t number = 0; number < TYPE_COUNT; number++) {
        if ((TYPE_OF(state, number) = add_type(module, types[number].spec)) == NULL) {
            return -1;
        }
    }
    PyObject *wrapper = PyObject_GetAttrString(Py_None, "__init__");
    if (wrapper == NULL) {
        return -1;
    }
    state->method_wrapper_type = (PyTypeObject *)Py_NewRef(Py_TYPE(wrapper));
    Py_DECREF(wrapper);
    return add_known_switches(state);
}

static int
traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    Py_VISIT(state->active);
    Py_VISIT(state->hook_activation);
    Py_VISIT(state->activation_type);
    for (size_t number = 0; number < TYPE_COUNT; number++) {
        Py_VISIT(TYPE_OF(state, number));
    }
    Py_VISIT(state->method_wrapper_type);
    Py_VISIT(state->checked_type);
    Py_VISIT(state->flags);
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
    for (size_t number = 0; number < TYPE_COUNT; number++) {
        Py_CLEAR(TYPE_OF(state, number));
    }
    Py_CLEAR(state->method_wrapper_type);
    Py_CLEAR(state->checked_type);
    Py_CLEAR(state->flags);
    Py_CLEAR(state->name_of_metadata);
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
