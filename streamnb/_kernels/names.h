/* From the tokens of an event to their slots, in a vocabulary that no cache holds.
 *
 * Beside the mapping of tokens to slots there is a table of hashes: of each token that is a text,
 * the upper half of its hash and its slot + 1, in the first place that was free from the lower half
 * on; 0 is a free place. An event's tokens go through it together, one step for all of them after
 * the other, and each step asks memory for what the next one reads: what would be one wait for each
 * is one for all.
 *
 * `places` are of each token where its cells begin, times 2^20, and the address of its text, which
 * the mapping holds on to.
 */
#ifndef STREAMNB_NAMES_H
#define STREAMNB_NAMES_H

#include <Python.h>
#include <stdint.h>

#include "fp.h"
#include "walk.h"

#if defined __GNUC__
#define STREAMNB_FETCH(address) __builtin_prefetch((const void *)(address))
#else
#define STREAMNB_FETCH(address) ((void)(address))
#endif

#define STREAMNB_GROUP 128 /* so many tokens go together */

/* Some tokens of an event. */
typedef struct {
    Py_ssize_t size;
    PyObject *names[STREAMNB_GROUP];
    double counts[STREAMNB_GROUP];
    long long slots[STREAMNB_GROUP]; /* -1 where there is none */
    uint64_t hashes[STREAMNB_GROUP];
    uint64_t at[STREAMNB_GROUP]; /* where the hash is, or a free place */
} TokenGroup;

static inline PyObject *text_of(const long long *places, long long slot) {
    return (PyObject *)(intptr_t)places[2 * slot + 1];
}

/* Where a hash is found from place `at` on, or where a free place is. */
static inline uint64_t next_place(const long long *table, uint64_t mask, uint64_t hash,
                                  uint64_t at) {
    at &= mask;
    while (table[at] != 0 && ((uint64_t)table[at] ^ hash) >> 32 != 0)
        at = (at + 1) & mask;
    return at;
}

/* Enters the texts of the mapping `known`, from `position` in it on, into a table of mask + 1
 * places, which has room. Nothing was ever taken out of the mapping, so that positions stay. Answers
 * where it ends; -1 with an error set. */
static inline Py_ssize_t enter_names(PyObject *known, Py_ssize_t position, long long *table,
                                     uint64_t mask, long long *places) {
    PyObject *name, *value;
    while (PyDict_Next(known, &position, &name, &value)) {
        long long slot = PyLong_AsLongLong(value);
        if (!PyUnicode_CheckExact(name))
            continue;
        Py_hash_t hash = PyObject_Hash(name);
        if (hash == -1)
            return -1;
        uint64_t at = (uint64_t)hash & mask;
        while (table[at] != 0)
            at = (at + 1) & mask;
        table[at] = (long long)(((uint64_t)hash & 0xffffffff00000000u) | (uint64_t)(slot + 1));
        places[2 * slot + 1] = (long long)(intptr_t)name;
    }
    return position;
}

/* The next tokens of an event, from `*position` on, and their counts; those that are no texts have
 * their slots. Answers 1; 0 where something asks for the long way; -1 with an error set. */
static inline int next_tokens(PyObject *event, Py_ssize_t *position, PyObject *known,
                              double threshold, double most, int binary, int trusted,
                              TokenGroup *group) {
    Py_ssize_t n = 0;
    PyObject *name, *value;
    while (n < STREAMNB_GROUP && PyDict_Next(event, position, &name, &value)) {
        double v;
        if (PyFloat_CheckExact(value)) {
            v = PyFloat_AS_DOUBLE(value);
        } else if (PyLong_CheckExact(value)) {
            v = PyLong_AsDouble(value);
            if (v == -1.0 && PyErr_Occurred())
                PyErr_Clear();
        } else {
            return 0;
        }
        if (!(v >= 0.0 && v <= most))
            return 0;
        if (PyUnicode_CheckExact(name)) {
            STREAMNB_FETCH(name);
            STREAMNB_FETCH((const char *)name + 63);
        } else if (!trusted) {
            return 0;
        }
        if (v <= threshold) {
            if (!trusted && !PyUnicode_IS_ASCII(name))
                return 0; /* it may be no text that can be kept */
            continue;
        }
        group->names[n] = name;
        group->counts[n] = binary ? 1.0 : v;
        group->slots[n] = -1;
        if (!PyUnicode_CheckExact(name)) {
            PyObject *slot = PyDict_GetItemWithError(known, name);
            if (slot == NULL && PyErr_Occurred())
                return -1;
            if (slot != NULL)
                group->slots[n] = PyLong_AsLongLong(slot);
        }
        n++;
    }
    group->size = n;
    return 1;
}

/* Finds the slots of the texts in a group, and asks for their cells. Answers -1 with an error set
 * where one has no hash. */
static inline int find_slots(const long long *table, uint64_t mask, const long long *places,
                             const double *cells, TokenGroup *group) {
    Py_ssize_t i, n = group->size;
    long long *slots = group->slots;
    for (i = 0; i < n; i++) {
        if (PyUnicode_CheckExact(group->names[i])) {
            Py_hash_t hash = PyObject_Hash(group->names[i]);
            if (hash == -1)
                return -1;
            group->hashes[i] = (uint64_t)hash;
            STREAMNB_FETCH(table + (group->hashes[i] & mask));
        }
    }
    for (i = 0; i < n; i++) {
        if (PyUnicode_CheckExact(group->names[i])) {
            group->at[i] = next_place(table, mask, group->hashes[i], group->hashes[i]);
            slots[i] = (table[group->at[i]] & 0xffffffff) - 1;
        }
        if (slots[i] >= 0)
            STREAMNB_FETCH(places + 2 * slots[i]);
    }
    for (i = 0; i < n; i++) {
        if (slots[i] >= 0) {
            const char *text = (const char *)text_of(places, slots[i]);
            STREAMNB_FETCH(text);
            STREAMNB_FETCH(text + 63);
            STREAMNB_FETCH(cells + 2 * (places[2 * slots[i]] >> 20));
            STREAMNB_FETCH(cells + 2 * (places[2 * slots[i]] >> 20) + 3);
        }
    }
    for (i = 0; i < n; i++) {
        PyObject *name = group->names[i];
        if (!PyUnicode_CheckExact(name))
            continue;
        while (slots[i] >= 0 && text_of(places, slots[i]) != name
               && !same_text(text_of(places, slots[i]), name)) {
            group->at[i] = next_place(table, mask, group->hashes[i], group->at[i] + 1);
            slots[i] = (table[group->at[i]] & 0xffffffff) - 1;
        }
    }
    return 0;
}

/* Reads the tokens of the dict `event` that have slots, and their counts, and behind the last of
 * the counts the sum of all.
 *
 * Counts up to `threshold` are none; where `binary`, each above it is 1. Only what is `trusted` has
 * other tokens than texts, or new ones beyond ASCII. There is room for `room` slots and counts.
 * Those that have no slot go to the list `fresh`, with their counts, if it is no None: in the end,
 * because making an object may run anything. Before, nothing runs Python, so that what is borrowed
 * stays, and no other thread comes between.
 *
 * Answers how many have slots. -1 where the event asks for the long way: a token or a count of
 * another kind, a count that is not from 0 to `most`, no room. -2 with an error set.
 */
static inline Py_ssize_t read_tokens(PyObject *event, PyObject *known, PyObject *fresh,
                                     const long long *table, uint64_t mask,
                                     const long long *places, const double *cells,
                                     double threshold, double most, int binary, int trusted,
                                     Py_ssize_t room, long long *slots, double *counts) {
    TokenGroup group;
    Py_ssize_t position = 0, i, n = 0, end = room;
    double total = 0.0, rest = 0.0;
    do {
        int found = next_tokens(event, &position, known, threshold, most, binary, trusted, &group);
        if (found <= 0)
            return found == 0 ? -1 : -2;
        if (n + group.size >= end)
            return -1;
        if (find_slots(table, mask, places, cells, &group) < 0)
            return -2;
        for (i = 0; i < group.size; i++) {
            double v = group.counts[i], s = total + v;
            rest += sum_error(total, v, s);
            total = s;
            if (group.slots[i] >= 0) {
                slots[n] = group.slots[i];
                counts[n++] = v;
                continue;
            }
            if (!trusted && !PyUnicode_IS_ASCII(group.names[i]))
                return -1;
            if (fresh != Py_None) { /* from the end of the room on */
                slots[--end] = (long long)(intptr_t)group.names[i];
                counts[end] = v;
            }
        }
    } while (group.size == STREAMNB_GROUP);
    counts[n] = total < HUGE_VAL ? total + rest : total;
    for (i = end; i < room; i++)
        Py_INCREF((PyObject *)(intptr_t)slots[i]);
    for (i = room - 1; i >= end; i--) {
        PyObject *name = (PyObject *)(intptr_t)slots[i];
        PyObject *pair = fresh == NULL ? NULL : Py_BuildValue("(Od)", name, counts[i]);
        if (pair == NULL || PyList_Append(fresh, pair) < 0)
            fresh = NULL; /* the names that are left must be let go all the same */
        Py_XDECREF(pair);
        Py_DECREF(name);
    }
    return fresh == NULL ? -2 : n;
}

#endif
