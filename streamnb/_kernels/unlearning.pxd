cdef extern from "fp.h":
    double product_error(double a, double b, double p) noexcept nogil
