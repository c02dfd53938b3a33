cdef extern from "shares.h":
    void log_shares(double *weights, Py_ssize_t n) noexcept nogil

cdef extern from "walk.h":
    Py_ssize_t walk(object event, object names, double *values, double small, double large) noexcept

cdef extern from "posterior.h":
    Py_ssize_t best_of(const double *scores, Py_ssize_t n) noexcept nogil
    void to_probabilities(const double *scores, double *out, Py_ssize_t n, double high) noexcept nogil

cdef extern from "arrays.h":
    double *doubles_of(object array) except NULL
    long long *longs_of(object array) except NULL
