/* The fields of a dataclass: whether they are what they were. They may be changed in place, of which the class has
   no sign. */

#include "formatter.h"

static const char *const slots_of_field[] = {"name", "repr", "_field_type"};

#define SLOTS 3
#define PARTS (2 + SLOTS) /* the key, the field, and what it has in its slots */

/* What a field has in a slot, borrowed; NULL: nothing, or it is no slot. */
static PyObject *
in_slot(PyObject *field, PyObject *slot)
{
    if (!Py_IS_TYPE(slot, &PyMemberDescr_Type) || PyDescr_TYPE(slot) != Py_TYPE(field)) {
        return NULL;
    }
    return *(PyObject **)((char *)field + ((PyMemberDescrObject *)slot)->d_member->offset);
}

/* The slots, then the parts of each field. */
PyObject *
known_fields(PyObject *every)
{
    if (!PyDict_CheckExact(every)) {
        PyErr_SetString(PyExc_TypeError, "fields must be in a dictionary");
        return NULL;
    }
    PyObject *known = PyTuple_New(SLOTS + PARTS * PyDict_GET_SIZE(every)), *key, *field;
    Py_ssize_t place = 0, next = SLOTS;
    while (known != NULL && PyDict_Next(every, &place, &key, &field)) {
        for (int number = 0; number < SLOTS; number++) {
            PyObject *slot = PyTuple_GET_ITEM(known, number);
            if (slot == NULL) {
                slot = PyObject_GetAttrString((PyObject *)Py_TYPE(field), slots_of_field[number]);
                if (slot == NULL) {
                    Py_DECREF(known);
                    return NULL;
                }
                PyTuple_SET_ITEM(known, number, slot);
            }
            PyTuple_SET_ITEM(known, next + 2 + number, Py_NewRef(in_slot(field, slot) ? in_slot(field, slot) : Py_None));
        }
        PyTuple_SET_ITEM(known, next, Py_NewRef(key));
        PyTuple_SET_ITEM(known, next + 1, Py_NewRef(field));
        next += PARTS;
    }
    for (int number = 0; known != NULL && number < SLOTS; number++) {
        if (PyTuple_GET_ITEM(known, number) == NULL) { /* there is no field */
            PyTuple_SET_ITEM(known, number, Py_NewRef(Py_None));
        }
    }
    return known;
}

int
are_fields_known(PyObject *every, PyObject *known)
{
    PyObject *key, *field;
    Py_ssize_t place = 0, next = SLOTS, size = PyTuple_GET_SIZE(known);
    if (SLOTS + PARTS * PyDict_GET_SIZE(every) != size) {
        return 0;
    }
    while (PyDict_Next(every, &place, &key, &field)) {
        if (next + PARTS > size || PyTuple_GET_ITEM(known, next) != key || PyTuple_GET_ITEM(known, next + 1) != field) {
            return 0;
        }
        for (int number = 0; number < SLOTS; number++) {
            if (in_slot(field, PyTuple_GET_ITEM(known, number)) != PyTuple_GET_ITEM(known, next + 2 + number)) {
                return 0;
            }
        }
        next += PARTS;
    }
    return 1;
}
