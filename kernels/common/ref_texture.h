/* Texture sampling by the formulas of the CUDA C++ Programming Guide, "Texture Fetching": coordinate
 * in texels first, address mode on the coordinates, then floor and weights of 8 fractional bits. */
#ifndef REF_TEXTURE_H
#define REF_TEXTURE_H

#include <math.h>
#include <stdbool.h>

enum ref_address { REF_WRAP, REF_CLAMP, REF_MIRROR, REF_BORDER };

/* Texel a sample at index i of n reads; -1: the border. */
static inline long ref_texel(enum ref_address mode, double i, long n)
{
    if (mode == REF_BORDER)
        return i < 0 || i >= (double)n ? -1 : (long)i;
    if (mode == REF_CLAMP)
        return i < 0 ? 0 : i >= (double)n ? n - 1 : (long)i;
    double turn = floor(i / (double)n), in = i - turn * (double)n;
    bool back = mode == REF_MIRROR && fmod(fabs(turn), 2.0) == 1.0;
    return back ? n - 1 - (long)in : (long)in;
}

struct ref_axis {
    long lo, hi;
    double a; /* weight of hi */
};

/* x in texels. */
static inline struct ref_axis ref_linear(enum ref_address mode, double x, long n)
{
    double xb = x - 0.5, i = floor(xb), a = rint((xb - i) * 256.0) / 256.0;
    return (struct ref_axis){ref_texel(mode, i, n), ref_texel(mode, i + 1, n), a};
}

static inline struct ref_axis ref_nearest(enum ref_address mode, double x, long n)
{
    long i = ref_texel(mode, floor(x), n);
    return (struct ref_axis){i, i, 0};
}

static inline double ref_mix(double lo, double hi, double a)
{
    return (1 - a) * lo + a * hi;
}

#endif
