/*
 * Helpers of the reference programs: writing data files, the random fill of
 * the launch files, and rounding to narrow formats from the definition of
 * rounding instead of by bit tricks, so that they share no errors with code
 * under test.
 */
#ifndef REF_H
#define REF_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "data files are little-endian and written as they lie in memory"
#endif

static const char *ref_outdir = ".";

static inline void ref_init(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s OUTDIR\n", argv[0]);
        exit(2);
    }
    ref_outdir = argv[1];
}

static inline void ref_write(const char *name, const void *data, size_t size)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", ref_outdir, name);

    FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "wb") : NULL;
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

/* Writes a whole array; not for pointers. */
#define REF_WRITE(name, array) ref_write(name, array, sizeof(array))

/* Element i of a "uniform" fill, before it is scaled to its range. */
static inline uint64_t ref_splitmix64(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline double ref_uniform(uint64_t seed, uint64_t i, double min, double max)
{
    double u = (double)(ref_splitmix64(seed, i) >> 11) * 0x1p-53;
    return min + u * (max - min);
}

static inline int64_t ref_uniform_int(uint64_t seed, uint64_t i, int64_t min, int64_t max)
{
    uint64_t range = (uint64_t)max - (uint64_t)min + 1;
    return (int64_t)((uint64_t)min + ref_splitmix64(seed, i) % range);
}

/*
 * x rounded to a binary format with the given number of significant bits whose
 * smallest subnormal is 2^qmin.  round is rintl, floorl, ceill or truncl.
 * Overflow is left to the caller.
 */
static inline long double ref_round(long double x, int digits, int qmin,
                                    long double (*round_int)(long double))
{
    int e;

    if (x == 0 || !isfinite(x))
        return x;
    frexpl(x, &e);
    int q = e - digits > qmin ? e - digits : qmin;
    return copysignl(ldexpl(round_int(ldexpl(x, -q)), q), x);
}

/* Bits of x as f16, rounded to nearest even; NaN becomes CUDA's canonical one. */
static inline uint16_t ref_f16(long double x)
{
    unsigned sign = signbit(x) ? 0x8000u : 0;
    int e;

    if (isnan(x))
        return 0x7fff;
    long double r = fabsl(ref_round(x, 11, -24, rintl));
    if (r > 65504.0L)
        return (uint16_t)(sign | 0x7c00u);
    if (r < 0x1p-14L)
        return (uint16_t)(sign | (unsigned)ldexpl(r, 24));
    long double m = frexpl(r, &e);
    return (uint16_t)(sign | ((unsigned)(e + 14) << 10) | (unsigned)ldexpl(2 * m - 1, 10));
}

static inline double ref_from_f16(uint16_t h)
{
    int e = (h >> 10) & 31, f = h & 1023;
    double v;

    if (e == 31)
        v = f ? (double)NAN : (double)INFINITY;
    else if (e == 0)
        v = ldexp(f, -24);
    else
        v = ldexp(1024 + f, e - 25);
    return h & 0x8000 ? -v : v;
}

/* Bits of x as bf16, rounded to nearest even; NaN becomes CUDA's canonical one. */
static inline uint16_t ref_bf16(long double x)
{
    uint32_t u;

    if (isnan(x))
        return 0x7fff;
    float f = (float)ref_round(x, 8, -133, rintl); /* exact, or infinite */
    memcpy(&u, &f, sizeof u);
    return (uint16_t)(u >> 16);
}

static inline double ref_from_bf16(uint16_t b)
{
    uint32_t u = (uint32_t)b << 16;
    float f;

    memcpy(&f, &u, sizeof f);
    return (double)f;
}

#endif
