cdef extern from "fp.h":
    double product_error(double a, double b, double p) noexcept nogil

cdef extern from *:
    # Pointers to numbers that nothing else points to: the loops need no checks for it.
    ctypedef double *apart "double *__restrict"
    ctypedef const double *given "const double *__restrict"

cdef extern from "walk.h":
    Py_ssize_t walk(object event, object order, double *values, double limit) noexcept
