/* The rounding errors of a sum and of a product: a * b == p + product_error(a, b, p), with p = a * b rounded.
 *
 * With a fused multiply-add it takes one instruction; without, Dekker's split takes seventeen.
 * Both are exact, so every build gives the same bits.
 * (T. J. Dekker, A floating-point technique for extending the available precision, 1971.)
 */
#ifndef STREAMNB_FP_H
#define STREAMNB_FP_H

#include <math.h>

/* The rounding error of the sum s = a + b (D. E. Knuth's TwoSum). */
static inline double sum_error(double a, double b, double s) {
    double c = s - a;
    return (a - (s - c)) + (b - c);
}

/* For factors and a product that are nowhere near the ends of a double's range. */
static inline double plain_product_error(double a, double b, double p) {
#ifdef __FMA__
    return __builtin_fma(a, b, -p);
#else
    double ca = 134217729.0 * a, cb = 134217729.0 * b;
    double ah = ca - (ca - a), bh = cb - (cb - b);
    double al = a - ah, bl = b - bh;
    return ((ah * bh - p) + ah * bl + al * bh) + al * bl;
#endif
}

/* For any: 0 where p is so small (below 2^-960) that its error could underflow. */
static inline double product_error(double a, double b, double p) {
#ifndef __FMA__
    /* The split must not overflow: a power of two goes from the larger factor to the other. */
    double down = fabs(a) > 0x1p970 ? 0x1p-53 : fabs(b) > 0x1p970 ? 0x1p53 : 1.0;
    a *= down;
    b /= down;
#endif
    double error = plain_product_error(a, b, p);
    return fabs(p) < 0x1p-960 ? 0.0 : error;
}

/* 1, which the compiler takes for any number. */
static inline double one(void) {
    static const volatile double unit = 1.0;
    return unit;
}

/* a + b, with unit = one(): the same bits, from the units that multiply. */
static inline double fused_sum(double a, double b, double unit) {
#ifdef __FMA__
    return __builtin_fma(a, unit, b);
#else
    (void)unit;
    return a + b;
#endif
}

#endif
