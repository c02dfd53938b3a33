/* One look at many doubles. */
#ifndef STREAMNB_SURVEY_H
#define STREAMNB_SURVEY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether the size of any of n values is neither 0 nor from `small` to `large`; NaN is none.
 *
 * A double without its sign is ordered as its bits are. */
static inline int any_unusual(const double *values, ptrdiff_t n, double small, double large) {
    uint64_t first, last, odd = 0;
    memcpy(&first, &small, sizeof first);
    memcpy(&last, &large, sizeof last);
    last = 2 * last - 2 * first;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, values + i, sizeof bits);
        bits <<= 1;
        odd |= (bits - 2 * first > last) & (bits != 0);
    }
    return odd != 0;
}

#endif
