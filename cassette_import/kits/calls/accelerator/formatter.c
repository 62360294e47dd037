/* Formatter: shows values, and names functions as `display` does. */

#include "formatter.h"

/* ---- names of functions */

/* Whether the name of a function is always the same, so that it is looked up once. */
static int
has_lasting_name(PyObject *function)
{
    PyTypeObject *type = Py_TYPE(function);
    if (type == &PyCFunction_Type) {
        PyObject *owner = PyCFunction_GET_SELF(function);
        return owner != NULL && PyModule_CheckExact(owner);
    }
    if (type == &PyMethodDescr_Type || type == &PyWrapperDescr_Type || type == &PyClassMethodDescr_Type) {
        return !PyType_HasFeature(PyDescr_TYPE(function), Py_TPFLAGS_HEAPTYPE);
    }
    return PyType_Check(function) && !PyType_HasFeature((PyTypeObject *)function, Py_TPFLAGS_HEAPTYPE);
}

int
add_function(Formatter *self, Text *text, PyObject *function)
{
    if (Py_TYPE(function) == &PyFunction_Type && ((PyFunctionObject *)function)->func_module != self->other_module &&
        is_printable_ascii(((PyFunctionObject *)function)->func_qualname)) {
        return add_string(text, ((PyFunctionObject *)function)->func_qualname);
    }
    KnownName *known = &self->names[((uintptr_t)function >> 4 ^ (uintptr_t)function >> 12) & (NAMES - 1)];
    if (known->function == function) {
        return add_string(text, known->name);
    }
    PyObject *name = PyObject_CallOneArg(self->display, function);
    if (name == NULL) {
        return -1;
    }
    if (!PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "a function must be named by a text");
        Py_DECREF(name);
        return -1;
    }
    int status = add_string(text, name);
    if (has_lasting_name(function)) {
        KnownName old = *known;
        *known = (KnownName){Py_NewRef(function), Py_NewRef(name)};
        Py_XDECREF(old.function);
        Py_XDECREF(old.name);
    }
    Py_DECREF(name);
    return status;
}

/* ---- the type */

static PyObject *
formatter_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *show, *display, *find_form, *other_module, *show_part = NULL;
    Py_ssize_t width;
    if (!PyArg_ParseTuple(arguments, "nOOOO|O:Formatter", &width, &show, &find_form, &display, &other_module,
                          &show_part)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Formatter *self = (Formatter *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->width = width < 8 ? 8 : width;
    self->show = Py_NewRef(show);
    self->show_part = Py_XNewRef(show_part);
    self->find_form = Py_NewRef(find_form);
    self->display = Py_NewRef(display);
    self->other_module = Py_NewRef(other_module);
    self->forms = PyMem_Calloc(CLASSES, sizeof(ClassForm));
    self->names = PyMem_Calloc(NAMES, sizeof(KnownName));
    if (self->forms == NULL || self->names == NULL) {
        PyErr_NoMemory();
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static PyObject *
formatter_call(Formatter *self, PyObject *arguments, PyObject *keywords)
{
    PyObject *value;
    if (!PyArg_ParseTuple(arguments, "O:Formatter", &value)) {
        return NULL;
    }
    Text text;
    begin_text(&text);
    PyObject *shown =
        add_value(self, &text, value) < 0 ? NULL : PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.length, NULL);
    end_text(&text);
    return shown;
}

static PyObject *
formatter_name(Formatter *self, PyObject *function)
{
    Text text;
    begin_text(&text);
    PyObject *name = add_function(self, &text, function) < 0
        ? NULL : PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.length, NULL);
    end_text(&text);
    return name;
}

static int
formatter_traverse(Formatter *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->show);
    Py_VISIT(self->show_part);
    Py_VISIT(self->find_form);
    Py_VISIT(self->display);
    for (int number = 0; self->names != NULL && number < NAMES; number++) {
        Py_VISIT(self->names[number].function);
    }
    return 0;
}

static int
formatter_clear(Formatter *self)
{
    for (int number = 0; self->names != NULL && number < NAMES; number++) {
        Py_CLEAR(self->names[number].function);
        Py_CLEAR(self->names[number].name);
    }
    clear_forms(self);
    return 0;
}

static void
formatter_dealloc(Formatter *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    formatter_clear(self);
    Py_CLEAR(self->show);
    Py_CLEAR(self->show_part);
    Py_CLEAR(self->find_form);
    Py_CLEAR(self->display);
    Py_CLEAR(self->other_module);
    PyMem_Free(self->forms);
    PyMem_Free(self->names);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef formatter_methods[] = {
    {"name", (PyCFunction)formatter_name, METH_O, NULL},
    {NULL},
};

static PyType_Slot formatter_slots[] = {
    {Py_tp_new, formatter_new},
    {Py_tp_call, formatter_call},
    {Py_tp_dealloc, formatter_dealloc},
    {Py_tp_traverse, formatter_traverse},
    {Py_tp_clear, formatter_clear},
    {Py_tp_methods, formatter_methods},
    {0, NULL},
};

PyType_Spec formatter_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.Formatter",
    .basicsize = sizeof(Formatter),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = formatter_slots,
};
