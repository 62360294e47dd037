/* What the files of the formatter share: values as short text, as `Shortener` shows them, and names of functions.

   Only ASCII is written by them, so that a character is a byte. */

#ifndef CASSETTE_FORMATTER_H
#define CASSETTE_FORMATTER_H

#include "text.h"

#define ATTRIBUTES 3 /* of an object */
#define ITEMS 6      /* of a container */
#define CLASSES 512  /* powers of two */
#define NAMES 256
#define MOST_SLOTS 16
#define MOST_ATTRIBUTES 100 /* of an object that is shown by its fields, see `Shortener` */

/* What one of these functions says: the value is shown, it is left to Python, or there is an exception. */
enum { SHOWN = 1, LEFT = 0, FAILED = -1 };

/* How the instances of a class are shown. What it has of the class is borrowed: it is there while the version is the same. */
typedef struct {
    PyTypeObject *type;
    unsigned int version; /* 0: the entry is empty */
    PyObject *name, *qualified_name; /* of the class, when the form was found */
    PyTypeObject *base;  /* list, tuple or dict, as one of which it is shown; NULL: as none */
    PyObject *head;      /* `<module.Name object at `, or `<Name` if attributes follow; NULL: Python shows them */
    PyObject *anonymous; /* `<Name instance at `; NULL: no attributes are shown */
    PyObject *namespace; /* the descriptor of `__dict__` */
    PyObject *fields;    /* the names of the fields of a dataclass or named tuple, which are shown as arguments of a call */
    int is_tuple;        /* whether the fields are the items of a tuple */
    int is_member;       /* whether they are members of an enumeration; `anonymous` is the type of their values then */
    int is_repr;         /* whether the text is that of `repr`, unless the descriptor `namespace` finds something */
    PyObject *every;     /* the fields of a dataclass by name, and what they were when the form was found */
    PyObject *known_fields;
    int slot_count;
    PyObject *slot_names[MOST_SLOTS], *slots[MOST_SLOTS];
} ClassForm;

typedef struct {
    PyObject *function; /* NULL: the entry is empty */
    PyObject *name;
} KnownName;

struct Formatter {
    PyObject_HEAD
    PyObject *show;    /* shows any value */
    PyObject *show_part; /* shows a value in a container or an object; NULL: the whole is left to `show` */
    int is_left;       /* whether it could not show a part of the present value */
    PyObject *display; /* names any function */
    PyObject *find_form;
    PyObject *other_module; /* functions of this module have another name than their own */
    Py_ssize_t width;
    ClassForm *forms;
    KnownName *names;
};

static inline int
is_ascii(PyObject *string)
{
    return PyUnicode_CheckExact(string) && PyUnicode_IS_COMPACT_ASCII(string);
}

/* Leave out the middle of what was added since `start`, if it is too long. */
void cut(Text *text, size_t start, Py_ssize_t width);

/* Add a container, or an object of a subclass, as `base` is shown. */
int put_container(Formatter *self, Text *text, PyTypeObject *base, PyObject *value, int levels);

/* Add a value; in it, containers so many levels deep. */
int put(Formatter *self, Text *text, PyObject *value, int levels);

/* Add what `repr` returns for a value of a type whose `repr` calls no other code. */
int put_repr(Formatter *self, Text *text, PyObject *value);

/* Have Python add a part of the value that is left to it. */
int put_part(Formatter *self, Text *text, PyObject *item, int levels);

/* Add an item. It may be dropped by its container meanwhile: a collection of garbage runs code of the program. */
static inline int
put_item(Formatter *self, Text *text, PyObject *item, int levels)
{
    size_t start = text->length;
    Py_INCREF(item);
    int status = put(self, text, item, levels);
    if (status == LEFT && self->show_part != NULL && !self->is_left) {
        text->length = start;
        status = put_part(self, text, item, levels);
        self->is_left = status == LEFT;
    }
    Py_DECREF(item);
    return status;
}

/* ---- members.c */

/* Add a member of an enumeration. */
int put_member(Formatter *self, Text *text, const ClassForm *form, PyObject *value);

/* ---- dataclass_fields.c */

/* What is known of the fields of a dataclass, a new reference; NULL: an exception. */
PyObject *known_fields(PyObject *every);

/* Whether this is still so. */
int are_fields_known(PyObject *every, PyObject *known);

/* ---- class_forms.c */

/* What an object stores in its `__dict__` under a name; a new reference, or NULL. No key is compared by code of its own. */
PyObject *stored_item(PyObject *namespace, PyObject *name);

/* Add an object of a class that has no form of its own. */
int put_object(Formatter *self, Text *text, PyObject *value, int levels);
void clear_forms(Formatter *self);

#endif
