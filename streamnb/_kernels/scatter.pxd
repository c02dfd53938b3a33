cdef extern from "scatter.h":
    void add_products(double *out, Py_ssize_t stride, const double *z, Py_ssize_t rows,
                      Py_ssize_t n) noexcept nogil
    void pack_row(double *out, Py_ssize_t apart, const double *row, double factor,
                  Py_ssize_t n) noexcept nogil
    void deviate(double *out, const double *x, double *mean, double *low, double f, bint light,
                 Py_ssize_t n) noexcept nogil

cdef extern from "arrays.h":
    double *doubles_of(object array) except NULL
    long long *longs_of(object array) except NULL
    double *onward(double *p, Py_ssize_t i) noexcept nogil

cdef extern from "fp.h":
    double sum_error(double a, double b, double s) noexcept nogil
