cdef extern from "posterior.h":
    void to_probabilities(const double *scores, double *out, Py_ssize_t n, double high) noexcept nogil
