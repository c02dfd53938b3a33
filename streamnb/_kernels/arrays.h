/* The numbers of arrays, by their addresses. Whoever takes one keeps the array. */
#ifndef STREAMNB_ARRAYS_H
#define STREAMNB_ARRAYS_H

#include <Python.h>

/* Where the numbers of a C-contiguous array are; NULL with an error set where it is none. */
static inline void *numbers_of(PyObject *array) {
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    PyBuffer_Release(&view);
    return view.buf;
}

static inline double *doubles_of(PyObject *array) {
    return (double *)numbers_of(array);
}

static inline long long *longs_of(PyObject *array) {
    return (long long *)numbers_of(array);
}

/* The numbers of p from number i on. */
static inline double *onward(double *p, Py_ssize_t i) {
    return p + i;
}

#endif
