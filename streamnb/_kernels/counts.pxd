cdef extern from "names.h":
    Py_ssize_t enter_names(object known, Py_ssize_t position, long long *table,
                           unsigned long long mask, long long *places) except -1
    Py_ssize_t read_tokens(object event, object known, object fresh, const long long *table,
                           unsigned long long mask, const long long *places, const double *cells,
                           double threshold, double most, bint binary, bint trusted,
                           Py_ssize_t room, long long *slots, double *counts) except -2

cdef extern from "arrays.h":
    double *doubles_of(object array) except NULL
    long long *longs_of(object array) except NULL

cdef extern from "fp.h":
    double sum_error(double a, double b, double s) noexcept nogil
