/* Objects of the program's classes as short text: the class and some attributes, or the fields of a dataclass.

   How the instances of a class are shown is found once, by `Shortener.form`, and again when the class has changed. */

#include "formatter.h"

/* ---- forms */

static unsigned int
version_of(PyTypeObject *type)
{
#if PY_VERSION_HEX < 0x030C0000
    return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
#else
    if (type->tp_version_tag == 0) {
        PyUnstable_Type_AssignVersionTag(type);
    }
    return type->tp_version_tag;
#endif
}

static PyObject *
name_of_class(PyTypeObject *type)
{
    return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ? ((PyHeapTypeObject *)type)->ht_name : Py_None;
}

static PyObject *
qualified_name_of_class(PyTypeObject *type)
{
    return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ? ((PyHeapTypeObject *)type)->ht_qualname : Py_None;
}

/* Take what Python has found: `None`, a type, or `(head, anonymous, namespace, slots, fields, every)`. Returns whether it
   is of that form. */
static int
take_form(ClassForm *form, PyObject *found)
{
    PyObject *head = NULL, *anonymous = NULL, *namespace = NULL, *slots = NULL, *fields = NULL, *every = NULL;
    if (found == (PyObject *)&PyList_Type || found == (PyObject *)&PyTuple_Type ||
        found == (PyObject *)&PyDict_Type) {
        form->base = (PyTypeObject *)found;
        return 1;
    }
    if (found != Py_None && !PyTuple_Check(found)) {
        PyErr_SetString(PyExc_TypeError, "a form must be a tuple");
        return 0;
    }
    if (found != Py_None &&
        !PyArg_ParseTuple(found, "UOOO!OO", &head, &anonymous, &namespace, &PyTuple_Type, &slots, &fields, &every)) {
        return 0;
    }
    Py_ssize_t count = slots == NULL ? 0 : PyTuple_GET_SIZE(slots);
    form->head = form->anonymous = form->namespace = NULL;
    form->slot_count = 0;
    if (count > MOST_SLOTS || head == NULL) {
        return 1;
    }
    for (Py_ssize_t number = 0; number < count; number++) {
        PyObject *slot = PyTuple_GET_ITEM(slots, number);
        if (!PyTuple_Check(slot)) {
            PyErr_SetString(PyExc_TypeError, "a slot must be a tuple");
            return 0;
        }
        if (!PyArg_ParseTuple(slot, "UO", &form->slot_names[number],
                              &form->slots[number])) {
            return 0;
        }
    }
    form->slot_count = (int)count;
    form->head = Py_NewRef(head);
    form->anonymous = anonymous == Py_None ? NULL : Py_NewRef(anonymous);
    form->is_tuple = namespace == (PyObject *)&PyTuple_Type;
    form->namespace = namespace == Py_None || form->is_tuple ? NULL : namespace;
    form->fields = PyTuple_CheckExact(fields) ? Py_NewRef(fields) : NULL;
    form->is_member = PyType_Check(fields);
    form->is_repr = PyCFunction_Check(fields);
    if (every != Py_None && (form->known_fields = known_fields(every)) != NULL) {
        form->every = Py_NewRef(every);
    }
    return !PyErr_Occurred();
}

static void
drop_parts(ClassForm *form)
{
    Py_CLEAR(form->name);
    Py_CLEAR(form->qualified_name);
    Py_CLEAR(form->head);
    Py_CLEAR(form->anonymous);
    Py_CLEAR(form->fields);
    Py_CLEAR(form->every);
    Py_CLEAR(form->known_fields);
}

/* The form of a value's class. NULL: the class has none that lasts, or there is an exception. */
static ClassForm *
form_of(Formatter *self, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    unsigned int version = version_of(type);
    ClassForm *form = &self->forms[((uintptr_t)type >> 4 ^ (uintptr_t)type >> 13) & (CLASSES - 1)];
    if (version == 0) {
        return NULL;
    }
    PyObject *name = name_of_class(type), *qualified_name = qualified_name_of_class(type);
    if (form->type == type && form->version == version && form->name == name &&
        form->qualified_name == qualified_name && (form->every == NULL || are_fields_known(form->every, form->known_fields))) {
        return form;
    }
    PyObject *found = PyObject_CallOneArg(self->find_form, value);
    if (found == NULL || found == Py_NotImplemented) {
        Py_XDECREF(found);
        return NULL;
    }
    ClassForm old = *form, new = {.type = type, .version = version};
    int is_taken = take_form(&new, found);
    Py_DECREF(found);
    if (version_of(type) != version || !is_taken) {
        drop_parts(&new);
        return NULL;
    }
    new.name = Py_NewRef(name);
    new.qualified_name = Py_NewRef(qualified_name);
    *form = new;
    drop_parts(&old);
    return form;
}

/* ---- objects */

/* Add an attribute. */
static int
put_attribute(Formatter *self, Text *text, PyObject *name, PyObject *item)
{
    if (!is_ascii(name)) {
        return LEFT;
    }
    if (ADD(text, " ") < 0 || add_string(text, name) < 0 || ADD(text, "=") < 0) {
        return FAILED;
    }
    return put_item(self, text, item, 0);
}

/* Add the first attributes. Returns how many; -1 with an exception, -2 if they are left to Python. */
static int
put_attributes(Formatter *self, Text *text, const ClassForm *form, PyObject *value)
{
    int count = 0, status = SHOWN;
    for (int number = 0; number < form->slot_count && count < ATTRIBUTES && status == SHOWN; number++) {
        PyObject *slot = form->slots[number];
        PyObject *item = Py_TYPE(slot)->tp_descr_get(slot, value, (PyObject *)form->type);
        if (item == NULL) {
            if (!PyErr_ExceptionMatches(PyExc_AttributeError) && !PyErr_ExceptionMatches(PyExc_TypeError)) {
                return -1;
            }
            PyErr_Clear(); /* an empty slot */
            continue;
        }
        status = put_attribute(self, text, form->slot_names[number], item);
        Py_DECREF(item);
        count++;
    }
    PyObject *namespace = NULL, *name, *item;
    if (status == SHOWN && count < ATTRIBUTES && form->namespace != NULL) {
        namespace = Py_TYPE(form->namespace)->tp_descr_get(form->namespace, value, (PyObject *)form->type);
        if (namespace == NULL || !PyDict_CheckExact(namespace)) {
            PyErr_Clear();
            Py_XDECREF(namespace);
            return -2;
        }
    }
    Py_ssize_t place = 0, size = namespace == NULL ? 0 : PyDict_GET_SIZE(namespace);
    while (namespace != NULL && status == SHOWN && count < ATTRIBUTES && PyDict_Next(namespace, &place, &name, &item)) {
        if (PyUnicode_CheckExact(name)) {
            status = put_attribute(self, text, name, item);
            count++;
        }
        if (PyDict_GET_SIZE(namespace) != size) {
            status = LEFT;
        }
    }
    Py_XDECREF(namespace);
    return status == SHOWN ? count : status == LEFT ? -2 : -1;
}

/* ---- dataclasses and named tuples */

PyObject *
stored_item(PyObject *namespace, PyObject *name)
{
    PyObject *key, *item;
    for (int is_same = 1; is_same >= 0; is_same--) { /* names are interned, as a rule */
        for (Py_ssize_t place = 0; PyDict_Next(namespace, &place, &key, &item);) {
            if (is_same ? key == name : PyUnicode_CheckExact(key) && PyUnicode_Compare(key, name) == 0) {
                return Py_NewRef(item);
            }
        }
    }
    return NULL;
}

/* The value of a field, a new reference. NULL: there is none, or an exception. */
static PyObject *
field_of(const ClassForm *form, PyObject *value, PyObject *namespace, Py_ssize_t number)
{
    PyObject *name = PyTuple_GET_ITEM(form->fields, number), *item = NULL;
    if (form->is_tuple) {
        return number < PyTuple_GET_SIZE(value) ? Py_NewRef(PyTuple_GET_ITEM(value, number)) : NULL;
    }
    if (namespace != NULL) {
        item = stored_item(namespace, name);
    }
    for (int slot = 0; item == NULL && slot < form->slot_count; slot++) {
        if (PyUnicode_Compare(form->slot_names[slot], name) == 0) {
            PyObject *found = form->slots[slot];
            item = Py_TYPE(found)->tp_descr_get(found, value, (PyObject *)form->type);
            if (item == NULL && (PyErr_ExceptionMatches(PyExc_AttributeError) || PyErr_ExceptionMatches(PyExc_TypeError))) {
                PyErr_Clear(); /* an empty slot */
            }
            break;
        }
    }
    return item;
}

static int
put_named_items(Formatter *self, Text *text, const ClassForm *form, PyObject *value, PyObject *namespace, int levels)
{
    int status = SHOWN, count = 0;
    for (Py_ssize_t number = 0;
         status == SHOWN && number < PyTuple_GET_SIZE(form->fields) && count < 2 * ITEMS; number++) {
        PyObject *item = field_of(form, value, namespace, number);
        if (item == NULL) {
            status = PyErr_Occurred() ? FAILED : SHOWN;
            continue;
        }
        int is_begun = !(count++ && ADD(text, ", ") < 0) &&
                       add_string(text, PyTuple_GET_ITEM(form->fields, number)) == 0 && ADD(text, "=") == 0;
        status = is_begun ? put_item(self, text, item, levels - 1) : FAILED;
        Py_DECREF(item);
    }
    return status;
}

/* Add an object as the call of its class. */
static int
put_call(Formatter *self, Text *text, const ClassForm *form, PyObject *value, int levels)
{
    if (add_string(text, form->head) < 0) {
        return FAILED;
    }
    if (levels <= 0) {
        return ADD(text, "(...)") < 0 ? FAILED : SHOWN;
    }
    PyObject *namespace = NULL;
    if (form->namespace != NULL) {
        namespace = Py_TYPE(form->namespace)->tp_descr_get(form->namespace, value, (PyObject *)form->type);
        if (namespace == NULL || !PyDict_CheckExact(namespace) ||
            PyDict_GET_SIZE(namespace) + form->slot_count > MOST_ATTRIBUTES) {
            PyErr_Clear();
            Py_XDECREF(namespace);
            return LEFT;
        }
    }
    int status = ADD(text, "(") < 0 ? FAILED : put_named_items(self, text, form, value, namespace, levels);
    Py_XDECREF(namespace);
    return status == SHOWN && ADD(text, ")") < 0 ? FAILED : status;
}

/* ---- any object */

/* Add what `repr` returns, unless the value refers to another object, whose `repr` would be called. */
static int
put_known_repr(Formatter *self, Text *text, const ClassForm *form, PyObject *value)
{
    if (form->namespace != NULL) {
        PyObject *found = Py_TYPE(form->namespace)->tp_descr_get(form->namespace, value, (PyObject *)form->type);
        PyErr_Clear();
        Py_XDECREF(found);
        if (found != Py_None) {
            return LEFT;
        }
    }
    return put_repr(self, text, value);
}

int
put_object(Formatter *self, Text *text, PyObject *value, int levels)
{
    size_t start = text->length;
    const ClassForm *known = form_of(self, value);
    if (known == NULL) {
        return PyErr_Occurred() ? FAILED : LEFT;
    }
    if (known->base != NULL && PyType_IsSubtype(Py_TYPE(value), known->base)) {
        return put_container(self, text, known->base, value, levels);
    }
    if (known->head == NULL) {
        return LEFT;
    }
    ClassForm form = *known; /* other classes may take its place meanwhile, and the class may lose what it has */
    Py_XINCREF(form.namespace);
    for (int number = 0; number < form.slot_count; number++) {
        Py_INCREF(form.slot_names[number]);
        Py_INCREF(form.slots[number]);
    }
    PyObject *head = Py_NewRef(form.head), *anonymous = Py_XNewRef(form.anonymous), *fields = Py_XNewRef(form.fields);
    int status = LEFT, count = 0;
    if (form.is_repr) {
        status = put_known_repr(self, text, &form, value);
    }
    else if (form.is_member) {
        status = put_member(self, text, &form, value);
    }
    else if (fields != NULL) {
        status = put_call(self, text, &form, value, levels);
    }
    else if (anonymous == NULL) {
        status = add_string(text, head) < 0 || add_address(text, value) < 0 || ADD(text, ">") < 0 ? FAILED : SHOWN;
        cut(text, start, self->width);
    }
    else {
        count = levels <= 0 ? 0 : add_string(text, head) < 0 ? -1 : put_attributes(self, text, &form, value);
        if (count > 0) {
            status = ADD(text, ">") < 0 ? FAILED : SHOWN;
            cut(text, start, 2 * self->width);
        }
        else if (count == 0) {
            text->length = start;
            status = add_string(text, anonymous) < 0 || add_address(text, value) < 0 || ADD(text, ">") < 0 ? FAILED
                                                                                                           : SHOWN;
        }
        else {
            status = count == -2 ? LEFT : FAILED;
        }
    }
    Py_DECREF(head);
    Py_XDECREF(anonymous);
    Py_XDECREF(fields);
    Py_XDECREF(form.namespace);
    for (int number = 0; number < form.slot_count; number++) {
        Py_DECREF(form.slot_names[number]);
        Py_DECREF(form.slots[number]);
    }
    return status;
}

void
clear_forms(Formatter *self)
{
    for (int number = 0; self->forms != NULL && number < CLASSES; number++) {
        ClassForm *form = &self->forms[number];
        form->version = 0;
        form->type = NULL;
        drop_parts(form);
    }
}
