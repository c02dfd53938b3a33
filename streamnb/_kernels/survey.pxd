cdef extern from "survey.h":
    bint any_unusual(const double *values, Py_ssize_t n, double small, double large) noexcept nogil
