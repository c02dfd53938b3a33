/* The logarithms of the shares that weights have in their sum; all the same where all are 0. */
#ifndef STREAMNB_SHARES_H
#define STREAMNB_SHARES_H

#include <math.h>

static inline void log_shares(double *weights, Py_ssize_t n) {
    double high = 0.0, total = 0.0;
    for (Py_ssize_t i = 0; i < n; i++)
        high = weights[i] > high ? weights[i] : high;
    for (Py_ssize_t i = 0; i < n; i++) {
        weights[i] = high > 0.0 ? weights[i] / high : 1.0;
        total += weights[i];
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        double share = weights[i] / total;
        weights[i] = share > 0.0 ? log(share) : -INFINITY;
    }
}

#endif
