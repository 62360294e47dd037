/* Text: what its additions share. */

#include "text.h"

int
grow_text(Text *text, size_t more)
{
    size_t room = text->room * 2 + more;
    char *bytes = PyMem_Realloc(text->bytes == text->first ? NULL : text->bytes, room);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (text->bytes == text->first) {
        memcpy(bytes, text->first, text->length);
    }
    text->bytes = bytes;
    text->room = room;
    return 0;
}

/* Whether a string is ASCII without control characters. */
int
is_printable_ascii(PyObject *string)
{
    if (!PyUnicode_IS_COMPACT_ASCII(string)) {
        return 0;
    }
    const unsigned char *bytes = PyUnicode_DATA(string);
    for (Py_ssize_t number = 0; number < PyUnicode_GET_LENGTH(string); number++) {
        if (bytes[number] < ' ' || bytes[number] == 0x7f) {
            return 0;
        }
    }
    return 1;
}

int
add_string(Text *text, PyObject *string)
{
    Py_ssize_t size;
    if (PyUnicode_IS_COMPACT_ASCII(string)) {
        return add_bytes(text, PyUnicode_DATA(string), (size_t)PyUnicode_GET_LENGTH(string));
    }
    const char *bytes = PyUnicode_AsUTF8AndSize(string, &size);
    if (bytes != NULL) {
        return add_bytes(text, bytes, (size_t)size);
    }
    PyErr_Clear();
    PyObject *encoded = PyUnicode_AsEncodedString(string, "utf-8", "backslashreplace");
    int status = encoded == NULL ? -1 : add_bytes(text, PyBytes_AS_STRING(encoded), (size_t)PyBytes_GET_SIZE(encoded));
    Py_XDECREF(encoded);
    return status;
}

int
add_number(Text *text, long long number)
{
    char digits[24], *end = digits + sizeof(digits), *place = end;
    unsigned long long rest = number < 0 ? 0ull - (unsigned long long)number : (unsigned long long)number;
    do {
        *--place = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (number < 0) {
        *--place = '-';
    }
    return add_bytes(text, place, (size_t)(end - place));
}

int
add_address(Text *text, const void *address)
{
    char digits[24], *end = digits + sizeof(digits), *place = end;
    uintptr_t rest = (uintptr_t)address;
    do {
        *--place = "0123456789abcdef"[rest & 15];
        rest >>= 4;
    } while (rest != 0);
    *--place = 'x';
    *--place = '0';
    return add_bytes(text, place, (size_t)(end - place));
}
