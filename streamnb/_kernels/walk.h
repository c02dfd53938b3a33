/* The quick way through an event: features in their usual order, plain numbers of usual size. */
#ifndef STREAMNB_WALK_H
#define STREAMNB_WALK_H

#include <Python.h>
#include <math.h>
#include <string.h>

static inline int same_text(PyObject *a, PyObject *b) {
    return PyUnicode_CheckExact(a) && PyUnicode_CheckExact(b)
        && PyUnicode_GET_LENGTH(a) == PyUnicode_GET_LENGTH(b)
        && PyUnicode_KIND(a) == PyUnicode_KIND(b)
        && memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b),
                  (size_t)PyUnicode_GET_LENGTH(a) * PyUnicode_KIND(a)) == 0;
}

/* Puts the values of the dict `event` into `values` while its names are those of the list `order`,
 * one after the other. Answers their number, or -1 where a name or a value asks for the long way:
 * another name, another type than float or int, NaN, or a size (but 0) not from small to large. */
static inline Py_ssize_t walk(PyObject *event, PyObject *order, double *values,
                              double small, double large) {
    Py_ssize_t at = 0, i = 0, n = PyList_GET_SIZE(order);
    PyObject *name, *value;
    while (PyDict_Next(event, &at, &name, &value)) {
        double v;
        if (i == n)
            return -1;
        if (name != PyList_GET_ITEM(order, i) && !same_text(name, PyList_GET_ITEM(order, i)))
            return -1;
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
        if (!(fabs(v) <= large && (fabs(v) >= small || v == 0.0)))
            return -1;
        values[i++] = v + 0.0;
    }
    return i;
}

#endif
