/* The code of functions, replaced so that the interpreter goes on specialising calls of them.

   A specialised call site compares the version of the function that it calls. From 3.13 on, a function has the
   version of the code that its `def` made it of, and none any more once its code is assigned: its calls stay
   unspecialised. Here it gets the version of its new code, which is what it would have if its `def` had been
   compiled to that code. So a version still stands for one code object and its number of defaults. Before 3.13,
   the interpreter gives such a function a new version itself. */

#include "dispatch.h"

#define HAS_VERSIONS_OF_CODE (PY_VERSION_HEX >= 0x030D0000 && PY_VERSION_HEX < 0x03100000)

#if HAS_VERSIONS_OF_CODE
#define FIRST_VERSION 2 /* 0: none so far; 1: none any more (3.14); no code has the version 1 */

static void
take_version_of_code(PyFunctionObject *function)
{
    uint32_t version = ((PyCodeObject *)function->func_code)->co_version; /* 0: the interpreter has run out of them */
    if (version >= FIRST_VERSION) {
        function->func_version = version;
    }
}
#endif

static int
is_function(PyObject *value)
{
    if (!PyFunction_Check(value)) {
        PyErr_Format(PyExc_TypeError, "a function is needed, not %R", value);
        return 0;
    }
    return 1;
}

/* set_code(function, code): a function without a version, for example since the program has assigned its code or its
   defaults, stays without. */
PyObject *
set_code(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "set_code(function, code)");
        return NULL;
    }
    if (!is_function(arguments[0])) {
        return NULL;
    }
#if HAS_VERSIONS_OF_CODE
    PyFunctionObject *function = (PyFunctionObject *)arguments[0];
    int has_version = function->func_version >= FIRST_VERSION;
#endif
    if (PyObject_SetAttrString(arguments[0], "__code__", arguments[1]) < 0) {
        return NULL;
    }
#if HAS_VERSIONS_OF_CODE
    if (has_version && function->func_version < FIRST_VERSION) {
        take_version_of_code(function);
    }
#endif
    Py_RETURN_NONE;
}

/* specialised_calls(function): the same for a function that its caller has just made, which no `def` has. */
PyObject *
specialised_calls(PyObject *Py_UNUSED(module), PyObject *function)
{
    if (!is_function(function)) {
        return NULL;
    }
#if HAS_VERSIONS_OF_CODE
    if (((PyFunctionObject *)function)->func_version < FIRST_VERSION) {
        take_version_of_code((PyFunctionObject *)function);
    }
#endif
    return Py_NewRef(function);
}
