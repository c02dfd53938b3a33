cdef extern from "fp.h":
    double product_error(double a, double b, double p) noexcept nogil
    double plain_product_error(double a, double b, double p) noexcept nogil
    double one() noexcept nogil
    double fused_sum(double a, double b, double unit) noexcept nogil

cdef extern from *:
    # Pointers to numbers that nothing else points to: the loops need no checks for it.
    ctypedef double *Apart "double *__restrict"
    ctypedef const double *Given "const double *__restrict"

cdef extern from "walk.h":
    Py_ssize_t walk(object event, object names, double *values, double small, double large) noexcept
