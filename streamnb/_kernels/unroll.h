/* Loops of a known length that the compiler writes out, so that what they use is in registers. */
#ifndef STREAMNB_UNROLL_H
#define STREAMNB_UNROLL_H

#if defined(__GNUC__)
#define UNROLL(n) STREAMNB_PRAGMA(GCC unroll n)
#define STREAMNB_PRAGMA(text) _Pragma(#text)
#else
#define UNROLL(n)
#endif

#endif
