cdef extern from "shares.h":
    void log_shares(double *weights, Py_ssize_t n) noexcept nogil
