/* The inner loops of a factorization, of its rotations and of triangular systems.
 *
 * Rows are padded to a multiple of eight numbers, which vector instructions take whole.
 */
#ifndef STREAMNB_PRODUCTS_H
#define STREAMNB_PRODUCTS_H

#include <stddef.h>

#include "unroll.h"

/* out[j] += sum over r of a[r] z[r][j], for j below n, the rows r one after the other.
 *
 * Eight rows are read at once, so that out is read and written once for them; each out[j] is still
 * the sum in the order of the rows, whatever their number.
 */
static inline void add_rows(double *restrict out, const double *restrict z, ptrdiff_t stride,
                            const double *restrict a, ptrdiff_t rows, ptrdiff_t n) {
    ptrdiff_t r = 0;
    n &= ~(ptrdiff_t)7;
    for (; r + 8 <= rows; r += 8) {
        const double *restrict y = z + r * stride;
        double a0 = a[r], a1 = a[r + 1], a2 = a[r + 2], a3 = a[r + 3], a4 = a[r + 4],
               a5 = a[r + 5], a6 = a[r + 6], a7 = a[r + 7];
        for (ptrdiff_t j = 0; j < n; j++) {
            double s = out[j];
            s += a0 * y[j];
            s += a1 * y[stride + j];
            s += a2 * y[2 * stride + j];
            s += a3 * y[3 * stride + j];
            s += a4 * y[4 * stride + j];
            s += a5 * y[5 * stride + j];
            s += a6 * y[6 * stride + j];
            s += a7 * y[7 * stride + j];
            out[j] = s;
        }
    }
    for (; r + 2 <= rows; r += 2) {
        const double *restrict y = z + r * stride;
        double a0 = a[r], a1 = a[r + 1];
        for (ptrdiff_t j = 0; j < n; j++) {
            double s = out[j];
            s += a0 * y[j];
            s += a1 * y[stride + j];
            out[j] = s;
        }
    }
    for (; r < rows; r++) {
        const double *restrict y = z + r * stride;
        double a0 = a[r];
        for (ptrdiff_t j = 0; j < n; j++)
            out[j] += a0 * y[j];
    }
}

/* The rotation (c, s; -s, c) of the rows u and z. */
static inline void rotate_rows(double *restrict u, double *restrict z, double c, double s,
                               ptrdiff_t n) {
    n &= ~(ptrdiff_t)7;
    for (ptrdiff_t j = 0; j < n; j++) {
        double a = u[j], b = z[j];
        u[j] = c * a + s * b;
        z[j] = c * b - s * a;
    }
}

/* Solves for eight unknowns, u being the square on the diagonal: x[i] becomes x[i] inverse[i], and
 * the products of it with row i are taken out of those after it. In a: -x[i].
 */
static inline void solve_eight(double *restrict x, const double *restrict u, ptrdiff_t stride,
                               const double *restrict inverse, double *restrict a) {
    double y[8];
    UNROLL(8)
    for (int i = 0; i < 8; i++)
        y[i] = x[i];
    UNROLL(8)
    for (int i = 0; i < 8; i++) {
        double v = y[i] * inverse[i];
        x[i] = v;
        a[i] = -v;
        UNROLL(8)
        for (int k = i + 1; k < 8; k++)
            y[k] += -v * u[i * stride + k];
    }
}

/* The sum of the squares of n numbers: of every eighth, then of these sums. */
static inline double sum_squares(const double *x, ptrdiff_t n) {
    double t[8] = {0};
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            t[k] += x[i + k] * x[i + k];
    for (int k = 0; i + k < n; k++)
        t[k] += x[i + k] * x[i + k];
    return ((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7]));
}

#endif
