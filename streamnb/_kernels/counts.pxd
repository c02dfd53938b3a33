cdef extern from "names.h":
    enum: STREAMNB_GROUP
    long long address_of(object text) noexcept
    int enter_name(long long *table, unsigned long long mask, object name, long long slot) except -1
    Py_ssize_t next_tokens(object event, Py_ssize_t *position, double threshold, double most,
                           bint binary, long long *names, double *values) noexcept
    int find_names(const long long *table, unsigned long long mask, const long long *places,
                   const double *cells, const long long *names, Py_ssize_t n,
                   long long *slots) except -1

cdef extern from *:
    """
    static inline PyObject *text_of(long long address) {
        return Py_NewRef((PyObject *)(intptr_t)address);
    }
    """
    object text_of(long long address)
