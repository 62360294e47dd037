/* The module `_accelerator`. */

#include "clock.h"
#include "text.h"

static PyObject *
configure(PyObject *module, PyObject *arguments)
{
    State *state = PyModule_GetState(module);
    PyObject *active, *contexts, *not_followed, *of_callees;
    if (!PyArg_ParseTuple(arguments, "O!O!OO!:configure", &PyContextVar_Type, &active, &PyMemberDescr_Type, &contexts,
                          &not_followed, &PyTuple_Type, &of_callees) ||
        set_callees(&state->callees, of_callees) < 0) {
        return NULL;
    }
    Py_XSETREF(state->active, Py_NewRef(active));
    Py_XSETREF(state->contexts, Py_NewRef(contexts));
    Py_XSETREF(state->not_followed, Py_NewRef(not_followed));
    Py_RETURN_NONE;
}

static PyObject *
clock_reading(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    return PyFloat_FromDouble(usual_clock());
}

#define VERSION 5 /* see `_VERSION` in the module in Python that loads this one */

static PyMethodDef methods[] = {
    {"configure", configure, METH_VARARGS, NULL},
    {"clock", clock_reading, METH_NOARGS, NULL},
    {"begin_call", (PyCFunction)(void (*)(void))begin_call, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"end_call", (PyCFunction)(void (*)(void))end_call_of_trace, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"record_types", (PyCFunction)(void (*)(void))record_types, METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL},
};

/* Add a type; return a reference to it. */
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
    {&node_spec, offsetof(State, node_type)},
    {&tree_spec, offsetof(State, tree_type)},
    {&recorder_spec, offsetof(State, recorder_type)},
    {&body_spec, offsetof(State, body_type)},
    {&delegate_spec, offsetof(State, delegate_type)},
    {&items_spec, offsetof(State, items_type)},
    {&async_items_spec, offsetof(State, async_items_type)},
    {&expression_spec, offsetof(State, expression_type)},
    {&manager_spec, offsetof(State, manager_type)},
    {&edge_spec, offsetof(State, edge_type)},
    {&counter_spec, offsetof(State, counter_type)},
    {&tally_spec, offsetof(State, tally_type)},
    {&type_recorder_spec, offsetof(State, type_recorder_type)},
    {&call_stack_spec, offsetof(State, call_stack_type)},
    {&trace_recorder_spec, offsetof(State, trace_recorder_type)},
    {&formatter_spec, offsetof(State, formatter_type)},
    {&block_file_spec, offsetof(State, block_file_type)},
    {&tree_lines_spec, offsetof(State, tree_lines_type)},
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
    if ((state->result = PyUnicode_InternFromString("result")) == NULL ||
        (state->aenter = PyUnicode_InternFromString("__aenter__")) == NULL ||
        (state->aexit = PyUnicode_InternFromString("__aexit__")) == NULL ||
        (state->gi_code = PyUnicode_InternFromString("gi_code")) == NULL ||
        (state->cr_await = PyUnicode_InternFromString("cr_await")) == NULL ||
        (state->throw_ = PyUnicode_InternFromString("throw")) == NULL ||
        (state->recorder = PyUnicode_InternFromString("recorder")) == NULL) {
        return -1;
    }
    return 0;
}

static int
traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    for (size_t number = 0; number < TYPE_COUNT; number++) {
        Py_VISIT(TYPE_OF(state, number));
    }
    Py_VISIT(state->not_followed);
    Py_VISIT(state->active);
    Py_VISIT(state->contexts);
    return traverse_callees(&state->callees, visit, arg);
}

static int
clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    for (size_t number = 0; number < TYPE_COUNT; number++) {
        Py_CLEAR(TYPE_OF(state, number));
    }
    Py_CLEAR(state->not_followed);
    Py_CLEAR(state->active);
    Py_CLEAR(state->contexts);
    Py_CLEAR(state->aenter);
    Py_CLEAR(state->aexit);
    Py_CLEAR(state->gi_code);
    Py_CLEAR(state->cr_await);
    Py_CLEAR(state->throw_);
    Py_CLEAR(state->recorder);
    Py_CLEAR(state->result);
    clear_callees(&state->callees);
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
    .m_name = "_accelerator",
    .m_size = sizeof(State),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = destroy,
};

PyMODINIT_FUNC
PyInit__accelerator(void)
{
    return PyModuleDef_Init(&definition);
}
