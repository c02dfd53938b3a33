cdef extern from "shares.h":
    void log_shares(double *weights, Py_ssize_t n) noexcept nogil

cdef extern from "arrays.h":
    double *doubles_of(object array) except NULL
    long long *longs_of(object array) except NULL
