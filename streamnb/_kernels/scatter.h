/* What learning a scatter does to each event: its deviations, and the sums of their products.
 *
 * Rows are padded to a multiple of eight numbers, which vector instructions take whole.
 */
#ifndef STREAMNB_SCATTER_H
#define STREAMNB_SCATTER_H

#include <stddef.h>

#include "unroll.h"

/* A tile of TALL rows and WIDE vectors of LANES columns stays in registers while it is summed,
 * ROWS rows of the block at a time; it divides a square of eight. gcc does not find it in plain
 * loops: it must be told of vectors.
 */
#if !defined(__GNUC__)
#define LANES 1
#define TALL 4
#define WIDE 2
#define ROWS 1
typedef double lanes;
#else
#if defined(__AVX512F__)
#define LANES 8
#define TALL 8
#define WIDE 1
#define ROWS 2
#elif defined(__AVX__)
#define LANES 4
#define TALL 4
#define WIDE 2
#define ROWS 1
#else
#define LANES 2
#define TALL 4
#define WIDE 2
#define ROWS 1
#endif
typedef double lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
#endif

/* out[i][j] += the sum, from zero, over r of a[r][i] b[r][j], the rows r one after the other. */
static inline void add_tile(double *restrict out, ptrdiff_t stride, const double *restrict a,
                            const double *restrict b, ptrdiff_t rows) {
    lanes sums[TALL][WIDE];
    UNROLL(8)
    for (int i = 0; i < TALL; i++)
        UNROLL(2)
        for (int v = 0; v < WIDE; v++)
            sums[i][v] = (lanes){0};
    UNROLL(ROWS)
    for (ptrdiff_t r = 0; r < 8 * rows; r += 8) {
        UNROLL(8)
        for (int i = 0; i < TALL; i++)
            UNROLL(2)
            for (int v = 0; v < WIDE; v++)
                sums[i][v] += a[r + i] * *(const lanes *)(b + r + v * LANES);
    }
    UNROLL(8)
    for (int i = 0; i < TALL; i++)
        UNROLL(2)
        for (int v = 0; v < WIDE; v++)
            *(lanes *)(out + i * stride + v * LANES) += sums[i][v];
}

/* out[i][j] += the sum, from zero, over r of z[r][i] z[r][j], for i and j below n and i <= j.
 *
 * z lies in panels of eight columns: z[r][j] is z[(j / 8 * rows + r) * 8 + j % 8]. Entries below
 * the diagonal are written to where they stand in a square of eight with it.
 */
static inline void add_products(double *out, ptrdiff_t stride, const double *z, ptrdiff_t rows,
                                ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i += TALL) {
        const double *a = z + i / 8 * 8 * rows + i % 8;
        for (ptrdiff_t j = i / 8 * 8; j < n; j += LANES * WIDE)
            add_tile(out + i * stride + j, stride, a, z + j / 8 * 8 * rows + j % 8, rows);
    }
}

/* A row of z, of n numbers, times a factor into panels that are `apart` numbers from each other. */
static inline void pack_row(double *restrict out, ptrdiff_t apart, const double *restrict row,
                            double factor, ptrdiff_t n) {
    for (ptrdiff_t j = 0; j < n; j += 8)
        for (int i = 0; i < 8; i++)
            out[j / 8 * apart + i] = factor * row[j + i];
}

/* d = x - m, and m += f d, of means m = mean + low; in `out` the d. Where f is not `light` it is
 * the part by which the mean lags behind the event x.
 */
static inline void deviate(double *restrict out, const double *restrict x, double *restrict mean,
                           double *restrict low, double f, int light, ptrdiff_t n) {
    if (light)
        for (ptrdiff_t i = 0; i < n; i++) {
            double y = x[i] + 0.0, u = mean[i], d = (y - u) - low[i], e = d * f, g = u + e;
            double c = g - u;
            out[i] = d;
            low[i] = ((u - (g - c)) + (e - c)) + low[i];
            mean[i] = g;
        }
    else
        for (ptrdiff_t i = 0; i < n; i++) {
            double y = x[i] + 0.0, d = (y - mean[i]) - low[i], e = -(d * f), g = y + e;
            double c = g - y;
            out[i] = d;
            low[i] = ((y - (g - c)) + (e - c)) + 0.0;
            mean[i] = g;
        }
}

#endif
