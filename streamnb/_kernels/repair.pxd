cdef extern from "fp.h":
    double sum_error(double a, double b, double s) noexcept nogil
    double product_error(double a, double b, double p) noexcept nogil

cdef extern from "twofold.h":
    void subtract_multiple(double *hi, double *lo, const double *u, const double *u_lo,
                           double a, double a_lo, Py_ssize_t n) noexcept nogil

cdef extern from "arrays.h":
    double *doubles_of(object array) except NULL
    double *onward(double *p, Py_ssize_t i) noexcept nogil
