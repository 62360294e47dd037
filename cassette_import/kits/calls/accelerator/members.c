/* Members of enumerations as short text: what `Enum.__repr__` returns. */

#include "formatter.h"

#define MOST_PARTS 10

/* Whether the `repr` of a value calls no code of the program. */
static int
has_plain_repr(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyTuple_Type) {
        int is_plain = PyTuple_GET_SIZE(value) <= MOST_PARTS;
        for (Py_ssize_t number = 0; is_plain && number < PyTuple_GET_SIZE(value); number++) {
            PyObject *item = PyTuple_GET_ITEM(value, number);
            is_plain = Py_TYPE(item) != &PyTuple_Type && has_plain_repr(item);
        }
        return is_plain;
    }
    return type == &PyLong_Type || type == &PyUnicode_Type || type == &PyFloat_Type || type == &PyBool_Type ||
           type == &PyBytes_Type || value == Py_None;
}

static int
put_parts(Formatter *self, Text *text, const ClassForm *form, PyObject *name, PyObject *value)
{
    if (name == NULL || value == NULL || !is_ascii(name) || !has_plain_repr(value) ||
        (form->anonymous != NULL && (PyObject *)Py_TYPE(value) != form->anonymous)) {
        return LEFT;
    }
    PyObject *shown = PyObject_Repr(value);
    if (shown == NULL) {
        PyErr_Clear(); /* Python tries it again */
        return LEFT;
    }
    size_t start = text->length;
    int status = LEFT;
    if (is_ascii(shown)) {
        int is_added = add_string(text, form->head) == 0 && add_string(text, name) == 0 && ADD(text, ": ") == 0 &&
                       add_string(text, shown) == 0 && ADD(text, ">") == 0;
        status = is_added ? SHOWN : FAILED;
    }
    Py_DECREF(shown);
    for (size_t place = start; status == SHOWN && place < text->length; place++) {
        if (text->bytes[place] < ' ' || text->bytes[place] == 0x7f) {
            status = LEFT;
        }
    }
    if (status == SHOWN) {
        cut(text, start, self->width);
    }
    return status;
}

int
put_member(Formatter *self, Text *text, const ClassForm *form, PyObject *value)
{
    if (form->namespace == NULL) {
        return LEFT;
    }
    PyObject *namespace = Py_TYPE(form->namespace)->tp_descr_get(form->namespace, value, (PyObject *)form->type);
    if (namespace == NULL || !PyDict_CheckExact(namespace)) {
        PyErr_Clear();
        Py_XDECREF(namespace);
        return LEFT;
    }
    PyObject *name = stored_item(namespace, form->slot_names[0]), *of_member = stored_item(namespace, form->slot_names[1]);
    int status = put_parts(self, text, form, name, of_member);
    Py_XDECREF(name);
    Py_XDECREF(of_member);
    Py_DECREF(namespace);
    return status;
}
