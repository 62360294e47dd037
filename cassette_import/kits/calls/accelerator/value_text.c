/* Values as short text, as `Shortener` shows them.

   The usual kinds of values are shown here; all others are left to `Shortener`. No code of the program runs here. */

#include "formatter.h"

#define LEVELS 3 /* of containers in containers */
#define CONTAINER_FACTOR 8
#define SMALL_NUMBER 1000000000000000ll
#define WIDE 20 /* a width in which each number of 64 bits is shown */

/* Leave out the middle of what was added since `start`, if it is too long. */
void
cut(Text *text, size_t start, Py_ssize_t width)
{
    size_t length = text->length - start, head = (size_t)(width - 3) / 2, tail = (size_t)(width - 3) - head;
    if (length > (size_t)width) {
        char *bytes = text->bytes + start;
        memcpy(bytes + head, "...", 3);
        memmove(bytes + head + 3, bytes + length - tail, tail);
        text->length = start + (size_t)width;
    }
}

/* ---- text and numbers */

static inline int
needs_escape(unsigned char byte)
{
    return byte < ' ' || byte >= 0x7f || byte == '\\';
}

static int
add_escaped(Text *text, const char *bytes, size_t count, char quote)
{
    size_t done = 0;
    for (size_t number = 0; number < count; number++) {
        unsigned char byte = (unsigned char)bytes[number];
        if (!needs_escape(byte) && byte != (unsigned char)quote) {
            continue;
        }
        char escape[4] = {'\\', (char)byte};
        size_t size = 2;
        if (byte == '\n' || byte == '\r' || byte == '\t') {
            escape[1] = byte == '\n' ? 'n' : byte == '\r' ? 'r' : 't';
        }
        else if (needs_escape(byte) && byte != '\\') {
            escape[1] = 'x';
            escape[2] = "0123456789abcdef"[byte >> 4];
            escape[3] = "0123456789abcdef"[byte & 15];
            size = 4;
        }
        if (add_bytes(text, bytes + done, number - done) < 0 || add_bytes(text, escape, size) < 0) {
            return FAILED;
        }
        done = number + 1;
    }
    return add_bytes(text, bytes + done, count - done) < 0 ? FAILED : SHOWN;
}

/* Add what `repr` makes of a text or of bytes, shortened. */
static int
put_quoted(Formatter *self, Text *text, const char *bytes, Py_ssize_t count, int levels, int is_text)
{
    Py_ssize_t width = self->width, left_out = count > 2 * width ? count - 2 * width : 0;
    size_t start = text->length, first = (size_t)(left_out ? width : count);
    const char *rest = bytes + first + left_out;
    size_t others = (size_t)(count - left_out) - first;
    int has_single = memchr(bytes, '\'', first) != NULL || memchr(rest, '\'', others) != NULL;
    int has_double = has_single && (memchr(bytes, '"', first) != NULL || memchr(rest, '"', others) != NULL);
    char quote = has_single && !has_double ? '"' : '\'';
    int is_whole = is_text && levels == LEVELS && 2 * count < width;
    for (Py_ssize_t number = 0; is_whole && number < count; number++) {
        is_whole = bytes[number] >= ' ' && bytes[number] < 0x7f;
    }
    if ((!is_text && ADD(text, "b") < 0) || add_bytes(text, &quote, 1) < 0 ||
        add_escaped(text, bytes, first, quote) < 0 || add_escaped(text, rest, others, quote) < 0 ||
        add_bytes(text, &quote, 1) < 0) {
        return FAILED;
    }
    if (!is_whole) {
        cut(text, start, width);
    }
    return SHOWN;
}

static int
put_number(Formatter *self, Text *text, PyObject *value, int levels)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    int is_small = !overflow && -SMALL_NUMBER < number && number < SMALL_NUMBER;
    if (overflow || (self->width < WIDE && !(levels == LEVELS && is_small))) {
        return LEFT; /* a number with many bits is not shown by its digits */
    }
    return add_number(text, number) < 0 ? FAILED : SHOWN;
}

static int
put_float(Formatter *self, Text *text, PyObject *value, int levels)
{
    size_t start = text->length;
    char *digits = PyOS_double_to_string(PyFloat_AS_DOUBLE(value), 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (digits == NULL) {
        return FAILED;
    }
    int status = add_bytes(text, digits, strlen(digits)) < 0 ? FAILED : SHOWN;
    PyMem_Free(digits);
    if (levels < LEVELS) {
        cut(text, start, self->width);
    }
    return status;
}

static int
put_word(Formatter *self, Text *text, const char *word, int levels)
{
    size_t start = text->length;
    if (add_bytes(text, word, strlen(word)) < 0) {
        return FAILED;
    }
    if (levels < LEVELS) {
        cut(text, start, self->width);
    }
    return SHOWN;
}

/* Put a string, to which the reference is given up. It is left out if it is no text of one line, in ASCII. */
static int
put_shown(Text *text, PyObject *shown)
{
    size_t start = text->length;
    int status = !is_ascii(shown) ? LEFT : add_string(text, shown) < 0 ? FAILED : SHOWN;
    Py_DECREF(shown);
    for (size_t place = start; status == SHOWN && place < text->length; place++) {
        if (text->bytes[place] < ' ' || text->bytes[place] == 0x7f) {
            status = LEFT;
        }
    }
    return status;
}

int
put_repr(Formatter *self, Text *text, PyObject *value)
{
    PyObject *shown = PyObject_Repr(value);
    if (shown == NULL) {
        PyErr_Clear(); /* Python tries it again */
        return LEFT;
    }
    size_t start = text->length;
    int status = put_shown(text, shown);
    cut(text, start, self->width);
    return status;
}

/* ---- containers */

static int
put_items(Formatter *self, Text *text, PyObject *value, Py_ssize_t count, int levels)
{
    int is_list = PyList_Check(value);
    if (levels <= 0 && count) {
        return ADD(text, "...") < 0 ? FAILED : SHOWN;
    }
    for (Py_ssize_t number = 0; number < count && number < ITEMS; number++) {
        if (is_list && PyList_GET_SIZE(value) != count) {
            return LEFT;
        }
        PyObject *item = is_list ? PyList_GET_ITEM(value, number) : PyTuple_GET_ITEM(value, number);
        if (number && ADD(text, ", ") < 0) {
            return FAILED;
        }
        int status = put_item(self, text, item, levels - 1);
        if (status != SHOWN) {
            return status;
        }
    }
    return count > ITEMS && ADD(text, ", ...") < 0 ? FAILED : SHOWN;
}

static int
put_list(Formatter *self, Text *text, PyObject *value, int levels)
{
    if (ADD(text, "[") < 0) {
        return FAILED;
    }
    int status = put_items(self, text, value, PyList_GET_SIZE(value), levels);
    return status == SHOWN && ADD(text, "]") < 0 ? FAILED : status;
}

static int
put_tuple(Formatter *self, Text *text, PyObject *value, int levels)
{
    Py_ssize_t count = PyTuple_GET_SIZE(value);
    if (ADD(text, "(") < 0) {
        return FAILED;
    }
    int status = put_items(self, text, value, count, levels);
    return status == SHOWN && (count == 1 ? ADD(text, ",)") : ADD(text, ")")) < 0 ? FAILED : status;
}

static int
put_set(Formatter *self, Text *text, PyObject *value, int levels)
{
    int is_set = PySet_CheckExact(value);
    Py_ssize_t count = PySet_GET_SIZE(value);
    if (count == 0) {
        return (is_set ? ADD(text, "set()") : ADD(text, "frozenset()")) < 0 ? FAILED : SHOWN;
    }
    if ((is_set ? ADD(text, "{") : ADD(text, "frozenset({")) < 0) {
        return FAILED;
    }
    int status = SHOWN;
    PyObject *item, *items = NULL;
    if (levels <= 0) {
        status = ADD(text, "...") < 0 ? FAILED : SHOWN;
    }
    else if ((items = PyObject_GetIter(value)) == NULL) {
        return FAILED;
    }
    for (int number = 0; items != NULL && status == SHOWN && number < ITEMS && (item = PyIter_Next(items)) != NULL;
         number++) {
        status = number && ADD(text, ", ") < 0 ? FAILED : put_item(self, text, item, levels - 1);
        Py_DECREF(item);
    }
    Py_XDECREF(items);
    if (status != FAILED && PyErr_Occurred()) { /* the set was changed */
        PyErr_Clear();
        return LEFT;
    }
    if (status != SHOWN) {
        return status;
    }
    if (levels > 0 && count > ITEMS && ADD(text, ", ...") < 0) {
        return FAILED;
    }
    return (is_set ? ADD(text, "}") : ADD(text, "})")) < 0 ? FAILED : SHOWN;
}

static int
put_dict(Formatter *self, Text *text, PyObject *value, int levels)
{
    Py_ssize_t count = PyDict_GET_SIZE(value), place = 0;
    PyObject *key, *item;
    if (levels <= 0 && count) {
        return ADD(text, "{...}") < 0 ? FAILED : SHOWN;
    }
    if (ADD(text, "{") < 0) {
        return FAILED;
    }
    for (Py_ssize_t number = 0; number < ITEMS && PyDict_Next(value, &place, &key, &item); number++) {
        Py_INCREF(item);
        int status = number && ADD(text, ", ") < 0 ? FAILED : put_item(self, text, key, levels - 1);
        if (status == SHOWN) {
            status = ADD(text, ": ") < 0 ? FAILED : put_item(self, text, item, levels - 1);
        }
        Py_DECREF(item);
        if (status != SHOWN) {
            return status;
        }
        if (PyDict_GET_SIZE(value) != count) {
            return LEFT;
        }
    }
    return (count > ITEMS ? ADD(text, ", ...}") : ADD(text, "}")) < 0 ? FAILED : SHOWN;
}

int
put_container(Formatter *self, Text *text, PyTypeObject *base, PyObject *value, int levels)
{
    return base == &PyList_Type    ? put_list(self, text, value, levels)
           : base == &PyTuple_Type ? put_tuple(self, text, value, levels)
                                   : put_dict(self, text, value, levels);
}

/* ---- any value */

int
put(Formatter *self, Text *text, PyObject *value, int levels)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyLong_Type) {
        return put_number(self, text, value, levels);
    }
    if (type == &PyUnicode_Type) {
        if (!PyUnicode_IS_COMPACT_ASCII(value)) {
            return LEFT;
        }
        return put_quoted(self, text, PyUnicode_DATA(value), PyUnicode_GET_LENGTH(value), levels, 1);
    }
    if (type == &PyFloat_Type) {
        return put_float(self, text, value, levels);
    }
    if (value == Py_None) {
        return put_word(self, text, "None", levels);
    }
    if (type == &PyBool_Type) {
        return put_word(self, text, value == Py_True ? "True" : "False", levels);
    }
    if (type == &PyList_Type) {
        return put_list(self, text, value, levels);
    }
    if (type == &PyTuple_Type) {
        return put_tuple(self, text, value, levels);
    }
    if (type == &PyDict_Type) {
        return put_dict(self, text, value, levels);
    }
    if (type == &PySet_Type || type == &PyFrozenSet_Type) {
        return put_set(self, text, value, levels);
    }
    if (type == &PyBytes_Type) {
        return put_quoted(self, text, PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value), levels, 0);
    }
    if (type == &PyFunction_Type || type == &PyType_Type || type == &PyRange_Type ||
        type == &PyComplex_Type || type == &PyCFunction_Type) {
        return put_repr(self, text, value);
    }
    return put_object(self, text, value, levels);
}

int
put_part(Formatter *self, Text *text, PyObject *item, int levels)
{
    PyObject *shown = PyObject_CallFunction(self->show_part, "Oi", item, levels);
    if (shown == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_Exception) && !PyErr_ExceptionMatches(PyExc_SystemExit) &&
            !PyErr_ExceptionMatches(PyExc_GeneratorExit)) {
            return FAILED;
        }
        PyErr_Clear(); /* Python tries it again */
        return LEFT;
    }
    return put_shown(text, shown);
}

int
add_value(Formatter *self, Text *text, PyObject *value)
{
    size_t start = text->length;
    self->is_left = 0;
    int status = put(self, text, value, LEVELS);
    if (status == SHOWN) {
        cut(text, start, CONTAINER_FACTOR * self->width);
    }
    if (status != LEFT) {
        return status == SHOWN ? 0 : -1;
    }
    text->length = start;
    PyObject *shown = PyObject_CallOneArg(self->show, value);
    int is_added = shown != NULL && PyUnicode_Check(shown) ? add_string(text, shown) : -1;
    if (shown != NULL && !PyUnicode_Check(shown)) {
        PyErr_SetString(PyExc_TypeError, "a value must be shown as a text");
    }
    Py_XDECREF(shown);
    return is_added;
}
