/* Events that are calm: each says little beside what settled cells have seen (see `moments`).
 *
 * Cells stand in rows, and none of the rows overlap, so that loops need no checks for it; n is a
 * multiple of four.
 */
#ifndef STREAMNB_CALM_H
#define STREAMNB_CALM_H

#include <stddef.h>
#include <stdint.h>

#include "fp.h"

/* What an event of weight w asks of a cell of weight old + old_lo, which is settled but for 0:
 * 0 or 1, all digits; 2, to be calm; 3, to be calm, with hi and lo together.
 *
 * Adding 2^52 and taking it away rounds to a whole number, adding 2^54 to a multiple of 4. */
static inline double calm_stage(double w, double old, double old_lo) {
    int settled = (old_lo == 0.0) & (old >= 1024.0) & (old <= 0x1p50)
                & ((old + 0x1p52) - 0x1p52 == old);
    int due = (old + 0x1p54) - 0x1p54 == old;
    return settled ? (w == 1.0 ? (due ? 3.0 : 2.0) : 1.0) : 0.0;
}

/* `calm_stage` of each of n; whether all may be calm. Of such also the event's part of the new
 * weight, w/(W + w), and that times W. */
static inline int calm_stages(ptrdiff_t n, const double *restrict w, const double *restrict old,
                              const double *restrict old_lo, double *restrict stage,
                              double *restrict part, double *restrict product) {
    int64_t others = 0;
#if defined __GNUC__ && !defined __clang__
#pragma GCC ivdep
#endif
    for (ptrdiff_t i = 0; i < n; i++) {
        double f = 1.0 / (old[i] + 1.0);
        stage[i] = calm_stage(w[i], old[i], old_lo[i]);
        others |= stage[i] < 2.0;
        part[i] = f;
        product[i] = old[i] * f;
    }
    return others == 0;
}

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
        restless |= !is_calm(e, squares[i]);
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
        double m = mean[i] + mean_lo[i], m_lo = sum_error(mean[i], mean_lo[i], m);
        double s = squares[i] + squares_lo[i], s_lo = sum_error(squares[i], squares_lo[i], s);
        double e = (x[i] - m) - m_lo;
        mean[i] = m, mean_lo[i] = m_lo;
        squares[i] = s, squares_lo[i] = s_lo;
        d[i] = e;
        restless |= !is_calm(e, s);
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
