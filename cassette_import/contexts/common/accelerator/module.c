/* The module `_accelerator`. Knows its types; must not know what they do. */

#include "text.h"

double usual_clock(void);

static PyObject *
configure(PyObject *module, PyObject *arguments)
{
    State *state = PyModule_GetState(module);
    PyObject *active, *awaited, *delegated, *not_followed, *of_callees;
    if (!PyArg_ParseTuple(arguments, "O!OOOO!:configure", &PyContextVar_Type, &active, &awaited, &delegated,
                          &not_followed, &PyTuple_Type, &of_callees) ||
        set_callees(&state->callees, of_callees) < 0) {
        return NULL;
    }
    Py_XSETREF(state->active, Py_NewRef(active));
    Py_XSETREF(state->awaited, Py_NewRef(awaited));
    Py_XSETREF(state->delegated, Py_NewRef(delegated));
    Py_XSETREF(state->not_followed, Py_NewRef(not_followed));
    Py_RETURN_NONE;
}

static PyObject *
clock_reading(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    return PyFloat_FromDouble(usual_clock());
}

#define VERSION 2 /* see `_VERSION` in the module in Python that loads this one */

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

static int
execute(PyObject *module)
{
    State *state = PyModule_GetState(module);
    if (PyModule_AddIntConstant(module, "VERSION", VERSION) < 0) {
        return -1;
    }
    if ((state->node_type = add_type(module, &node_spec)) == NULL ||
        (state->tree_type = add_type(module, &tree_spec)) == NULL ||
        (state->recorder_type = add_type(module, &recorder_spec)) == NULL ||
        (state->delegate_type = add_type(module, &delegate_spec)) == NULL ||
        (state->edge_type = add_type(module, &edge_spec)) == NULL ||
        (state->tally_type = add_type(module, &tally_spec)) == NULL ||
        (state->type_recorder_type = add_type(module, &type_recorder_spec)) == NULL ||
        (state->call_stack_type = add_type(module, &call_stack_spec)) == NULL ||
        (state->trace_recorder_type = add_type(module, &trace_recorder_spec)) == NULL ||
        (state->formatter_type = add_type(module, &formatter_spec)) == NULL ||
        (state->block_file_type = add_type(module, &block_file_spec)) == NULL ||
        (state->tree_lines_type = add_type(module, &tree_lines_spec)) == NULL ||
        (state->result = PyUnicode_InternFromString("result")) == NULL ||
        (state->recorder = PyUnicode_InternFromString("recorder")) == NULL ||
        (state->contexts = PyUnicode_InternFromString("contexts")) == NULL) {
        return -1;
    }
    if ((state->body_type = add_type(module, &body_spec)) == NULL) {
        return -1;
    }
    PyTypeObject *counter_type = add_type(module, &counter_spec);
    Py_XDECREF(counter_type); /* the module has it */
    return counter_type == NULL ? -1 : 0;
}

static int
traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    Py_VISIT(state->node_type);
    Py_VISIT(state->tree_type);
    Py_VISIT(state->recorder_type);
    Py_VISIT(state->body_type);
    Py_VISIT(state->not_followed);
    Py_VISIT(state->delegate_type);
    Py_VISIT(state->edge_type);
    Py_VISIT(state->tally_type);
    Py_VISIT(state->type_recorder_type);
    Py_VISIT(state->call_stack_type);
    Py_VISIT(state->trace_recorder_type);
    Py_VISIT(state->formatter_type);
    Py_VISIT(state->block_file_type);
    Py_VISIT(state->tree_lines_type);
    Py_VISIT(state->active);
    Py_VISIT(state->awaited);
    Py_VISIT(state->delegated);
    return traverse_callees(&state->callees, visit, arg);
}

static int
clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->node_type);
    Py_CLEAR(state->tree_type);
    Py_CLEAR(state->recorder_type);
    Py_CLEAR(state->body_type);
    Py_CLEAR(state->not_followed);
    Py_CLEAR(state->delegate_type);
    Py_CLEAR(state->edge_type);
    Py_CLEAR(state->tally_type);
    Py_CLEAR(state->type_recorder_type);
    Py_CLEAR(state->call_stack_type);
    Py_CLEAR(state->trace_recorder_type);
    Py_CLEAR(state->formatter_type);
    Py_CLEAR(state->block_file_type);
    Py_CLEAR(state->tree_lines_type);
    Py_CLEAR(state->active);
    Py_CLEAR(state->awaited);
    Py_CLEAR(state->delegated);
    Py_CLEAR(state->contexts);
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
