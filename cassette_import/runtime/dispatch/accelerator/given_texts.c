/* The texts, and syntax trees, that are given to `compile`, `exec` and `eval`: a function in Python is told of them,
   with the code that they are compiled to.

   The three builtins stay the objects that they are. What the interpreter calls for them is replaced, so nothing
   costs more until one of them is called. */

#include "dispatch.h"

enum { COMPILE, EXEC, EVAL, COUNT };

typedef PyObject *(*Function)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
typedef PyObject *(*FunctionWithoutKeywords)(PyObject *, PyObject *const *, Py_ssize_t);

/* Those of the process: subinterpreters share them, so the first interpreter that asks is the one that is told. */
static PyCFunction originals[COUNT];
static int has_keywords[COUNT];
static PyObject *tell, *modules, *name_of_module, *type_of_trees;
static PyInterpreterState *told;

static PyObject *
call_original(int which, PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    void (*original)(void) = (void (*)(void))originals[which];
    return has_keywords[which] ? ((Function)original)(module, arguments, count, names)
                               : ((FunctionWithoutKeywords)original)(module, arguments, count);
}

/* Whether globals are those of one of the modules. */
static int
is_of_modules(PyObject *globals)
{
    PyObject *name = globals == NULL || !PyDict_CheckExact(globals) ? NULL : PyDict_GetItemWithError(globals, name_of_module);
    int found = name == NULL || !PyUnicode_CheckExact(name) ? 0 : PySet_Contains(modules, name);
#if PY_VERSION_HEX < 0x030C0000
    /* The current frame may be a hidden one, which executes an event. The function in Python finds the frame behind it. */
    if (found == 0 && name != NULL && PyUnicode_CheckExact(name)) {
        PyObject *own = PyUnicode_FromString("cassette_import.runtime.");
        found = own == NULL ? -1 : (int)PyUnicode_Tailmatch(name, own, 0, PY_SSIZE_T_MAX, -1);
        Py_XDECREF(own);
    }
#endif
    if (found < 0 || PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return found;
}

/* What Python makes of a text and its code, or of a text alone if there is no code yet; a new reference, NULL without an exception. */
static PyObject *
answer(PyObject *text, PyObject *code, PyObject *globals)
{
    if (tell == NULL || PyInterpreterState_Get() != told || !(is_of_modules(PyEval_GetGlobals()) || is_of_modules(globals))) {
        return NULL;
    }
    PyObject *found = PyObject_CallFunctionObjArgs(tell, text, code == NULL ? Py_None : code, globals, NULL);
    if (found == NULL) {
        PyErr_Clear();
    }
    return found;
}

static PyObject *
compile_text(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    PyObject *code = call_original(COMPILE, module, arguments, count, names);
    if (code == NULL || count < 1 || !PyCode_Check(code) ||
        !(PyUnicode_CheckExact(arguments[0]) || PyBytes_CheckExact(arguments[0]) ||
          Py_IS_TYPE(arguments[0], (PyTypeObject *)type_of_trees))) {
        return code;
    }
    PyObject *found = answer(arguments[0], code, Py_None);
    if (found != NULL && PyCode_Check(found)) {
        Py_SETREF(code, Py_NewRef(found));
    }
    Py_XDECREF(found);
    return code;
}

/* The code that is executed in place of a text; NULL without an exception to execute the text itself. */
static PyObject *
code_of(PyObject *module, PyObject *text, PyObject *globals, const char *mode)
{
    PyObject *is_wanted = answer(text, NULL, globals);
    int wants = is_wanted == Py_True;
    Py_XDECREF(is_wanted);
    if (!wants) {
        return NULL;
    }
    PyObject *filename = PyUnicode_InternFromString("<string>"), *kind = PyUnicode_InternFromString(mode);
    PyObject *arguments[] = {text, filename, kind};
    PyObject *code = filename == NULL || kind == NULL ? NULL : call_original(COMPILE, module, arguments, 3, NULL);
    Py_XDECREF(filename);
    Py_XDECREF(kind);
    if (code == NULL) {
        PyErr_Clear(); /* the text itself raises it again, as it would have */
        return NULL;
    }
    PyObject *found = answer(text, code, globals);
    if (found != NULL && PyCode_Check(found)) {
        Py_SETREF(code, Py_NewRef(found));
    }
    Py_XDECREF(found);
    return code;
}

static PyObject *
execute_text(int which, PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    PyObject *code = NULL;
    if (count >= 1 && count <= 3 && PyUnicode_CheckExact(arguments[0])) {
        /* `eval` takes away the spaces before an expression */
        PyObject *text = which == EXEC ? Py_NewRef(arguments[0]) : PyObject_CallMethod(arguments[0], "lstrip", "s", " \t");
        if (text == NULL) {
            return NULL;
        }
        code = code_of(module, text, count > 1 ? arguments[1] : Py_None, which == EXEC ? "exec" : "eval");
        Py_DECREF(text);
    }
    if (code == NULL) {
        return call_original(which, module, arguments, count, names);
    }
    Py_ssize_t total = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    PyObject **changed = PyMem_New(PyObject *, total);
    PyObject *result = NULL;
    if (changed == NULL) {
        PyErr_NoMemory();
    }
    else {
        memcpy(changed, arguments, total * sizeof(PyObject *));
        changed[0] = code;
        result = call_original(which, module, changed, count, names);
    }
    PyMem_Free(changed);
    Py_DECREF(code);
    return result;
}

static PyObject *
exec_text(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    return execute_text(EXEC, module, arguments, count, names);
}

static PyObject *
eval_text(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    return execute_text(EVAL, module, arguments, count, names);
}

/* `eval` before Python 3.13, which takes no keywords and so is passed no names. */
static PyObject *
eval_text_without_keywords(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    return execute_text(EVAL, module, arguments, count, NULL);
}

/* tell_of_texts(function, modules): return whether it is told, from now on, of the texts of these modules. */
PyObject *
tell_of_texts(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *function, *names;
    if (!PyArg_ParseTuple(arguments, "OO!:tell_of_texts", &function, &PySet_Type, &names)) {
        return NULL;
    }
    static const struct {
        const char *name;
        Function with_keywords;
        FunctionWithoutKeywords without_keywords;
    } replacements[COUNT] = {
        {"compile", compile_text, NULL}, {"exec", exec_text, NULL}, {"eval", eval_text, eval_text_without_keywords}};
    if (tell != NULL) {
        Py_RETURN_FALSE; /* another interpreter of the process is told */
    }
    PyObject *trees = PyImport_ImportModule("_ast");
    Py_XSETREF(type_of_trees, trees == NULL ? NULL : PyObject_GetAttrString(trees, "Module"));
    Py_XDECREF(trees);
    Py_XSETREF(name_of_module, PyUnicode_InternFromString("__name__"));
    if (type_of_trees == NULL || name_of_module == NULL) {
        return NULL;
    }
    PyMethodDef *found[COUNT];
    PyObject *builtins = PyEval_GetBuiltins();
    for (int which = 0; which < COUNT; which++) {
        PyObject *builtin = PyDict_GetItemString(builtins, replacements[which].name);
        if (builtin == NULL || !PyCFunction_CheckExact(builtin)) {
            Py_RETURN_FALSE; /* the program has replaced it */
        }
        found[which] = ((PyCFunctionObject *)builtin)->m_ml;
        int flags = found[which]->ml_flags & ~METH_STATIC;
        has_keywords[which] = flags == (METH_FASTCALL | METH_KEYWORDS);
        if (!has_keywords[which] && (flags != METH_FASTCALL || replacements[which].without_keywords == NULL)) {
            Py_RETURN_FALSE;
        }
    }
    for (int which = 0; which < COUNT; which++) {
        originals[which] = found[which]->ml_meth;
        found[which]->ml_meth = has_keywords[which] ? (PyCFunction)(void (*)(void))replacements[which].with_keywords
                                                    : (PyCFunction)(void (*)(void))replacements[which].without_keywords;
    }
    modules = Py_NewRef(names);
    tell = Py_NewRef(function);
    told = PyInterpreterState_Get();
    Py_RETURN_TRUE;
}
