/* The quick way through an event: features in their usual order, plain numbers of usual size. */
#ifndef STREAMNB_WALK_H
#define STREAMNB_WALK_H

#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* memcmp(a, b, n) == 0, without a call where n is at most 16, as names are mostly. */
static inline int same_bytes(const char *a, const char *b, size_t n) {
    uint64_t a0 = 0, a1 = 0, b0 = 0, b1 = 0;
    if (n > 16)
        return memcmp(a, b, n) == 0;
    if (n >= 8) { /* the first eight bytes and the last: they may overlap */
        memcpy(&a0, a, 8), memcpy(&a1, a + n - 8, 8);
        memcpy(&b0, b, 8), memcpy(&b1, b + n - 8, 8);
    } else if (n >= 4) {
        memcpy(&a0, a, 4), memcpy(&a1, a + n - 4, 4);
        memcpy(&b0, b, 4), memcpy(&b1, b + n - 4, 4);
    } else if (n >= 2) {
        memcpy(&a0, a, 2), memcpy(&a1, a + n - 2, 2);
        memcpy(&b0, b, 2), memcpy(&b1, b + n - 2, 2);
    } else if (n) {
        a0 = (unsigned char)*a, b0 = (unsigned char)*b;
    }
    return a0 == b0 && a1 == b1;
}

static inline int same_text(PyObject *a, PyObject *b) {
    return PyUnicode_CheckExact(a) && PyUnicode_CheckExact(b)
        && PyUnicode_GET_LENGTH(a) == PyUnicode_GET_LENGTH(b)
        && PyUnicode_KIND(a) == PyUnicode_KIND(b)
        && same_bytes((const char *)PyUnicode_DATA(a), (const char *)PyUnicode_DATA(b),
                      (size_t)PyUnicode_GET_LENGTH(a) * PyUnicode_KIND(a));
}

/* Puts the values of the dict `event` into `values` while its names are those of the list `names`,
 * one after the other. Answers their number, or -1 where a name or a value asks for the long way:
 * another name, another type than float or int, NaN, or a size (but 0) not from small to large.
 * A name that is another object of the same text takes the place of the one in the list, so that
 * events whose names are the same objects each time are not compared letter by letter. */
static inline Py_ssize_t walk(PyObject *event, PyObject *names, double *values,
                              double small, double large) {
    Py_ssize_t at = 0, i = 0, n = PyList_GET_SIZE(names);
    PyObject *name, *value;
    while (PyDict_Next(event, &at, &name, &value)) {
        double v, size;
        if (i == n)
            return -1;
        PyObject *known = PyList_GET_ITEM(names, i);
        if (name != known) {
            if (!same_text(name, known))
                return -1;
            Py_INCREF(name);
            PyList_SET_ITEM(names, i, name);
            Py_DECREF(known);
        }
        if (PyFloat_CheckExact(value)) {
            v = PyFloat_AS_DOUBLE(value);
        } else if (PyLong_CheckExact(value)) {
            v = PyLong_AsDouble(value);
            if (v == -1.0 && PyErr_Occurred()) {
                PyErr_Clear();
                return -1;
            }
        } else {
            return -1;
        }
        size = fabs(v);
        if (!(size <= large && (size >= small || v == 0.0)))
            return -1;
        values[i++] = v + 0.0;
    }
    return i;
}

#endif
