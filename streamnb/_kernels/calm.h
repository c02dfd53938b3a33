/* Events that are calm: each says little beside what settled cells have seen (see `moments`).
 *
 * Cells stand in rows, and none of the rows overlap, so that loops need no checks for it; n is a
 * multiple of four.
 */
#ifndef STREAMNB_CALM_H
#define STREAMNB_CALM_H

#include <stddef.h>
#include <stdint.h>

/* Whether a deviation d is calm beside the sum of squares. */
static inline int is_calm(double d, double squares) {
    return !(d * d > squares * 0.015625);
}

/* Whether all n values are calm; writes their deviations to d. */
static inline int are_calm(const double *restrict mean, const double *restrict mean_lo,
                           const double *restrict squares, const double *restrict x,
                           ptrdiff_t n, double *restrict d) {
    int64_t restless = 0;
    n &= ~(ptrdiff_t)3;
#if defined __GNUC__ && !defined __clang__
#pragma GCC ivdep
#endif
    for (ptrdiff_t i = 0; i < n; i++) {
        double e = (x[i] - mean[i]) - mean_lo[i];
        d[i] = e;
        restless |= e * e > squares[i] * 0.015625;
    }
    return restless == 0;
}

/* `are_calm`, once hi and lo of each cell are together again. */
static inline int are_calm_together(double *restrict mean, double *restrict mean_lo,
                                    double *restrict squares, double *restrict squares_lo,
                                    const double *restrict x, ptrdiff_t n, double *restrict d) {
    int64_t restless = 0;
    n &= ~(ptrdiff_t)3;
#if defined __GNUC__ && !defined __clang__
#pragma GCC ivdep
#endif
    for (ptrdiff_t i = 0; i < n; i++) {
        double hi = mean[i], lo = mean_lo[i], sum = hi + lo, part = sum - hi;
        double e = (x[i] - sum) - ((hi - (sum - part)) + (lo - part));
        mean[i] = sum;
        mean_lo[i] = (hi - (sum - part)) + (lo - part);
        d[i] = e;
        hi = squares[i], lo = squares_lo[i], sum = hi + lo, part = sum - hi;
        squares[i] = sum;
        squares_lo[i] = (hi - (sum - part)) + (lo - part);
        restless |= e * e > sum * 0.015625;
    }
    return restless == 0;
}

/* Takes n calm deviations into the lo parts: d f into that of the mean, d^2 q into that of S. */
static inline void take_calm(double *restrict mean_lo, double *restrict squares_lo,
                             const double *restrict d, ptrdiff_t n, double f, double q) {
    n &= ~(ptrdiff_t)3;
#if defined __GNUC__ && !defined __clang__
#pragma GCC ivdep
#endif
    for (ptrdiff_t i = 0; i < n; i++) {
        double e = d[i];
        mean_lo[i] += e * f;
        squares_lo[i] += (e * e) * q;
    }
}

#endif
