cdef extern from "products.h":
    void add_rows(double *out, const double *z, Py_ssize_t stride, const double *a,
                  Py_ssize_t rows, Py_ssize_t n) noexcept nogil
