/*
 * Reference of products into tensor memory (tcgen05.mma): elements of every format, matrices as they lie in shared
 * memory, the fused sums of the tensor cores, and where D lies. Written from the PTX ISA, NVIDIA CUTLASS's descriptors
 * and the published measurements of the arithmetic (MMA-Sim, arXiv 2511.10909).
 */
#ifndef REF_TCGEN05_H
#define REF_TCGEN05_H

#include "ref.h"

enum { KIND_F16, KIND_I8, KIND_F8F6F4, KIND_MXF8F6F4, KIND_MXF4, KIND_MXF4NVF4 };
enum { D_F16, D_F32, D_S32 };
enum { D_COLUMNS = 64, A_WORDS = 8, SCALE_WORDS = 16, LANES = 128, SHARED = 24576, B_AT = 16384, ROW = 32 };

struct product {
    uint32_t kind, idesc, add, a_in_tmem, shift, d_lane, a[2], b[2], mask[8], scale_b, meta, zeros[2], unused[10];
};

struct image {
    uint8_t shared[SHARED];
    uint32_t a[LANES][A_WORDS], scales[LANES][SCALE_WORDS];
};

/* ---- elements ---------------------------------------------------------------------------- */

struct format {
    int frac, exp, special; /* special: 2 infinities and NaN, 1 NaN alone (E4M3), 0 neither */
};

enum { F16, BF16, TF32, E4M3, E5M2, E2M3, E3M2, E2M1, U8, S8 };
static const struct format formats[] = {{10, 5, 2}, {7, 8, 2}, {10, 8, 2}, {3, 4, 1}, {2, 5, 2},
                                        {3, 2, 0},  {2, 3, 0}, {1, 2, 0}};

/* A number is sig * 2^(exp - frac); exp is that of its encoding, not normalised below the smallest one. */
struct number {
    int64_t sig;
    int exp, frac;
};

static struct number decode(int format, uint32_t v)
{
    const struct format f = formats[format];
    int bias = (1 << (f.exp - 1)) - 1, e = (int)(v >> f.frac & ((1u << f.exp) - 1));
    int64_t sig = (int64_t)(v & ((1u << f.frac) - 1)) + (e ? (int64_t)1 << f.frac : 0);
    return (struct number){v >> (f.frac + f.exp) & 1 ? -sig : sig, (e ? e : 1) - bias, f.frac};
}

static unsigned element_bits(int format)
{
    return format >= U8 ? 8 : format == TF32 ? 19 : (unsigned)(1 + formats[format].frac + formats[format].exp);
}

/* Any pattern but infinities and NaN, of exponents that are not too far apart. */
static uint32_t element(int format, uint64_t seed, uint64_t i)
{
    uint32_t v = (uint32_t)ref_splitmix64(seed, i) & (uint32_t)((1ull << element_bits(format)) - 1);
    if (format >= U8)
        return v;
    const struct format f = formats[format];
    uint32_t top = (1u << f.exp) - 1, e = v >> f.frac & top, sign = v & 1u << (f.frac + f.exp);
    uint32_t frac = v & ((1u << f.frac) - 1);
    if (f.exp == 8)
        e = 120 + e % 16;
    if (f.special == 2 && e == top)
        e = top - 1;
    if (f.special == 1 && e == top && frac == (1u << f.frac) - 1)
        frac--;
    return sign | e << f.frac | frac;
}

/* ---- matrices in memory ------------------------------------------------------------------ */

enum { SWIZZLE_NONE = 0, SWIZZLE_128_32 = 1, SWIZZLE_128 = 2, SWIZZLE_64 = 4, SWIZZLE_32 = 6 };

/* A matrix of `rows` rows with 32 bytes of k at `at` of the image. */
struct layout {
    int swizzle, transposed;
    unsigned at, leading, stride;
};

static unsigned atom_chunks(int swizzle)
{
    return swizzle == SWIZZLE_NONE ? 1 : swizzle == SWIZZLE_32 ? 2 : swizzle == SWIZZLE_64 ? 4 : 8;
}

static unsigned swizzled(int swizzle, unsigned at)
{
    unsigned line = at / 128, chunk = at / 16 % 8;
    switch (swizzle) {
    case SWIZZLE_128: chunk ^= line % 8; break;
    case SWIZZLE_64: chunk ^= line % 4; break;
    case SWIZZLE_32: chunk ^= line % 2; break;
    case SWIZZLE_128_32: chunk ^= line % 4 * 2; break;
    default: break;
    }
    return line * 128 + chunk * 16 + at % 16;
}

/* Byte `byte` of element k of row i, elements of `bytes` bytes. */
static uint8_t *byte_at(struct image *im, const struct layout *l, unsigned i, unsigned k, unsigned bytes, unsigned byte)
{
    unsigned w = atom_chunks(l->swizzle), offset;
    if (!l->transposed) {
        unsigned in_row = k * bytes + byte, chunk = in_row / 16;
        offset = i / 8 * l->stride + i % 8 * 16 * w + in_row % 16 + (w == 1 ? chunk * l->leading : chunk * 16);
    } else {
        unsigned together = 16 / bytes, v = i / together, group = l->swizzle == SWIZZLE_128_32 ? 4 : 8;
        unsigned wide = w == 1 ? l->stride : l->leading, deep = w == 1 ? l->leading : l->stride;
        offset = v % w * 16 + v / w * wide + k % group * 16 * w + k / group * deep + i % together * bytes + byte;
    }
    return &im->shared[swizzled(l->swizzle, l->at + offset)];
}

static void put_element(struct image *im, const struct layout *l, unsigned i, unsigned k, unsigned bytes, uint32_t v)
{
    for (unsigned b = 0; b < bytes; b++)
        *byte_at(im, l, i, k, bytes, b) = (uint8_t)(v >> 8 * b);
}

/* Elements of 4 and 6 bits: sixteen packed at the start of 16 bytes. */
static void put_packed(struct image *im, const struct layout *l, unsigned i, unsigned k, unsigned bits, uint32_t v)
{
    for (unsigned b = 0; b < bits; b++) {
        unsigned at = k % 16 * bits + b;
        *byte_at(im, l, i, k / 16 * 16 + at / 8, 1, 0) |= (uint8_t)((v >> b & 1) << at % 8);
    }
}

static void descriptor(uint32_t d[2], const struct layout *l)
{
    d[0] = l->at >> 4 | l->leading >> 4 << 16;
    d[1] = l->stride >> 4 | 1u << 14 | (uint32_t)l->swizzle << 29;
}

/* ---- sums -------------------------------------------------------------------------------- */

enum { MAX_TERMS = 160 };

struct sum {
    unsigned n;
    struct number term[MAX_TERMS];
};

static void add_term(struct sum *s, struct number x)
{
    if (x.sig)
        s->term[s->n++] = x;
}

/* All terms aligned to the largest exponent, cut to `frac` bits behind its point, and added. */
static long double fused_sum(const struct sum *s, int frac)
{
    long double total = 0;
    int top = -126;
    for (unsigned i = 0; i < s->n; i++)
        if (s->term[i].exp > top)
            top = s->term[i].exp;
    for (unsigned i = 0; i < s->n; i++)
        total += truncl(ldexpl((long double)s->term[i].sig, s->term[i].exp - s->term[i].frac + frac - top));
    return ldexpl(total, top - frac);
}

static uint32_t float_bits(float x)
{
    uint32_t v;
    memcpy(&v, &x, sizeof v);
    return v;
}

static uint32_t f32_result(long double x)
{
    return float_bits((float)ref_round(x, 24, -149, truncl));
}

static uint32_t f16_result(long double x)
{
    long double r = ref_round(x, 11, -24, rintl);
    uint32_t sign = r < 0 ? 0x8000 : 0;
    int e;
    r = fabsl(r);
    if (r >= 65536)
        return sign | 0x7c00;
    frexpl(r, &e);
    int exp = e - 1 < -14 ? -14 : e - 1;
    uint32_t sig = (uint32_t)ldexpl(r, 10 - exp);
    return sign | (sig & 0x400 ? (uint32_t)(exp + 15) << 10 | (sig & 0x3ff) : sig);
}

/* What is in D before, as a term. */
static struct number f32_term(uint32_t v)
{
    int e = (int)(v >> 23 & 0xff);
    int64_t sig = (int64_t)(v & 0x7fffff) + (e ? 0x800000 : 0);
    return (struct number){v >> 31 ? -sig : sig, (e ? e : 1) - 127, 23};
}

#endif
