cdef extern from "products.h":
    void add_rows(double *out, const double *z, Py_ssize_t stride, const double *a,
                  Py_ssize_t rows, Py_ssize_t n) noexcept nogil
    void rotate_rows(double *u, double *z, double c, double s, Py_ssize_t n) noexcept nogil
    void solve_eight(double *x, const double *u, Py_ssize_t stride, const double *inverse,
                     double *a) noexcept nogil
    double sum_squares(const double *x, Py_ssize_t n) noexcept nogil

cdef extern from "shares.h":
    void log_shares(double *weights, Py_ssize_t n) noexcept nogil

cdef extern from "arrays.h":
    double *doubles_of(object array) except NULL
    long long *longs_of(object array) except NULL
    double *onward(double *p, Py_ssize_t i) noexcept nogil
