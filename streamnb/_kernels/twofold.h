/* The inner loop of sums of products in double-double: numbers hi + lo, lo below half an ulp of hi.
 *
 * Each step keeps about 105 bits of the larger operand, the same ones in every build (`fp.h`).
 */
#ifndef STREAMNB_TWOFOLD_H
#define STREAMNB_TWOFOLD_H

#include <stddef.h>

#include "fp.h"

/* hi[j] + lo[j] -= (a + a_lo) (u[j] + u_lo[j]), for j below n. */
static inline void subtract_multiple(double *restrict hi, double *restrict lo,
                                     const double *restrict u, const double *restrict u_lo,
                                     double a, double a_lo, ptrdiff_t n) {
    for (ptrdiff_t j = 0; j < n; j++) {
        double p = a * u[j];
        double e = product_error(a, u[j], p) + (a * u_lo[j] + a_lo * u[j]);
        double x = hi[j];
        double s = x - p;
        double t = lo[j] + (sum_error(x, -p, s) - e);
        hi[j] = s + t;
        lo[j] = t - (hi[j] - s);
    }
}

#endif
