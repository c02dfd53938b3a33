/* From the tokens of an event to their slots, in a vocabulary that no cache holds.
 *
 * Beside the mapping of tokens to slots there is a table of their hashes: of each text that is a
 * token, the upper half of its hash and its slot + 1, in the first place that was free from the
 * lower half on. 0 is a free place. An event's tokens go through it together, one step for all of
 * them after the other, and each step asks memory for what the next one reads: what would be one
 * wait for each is one for all.
 */
#ifndef STREAMNB_NAMES_H
#define STREAMNB_NAMES_H

#include <Python.h>
#include <stdint.h>

#include "walk.h"

#if defined __GNUC__
#define STREAMNB_FETCH(address) __builtin_prefetch((const void *)(address))
#else
#define STREAMNB_FETCH(address) ((void)(address))
#endif

enum { STREAMNB_GROUP = 64 }; /* so many tokens go together */

/* Texts are kept by their addresses: the mapping holds on to them. */
static inline PyObject *text_at(long long address) {
    return (PyObject *)(intptr_t)address;
}

static inline long long address_of(PyObject *text) {
    return (long long)(intptr_t)text;
}

/* Puts a text that is not there yet into a table of mask + 1 places, which has room. */
static inline int enter_name(long long *table, uint64_t mask, PyObject *name, long long slot) {
    Py_hash_t hash = PyObject_Hash(name);
    if (hash == -1 && PyErr_Occurred())
        return -1;
    uint64_t at = (uint64_t)hash & mask;
    while (table[at] != 0)
        at = (at + 1) & mask;
    table[at] = (long long)(((uint64_t)hash & 0xffffffff00000000u) | (uint64_t)(slot + 1));
    return 0;
}

/* Where a hash is found from place `at` on, or where a free place is. */
static inline uint64_t next_place(const long long *table, uint64_t mask, uint64_t hash,
                                  uint64_t at) {
    at &= mask;
    while (table[at] != 0 && ((uint64_t)table[at] ^ hash) >> 32 != 0)
        at = (at + 1) & mask;
    return at;
}

/* The slot of a text whose hash was found at place `at`, -1 where it has none. */
static inline long long slot_of(const long long *table, uint64_t mask, const long long *places,
                                PyObject *name, uint64_t hash, uint64_t at) {
    while (table[at] != 0) {
        long long slot = (table[at] & 0xffffffff) - 1;
        PyObject *text = text_at(places[2 * slot + 1]);
        if (text == name || same_text(text, name))
            return slot;
        at = next_place(table, mask, hash, at + 1);
    }
    return -1;
}

/* The tokens, from `*position` of the dict `event` on, and their counts: at most STREAMNB_GROUP.
 *
 * Counts up to `threshold` are none; where `binary`, each above it is 1. Answers their number, 0 at
 * the end, -1 where one asks for the long way: a token that is no text, a count that is neither
 * float nor int, or is not from 0 to `most`.
 */
static inline Py_ssize_t next_tokens(PyObject *event, Py_ssize_t *position, double threshold,
                                     double most, int binary, long long *names,
                                     double *values) {
    Py_ssize_t n = 0;
    PyObject *name, *value;
    while (n < STREAMNB_GROUP && PyDict_Next(event, position, &name, &value)) {
        double v;
        if (!PyUnicode_CheckExact(name))
            return -1;
        STREAMNB_FETCH(name);
        STREAMNB_FETCH((const char *)name + 63);
        if (PyFloat_CheckExact(value)) {
            v = PyFloat_AS_DOUBLE(value);
        } else if (PyLong_CheckExact(value)) {
            v = PyLong_AsDouble(value);
            if (v == -1.0 && PyErr_Occurred())
                PyErr_Clear();
        } else {
            return -1;
        }
        if (!(v >= 0.0 && v <= most))
            return -1;
        if (v <= threshold)
            continue;
        names[n] = address_of(name);
        values[n++] = binary ? 1.0 : v;
    }
    return n;
}

/* The slots of n texts, at most STREAMNB_GROUP, -1 where one has none; fetches their cells.
 *
 * `places` are of each token where its cells begin, times 2^20, and the address of its text. Answers
 * -1 with an error set where a text has no hash.
 */
static inline int find_names(const long long *table, uint64_t mask, const long long *places,
                             const double *cells, const long long *names, Py_ssize_t n,
                             long long *slots) {
    uint64_t hashes[STREAMNB_GROUP], at[STREAMNB_GROUP];
    Py_ssize_t i;
    for (i = 0; i < n; i++) {
        Py_hash_t hash = PyObject_Hash(text_at(names[i]));
        if (hash == -1 && PyErr_Occurred())
            return -1;
        hashes[i] = (uint64_t)hash;
        STREAMNB_FETCH(table + (hashes[i] & mask));
    }
    for (i = 0; i < n; i++) {
        at[i] = next_place(table, mask, hashes[i], hashes[i]);
        slots[i] = (table[at[i]] & 0xffffffff) - 1;
        if (slots[i] >= 0)
            STREAMNB_FETCH(places + 2 * slots[i]);
    }
    for (i = 0; i < n; i++) {
        if (slots[i] >= 0) {
            const char *text = (const char *)text_at(places[2 * slots[i] + 1]);
            STREAMNB_FETCH(text);
            STREAMNB_FETCH(text + 63);
            STREAMNB_FETCH(cells + 2 * (places[2 * slots[i]] >> 20));
        }
    }
    for (i = 0; i < n; i++)
        slots[i] = slot_of(table, mask, places, text_at(names[i]), hashes[i], at[i]);
    return 0;
}

#endif
