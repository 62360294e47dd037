/* Text that is being made: bytes of UTF-8 that grow. */

#ifndef CASSETTE_TEXT_H
#define CASSETTE_TEXT_H

#include "accelerator.h"

typedef struct {
    char *bytes;
    size_t length, room;
    char first[1000]; /* most texts fit in here */
} Text;

static inline void
begin_text(Text *text)
{
    text->bytes = text->first;
    text->length = 0;
    text->room = sizeof(text->first);
}

static inline void
end_text(Text *text)
{
    if (text->bytes != text->first) {
        PyMem_Free(text->bytes);
    }
}

/* Make room for so many bytes more. Returns -1 with an exception. */
int grow_text(Text *text, size_t more);

static inline int
add_bytes(Text *text, const char *bytes, size_t count)
{
    if (text->room - text->length < count && grow_text(text, count) < 0) {
        return -1;
    }
    memcpy(text->bytes + text->length, bytes, count);
    text->length += count;
    return 0;
}

#define ADD(text, literal) add_bytes((text), (literal), sizeof(literal) - 1)

/* Add a string of Python. What UTF-8 cannot express is escaped, as `backslashreplace` does. */
int add_string(Text *text, PyObject *string);
int is_printable_ascii(PyObject *string);

/* Add a number in decimal digits. */
int add_number(Text *text, long long number);

/* Add an address as `hex` shows it. */
int add_address(Text *text, const void *address);

/* ---- formatter.c: values and functions as a trace shows them */

typedef struct Formatter Formatter;

extern PyType_Spec formatter_spec;

/* Add a value as short text. Returns -1 with an exception. */
int add_value(Formatter *self, Text *text, PyObject *value);

/* Add the name of a function. Returns -1 with an exception. */
int add_function(Formatter *self, Text *text, PyObject *function);

/* ---- tree_lines.c: the lines of a trace that is a tree */

typedef struct TreeLines TreeLines;

extern PyType_Spec tree_lines_spec;

/* Begin the line of a call, or write the outcome of one. `thread` is a `TracedThread`. Return -1 with an exception. */
int begin_line(TreeLines *self, PyObject *thread, Py_ssize_t level, const Text *call);
int end_line(TreeLines *self, PyObject *thread, Py_ssize_t level, const Text *outcome);

#endif
