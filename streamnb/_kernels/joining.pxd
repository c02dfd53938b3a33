cdef extern from "fp.h":
    double sum_error(double a, double b, double s) noexcept nogil
    double product_error(double a, double b, double p) noexcept nogil
