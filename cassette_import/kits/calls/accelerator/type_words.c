/* The types of values as words: that of each value and, of a container, those of its first elements.

   No code of the program runs here. */

#include "type_words.h"

/* As in contexts/call_types/context.py. */
#define DEPTH 3
#define ELEMENTS 10

static const char marks[4];
#define OPEN &marks[0]
#define CLOSE &marks[1]
#define BETWEEN &marks[2]
#define CLASS &marks[3]

int
is_mark(const void *word)
{
    const char *mark = word;
    return mark >= marks && mark < marks + sizeof(marks);
}

static void add_types(Types *types, PyObject *value, int depth);

static void
add_word(Types *types, const void *word)
{
    if (types->length < MOST_WORDS) {
        types->words[types->length++] = word;
    }
    else {
        types->is_whole = 0;
    }
}

static inline int
is_container(PyTypeObject *type)
{
    return type == &PyList_Type || type == &PyTuple_Type || type == &PyDict_Type || type == &PySet_Type ||
           type == &PyFrozenSet_Type;
}

/* The types of several values, each once. */
typedef struct {
    size_t starts[ELEMENTS + 1];
    int count;
} Distinct;

/* Whether a value of this type may be described by more than that. */
static inline int
has_parts(PyTypeObject *type)
{
    return is_container(type) || PyType_FastSubclass(type, Py_TPFLAGS_TYPE_SUBCLASS);
}

/* A call of `memcmp` takes longer: most shapes have a few words. */
static inline int
are_equal(const void *const *words, const void *const *others, size_t length)
{
    size_t number = 0;
    while (number < length && words[number] == others[number]) {
        number++;
    }
    return number == length;
}

static void
add_distinct(Types *types, Distinct *distinct, PyObject *value, int depth)
{
    size_t start = types->length;
    if (!types->is_whole) {
        return;
    }
    distinct->starts[distinct->count] = start;
    if (!has_parts(Py_TYPE(value))) { /* the usual case: no other element begins with this word */
        for (int number = 0; number < distinct->count; number++) {
            if (types->words[distinct->starts[number]] == Py_TYPE(value)) {
                return;
            }
        }
        add_word(types, Py_TYPE(value));
        distinct->count++;
        return;
    }
    add_types(types, value, depth);
    size_t length = types->length - start;
    for (int number = 0; number < distinct->count; number++) {
        size_t other = distinct->starts[number];
        if (distinct->starts[number + 1] - other == length && are_equal(&types->words[other], &types->words[start], length)) {
            types->length = start;
            return;
        }
    }
    distinct->count++;
}

/* What `add_distinct` does with each of some values, if none may be described by more than its type: most containers have
   only such elements. Returns whether that is so; if not, nothing is added. */
static int
add_simple(Types *types, PyObject *const *values, int count)
{
    const unsigned long flags = Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS | Py_TPFLAGS_DICT_SUBCLASS |
                                Py_TPFLAGS_TYPE_SUBCLASS;
    size_t start = types->length;
    for (int number = 0; number < count; number++) {
        PyTypeObject *type = Py_TYPE(values[number]);
        size_t place = start;
        while (place < types->length && types->words[place] != type) {
            place++;
        }
        if (place < types->length) {
            continue;
        }
        if (PyType_HasFeature(type, flags) || type == &PySet_Type || type == &PyFrozenSet_Type) {
            types->length = start;
            return 0;
        }
        add_word(types, type);
    }
    return 1;
}

static void
add_types_of_list(Types *types, PyObject *list, int depth)
{
    int count = PyList_GET_SIZE(list) < ELEMENTS ? (int)PyList_GET_SIZE(list) : ELEMENTS;
    if (add_simple(types, ((PyListObject *)list)->ob_item, count)) {
        return;
    }
    Distinct distinct = {.count = 0};
    for (Py_ssize_t number = 0; number < ELEMENTS && number < PyList_GET_SIZE(list); number++) {
        add_distinct(types, &distinct, PyList_GET_ITEM(list, number), depth);
    }
}

static void
add_types_of_set(Types *types, PyObject *set, int depth)
{
    Distinct distinct = {.count = 0};
    PyObject *item, *items = PySet_GET_SIZE(set) == 0 ? NULL : PyObject_GetIter(set);
    for (int number = 0; items != NULL && number < ELEMENTS && (item = PyIter_Next(items)) != NULL; number++) {
        add_distinct(types, &distinct, item, depth);
        Py_DECREF(item); /* the set has it */
    }
    Py_XDECREF(items);
    if (PyErr_Occurred()) { /* there is no memory for an iterator */
        PyErr_Clear();
        types->is_whole = 0;
    }
}

static void
add_types_of_dict(Types *types, PyObject *dict, int depth)
{
    PyObject *keys[ELEMENTS], *values[ELEMENTS];
    Py_ssize_t next = 0;
    int count = 0;
    while (count < ELEMENTS && PyDict_Next(dict, &next, &keys[count], &values[count])) {
        count++;
    }
    size_t start = types->length;
    if (add_simple(types, keys, count)) {
        add_word(types, BETWEEN);
        if (add_simple(types, values, count)) {
            return;
        }
    }
    types->length = start;
    for (int part = 0; part < 2; part++) {
        Distinct distinct = {.count = 0};
        PyObject *items[2];
        Py_ssize_t place = 0;
        for (int number = 0; number < ELEMENTS && PyDict_Next(dict, &place, &items[0], &items[1]); number++) {
            add_distinct(types, &distinct, items[part], depth);
        }
        if (part == 0) {
            add_word(types, BETWEEN);
        }
    }
}

/* The types of the elements of a container, whose own type `is_container`. */
static void
add_types_of_elements(Types *types, PyObject *value, int depth)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyList_Type) {
        add_types_of_list(types, value, depth);
    }
    else if (type == &PyTuple_Type) {
        Py_ssize_t size = PyTuple_GET_SIZE(value);
        for (Py_ssize_t number = 0; number < size && size <= ELEMENTS; number++) {
            add_types(types, PyTuple_GET_ITEM(value, number), depth);
        }
        add_word(types, size <= ELEMENTS ? BETWEEN : CLOSE);
    }
    else if (type == &PyDict_Type) {
        add_types_of_dict(types, value, depth);
    }
    else {
        add_types_of_set(types, value, depth);
    }
}

static void
add_types(Types *types, PyObject *value, int depth)
{
    PyTypeObject *type = Py_TYPE(value);
    if (depth > 0 && is_container(type)) {
        Py_INCREF(value); /* an iterator is made: a collection of garbage may run code of the program */
        add_word(types, OPEN);
        add_word(types, type);
        add_types_of_elements(types, value, depth - 1);
        add_word(types, CLOSE);
        Py_DECREF(value);
    }
    else if (PyType_Check(value)) {
        add_word(types, CLASS);
        add_word(types, type);
        add_word(types, value);
    }
    else {
        add_word(types, type);
    }
}

void
find_types(Types *types, PyObject *result, PyObject *const *arguments, Py_ssize_t count)
{
    types->length = 0;
    types->is_whole = 1;
    add_types(types, result, DEPTH);
    for (Py_ssize_t number = 0; number < count; number++) {
        add_types(types, arguments[number], DEPTH);
    }
}
