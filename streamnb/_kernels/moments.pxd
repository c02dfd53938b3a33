cdef extern from "fp.h":
    double sum_error(double a, double b, double s) noexcept nogil
    double product_error(double a, double b, double p) noexcept nogil
    double plain_product_error(double a, double b, double p) noexcept nogil
    double one() noexcept nogil
    double fused_sum(double a, double b, double unit) noexcept nogil

cdef extern from *:
    # Pointers to numbers that nothing else points to: the loops need no checks for it.
    ctypedef double *Apart "double *__restrict"
    ctypedef const double *Given "const double *__restrict"

cdef extern from "calm.h":
    double calm_stage(double w, double old, double old_lo) noexcept nogil
    bint calm_stages(Py_ssize_t n, const double *w, const double *old, const double *old_lo,
                     double *stage, double *part, double *product) noexcept nogil
    bint is_calm(double d, double squares) noexcept nogil
    bint are_calm(const double *mean, const double *mean_lo, const double *squares,
                  const double *x, Py_ssize_t n, double *d) noexcept nogil
    bint are_calm_together(double *mean, double *mean_lo, double *squares, double *squares_lo,
                           const double *x, Py_ssize_t n, double *d) noexcept nogil
    void take_calm(double *mean_lo, double *squares_lo, const double *d, Py_ssize_t n, double f,
                   double q) noexcept nogil

cdef extern from "walk.h":
    Py_ssize_t walk(object event, object names, double *values, double small, double large) noexcept

cdef extern from "arrays.h":
    double *doubles_of(object array) except NULL
    long long *longs_of(object array) except NULL
    double *onward(double *p, Py_ssize_t i) noexcept nogil
