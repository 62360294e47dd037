/* The types of a call as words: what `type_words.c` finds and `type_recorder.c` compares. */

#ifndef CASSETTE_TYPE_WORDS_H
#define CASSETTE_TYPE_WORDS_H

#include "accelerator.h"

#define MOST_WORDS 256 /* of the types of a call */

/* Addresses of types and of marks. */
typedef struct {
    const void *words[MOST_WORDS];
    size_t length;
    int is_whole; /* whether there was room for all words */
} Types;

/* Find the types of a result and of `count` arguments. */
void find_types(Types *types, PyObject *result, PyObject *const *arguments, Py_ssize_t count);

/* Whether a word is no type. */
int is_mark(const void *word);

#endif
