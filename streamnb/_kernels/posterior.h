/* The end of Bayes' rule on an array of joint log-likelihoods. */
#ifndef STREAMNB_POSTERIOR_H
#define STREAMNB_POSTERIOR_H

#include <Python.h>
#include <math.h>

/* The place of the first of the largest; n where all are -inf. */
static inline Py_ssize_t best_of(const double *scores, Py_ssize_t n) {
    double high = -INFINITY;
    Py_ssize_t at = n;
    for (Py_ssize_t i = 0; i < n; i++)
        if (scores[i] > high) {
            high = scores[i];
            at = i;
        }
    return at;
}

/* Puts each class's probability into `out`, which may be `scores`; `high` is the largest score. */
static inline void to_probabilities(const double *scores, double *out, Py_ssize_t n, double high) {
    double total = 0.0;
    for (Py_ssize_t i = 0; i < n; i++) {
        out[i] = exp(scores[i] - high);
        total += out[i];
    }
    for (Py_ssize_t i = 0; i < n; i++)
        out[i] = out[i] / total;
}

#endif
