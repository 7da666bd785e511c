/* The products of a reference program: builds records, images and D from a list (ref_tcgen05.h). */
#ifndef REF_TCGEN05_RUN_H
#define REF_TCGEN05_RUN_H

#include "ref_tcgen05.h"

/* One product. Rows and columns are of the whole product, of a pair those of both CTAs. */
struct test {
    const char *name;
    int kind, format_a, format_b, d;
    unsigned rows, columns;
    int swizzle_a, transposed_a, swizzle_b, transposed_b;
    unsigned add, a_in_tmem, negate_a, negate_b, shift, saturate, upper_lanes, masked;
    unsigned scale_id_a, scale_id_b, ue8m0;
    unsigned sparse, selector, stationary;
    unsigned apart; /* each part of D's columns has an A of its own in tensor memory */
    unsigned most; /* code of the furthest move of columns: 8, 16, 32 */
    uint64_t zeros; /* zero-column mask, of stationary B */
};

static unsigned code_of(int format)
{
    static const uint8_t code[] = {0, 1, 2, 0, 1, 3, 4, 5, 0, 1};
    return code[format];
}

static unsigned bytes_of(int format)
{
    return format == TF32 ? 4 : format <= BF16 ? 2 : 1;
}

static uint32_t idesc_of(const struct test *t)
{
    uint32_t d = (uint32_t)t->d << 4 | code_of(t->format_a) << 7 | code_of(t->format_b) << 10 | t->negate_a << 13 |
                 t->negate_b << 14 | (uint32_t)t->transposed_a << 15 | (uint32_t)t->transposed_b << 16 |
                 t->columns / 8 << 17 | t->rows / 16 << 24 | t->saturate << 3 | t->sparse << 2 | t->selector |
                 t->most << 30;
    if (t->kind < KIND_MXF8F6F4)
        return d;
    d &= ~(3u << 4);
    if (t->kind != KIND_MXF8F6F4)
        d = (d & ~(077u << 7)) | 1u << 7 | 1u << 10;
    return d | t->scale_id_b << 4 | t->ue8m0 << 23 | t->scale_id_a << 29;
}

/* Atoms behind each other by rows; a transposed matrix's by rows, then by k. */
static struct layout layout_of(int swizzle, int transposed, unsigned rows, unsigned bytes, unsigned at)
{
    unsigned w = atom_chunks(swizzle), atom = 128 * w;
    struct layout l = {swizzle, transposed, at, 0, 0};
    if (!transposed) {
        l.leading = w == 1 ? rows / 8 * 128 : 16;
        l.stride = atom;
    } else {
        unsigned blocks = (rows * bytes / 16 + w - 1) / w, deep = swizzle == SWIZZLE_128_32 ? 512 : atom;
        l.leading = w == 1 ? blocks * deep : deep;
        l.stride = w == 1 ? deep : blocks * deep;
    }
    return l;
}

enum { META_AT = 8 };

static struct image *images;
static uint32_t (*before)[LANES][D_COLUMNS], (*after)[LANES][D_COLUMNS];
static unsigned ctas;

static int is_fp4(const struct test *t)
{
    return t->kind >= KIND_MXF4;
}

/* Elements of a row of A that are stored. */
static unsigned depth_of(const struct test *t)
{
    return is_fp4(t) ? 64 : ROW / bytes_of(t->format_a);
}

/* The k of the product. */
static unsigned whole_depth(const struct test *t)
{
    return depth_of(t) * (t->sparse ? 2 : 1);
}

/* Parts under each other in which D's columns lie, 128 / parts rows each. */
static unsigned parts_of(const struct test *t)
{
    if (t->stationary)
        return LANES / t->rows;
    return ctas == 2 && t->rows == 128 && !t->sparse ? 2 : 1;
}

/* The row of A that row i of a part meets. */
static unsigned row_for(const struct test *t, unsigned i, unsigned part)
{
    return i + (t->apart ? part * t->rows : 0);
}

static unsigned part_of(const struct test *t, unsigned n)
{
    return n / (t->columns / parts_of(t));
}

static uint32_t pick(const struct test *t, int format, uint64_t seed, unsigned i, unsigned k)
{
    return element(format, seed, i * 128ull + k) & (is_fp4(t) ? 15 : ~0u);
}

/* Columns of B in a CTA's shared memory: with a mask more than are multiplied. */
static unsigned stored_columns(const struct test *t)
{
    return t->columns / ctas + (t->zeros ? 32 : 0);
}

/* Of the column of B that the mask puts in place n; 0: none. Spans are walked one column after the other. */
static uint32_t column(const struct test *t, uint64_t seed, unsigned n, unsigned k)
{
    unsigned width = t->columns / parts_of(t), part = n / width, left;
    unsigned use = (t->zeros >> 48 & 255) + 1, skip = (t->zeros >> 40 & 255) + 1, zero = t->zeros >> (32 + part) & 1;
    left = (zero ? skip : use) - (unsigned)(t->zeros >> 8 * part & 255);
    for (unsigned i = 0; i < n % width; i++)
        if (--left == 0) {
            zero = !zero;
            left = zero ? skip : use;
        }
    return (t->zeros >> 39 & 1) && zero ? 0 : pick(t, t->format_b, seed, n + (unsigned)(t->zeros >> 56), k);
}

/* ---- a sparse A -------------------------------------------------------------------------- */

/* Four bits that say which elements of chunk `chunk` of row i are stored: of TF32 one of two, else two of four, which
 * FP4 counts in pairs. */
static unsigned nibble(const struct test *t, uint64_t seed, unsigned i, unsigned chunk)
{
    static const uint8_t of_two[] = {4, 14}, of_four[] = {4, 8, 12, 9, 13, 6, 14};
    uint64_t r = ref_splitmix64(seed + 11, i * 64ull + chunk);
    return t->format_a == TF32 ? of_two[r % 2] : of_four[r % 7];
}

/* Element k of row i of the whole A. */
static uint32_t whole_a(const struct test *t, uint64_t seed, unsigned i, unsigned k)
{
    if (!t->sparse)
        return pick(t, t->format_a, seed, i, k);
    unsigned together = is_fp4(t) ? 2 : 1, unit = k / together;
    if (t->format_a == TF32) {
        unsigned there = nibble(t, seed, i, k / 2) == 14;
        return k % 2 == there ? pick(t, TF32, seed, i, k / 2) : 0;
    }
    unsigned four = nibble(t, seed, i, unit / 4);
    for (unsigned j = 0; j < 2; j++)
        if ((four >> 2 * j & 3) == unit % 4)
            return pick(t, t->format_a, seed, i, (unit / 4 * 2 + j) * together + k % together);
    return 0;
}

/* Metadata in tensor memory. Of 8 and 4 bits in the lane of the row; of 16 and 32 bits, row r of each sixteen in the
 * lanes r % 8 (lower half of k) and 8 + r % 8 of them, from bit 0 on or, r >= 8, from bit 16 on. */
static void put_meta(const struct test *t, struct image *im, uint64_t seed, unsigned first, unsigned n)
{
    unsigned at = t->upper_lanes ? 16 : 0, wide = bytes_of(t->format_a) > 1, chunks = wide ? 8 : 16;
    for (unsigned i = 0; i < n; i++)
        for (unsigned c = 0; c < chunks; c++) {
            unsigned r = i % 16, block = n == 64 && !t->stationary ? i / 16 * 32 + at : i / 16 * 16;
            uint32_t four = nibble(t, seed, first + i, c);
            for (unsigned lane = block; lane < LANES; lane += t->stationary ? n : LANES)
                if (wide)
                    im->scales[lane + r % 8 + c / 4 * 8][META_AT + t->selector] |= four << (r / 8 * 16 + c % 4 * 4);
                else
                    im->scales[lane + r][META_AT + c / 8] |= four << c % 8 * 4;
        }
}

/* A or B of one CTA: rows from `first` on. */
static void put_matrix(const struct test *t, struct image *im, int is_b, uint64_t seed, unsigned first, unsigned n)
{
    int format = is_b ? t->format_b : t->format_a;
    unsigned bits = element_bits(format), bytes = bytes_of(format);
    struct layout l = layout_of(is_b ? t->swizzle_b : t->swizzle_a, is_b ? t->transposed_b : t->transposed_a, n, bytes,
                                is_b ? B_AT : 0);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < (is_b ? whole_depth(t) : depth_of(t)); k++) {
            uint32_t v = pick(t, format, seed, first + i, k);
            if (is_fp4(t))
                *byte_at(im, &l, i, k / 2, 1, 0) |= (uint8_t)(v << k % 2 * 4);
            else if (bits < 8)
                put_packed(im, &l, i, k, bits, v);
            else
                put_element(im, &l, i, k, bytes, format == TF32 ? v << 13 | (i * 977 + k) % 8192 : v);
        }
}

/* Where row i of the CTA's part, column n, lies. */
static void place(const struct test *t, unsigned i, unsigned n, unsigned *lane, unsigned *column)
{
    unsigned own = t->rows / ctas;
    *lane = i, *column = n;
    unsigned width = t->columns / parts_of(t);
    if (parts_of(t) > 1)
        *lane = i + n / width * own, *column = n % width;
    else if (own == 64)
        *lane = i % 16 + i / 16 * 32 + (t->upper_lanes ? 16 : 0);
}

/* A in tensor memory: bytes of a row in the lanes where D's row is. */
static void put_a(const struct test *t, struct image *im, uint64_t seed, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned copy = 0; copy < parts_of(t); copy++) {
            unsigned lane, column;
            place(t, i, 0, &lane, &column);
            uint8_t *row = (uint8_t *)im->a[lane + n * copy];
            for (unsigned k = 0; k < depth_of(t); k++) {
                uint32_t v = pick(t, t->format_a, seed, row_for(t, first + i, copy), k);
                unsigned bytes = bytes_of(t->format_a), bits = element_bits(t->format_a);
                if (is_fp4(t))
                    row[k / 2] |= (uint8_t)(v << k % 2 * 4);
                else if (bits == 4 || bytes == 1)
                    row[k] = (uint8_t)(bits == 4 ? v << 2 : v);
                else
                    for (unsigned b = 0; b < bytes; b++)
                        row[k * bytes + b] = (uint8_t)((t->format_a == TF32 ? v << 13 : v) >> 8 * b);
            }
        }
}

static int kept(const struct product *p, unsigned cta, unsigned lane)
{
    return p->mask[cta * 4 + lane / 32] >> lane % 32 & 1;
}

static uint32_t int_result(const struct test *t, uint64_t seed, unsigned i, unsigned n, uint32_t d)
{
    int64_t sum = t->add ? (int32_t)d : 0;
    for (unsigned k = 0; k < whole_depth(t); k++) {
        uint32_t a = whole_a(t, seed, row_for(t, i, part_of(t, n)), k), b = column(t, seed + 1, n, k);
        sum += (int64_t)(t->format_a == S8 ? (int8_t)a : (int)a) * (t->format_b == S8 ? (int8_t)b : (int)b);
    }
    if (t->saturate)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)sum;
}

/* Scales: byte `id` + j of row i's word. */
static uint32_t scale(const struct test *t, uint64_t seed, unsigned i, unsigned j)
{
    uint32_t v = (uint32_t)ref_uniform_int(seed + 7, i * 4 + j, 0, 255);
    return t->ue8m0 ? 120 + v % 16 : v == 127 || v == 255 ? 56 : v;
}

static struct number scale_number(const struct test *t, uint32_t v)
{
    return t->ue8m0 ? (struct number){1, (int)v - 127, 0} : decode(E4M3, v & 0x7f);
}

static uint32_t float_result(const struct test *t, uint64_t seed, unsigned i, unsigned n, uint32_t d)
{
    struct sum s = {0};
    int negative = (int)(t->negate_a ^ t->negate_b), scaled = t->kind >= KIND_MXF8F6F4;
    unsigned wider = t->sparse ? 2 : 1, group = is_fp4(t) ? 16 * wider : 1;
    unsigned per_scale = (t->kind == KIND_MXF4NVF4 ? 16 : 32) * wider;
    for (unsigned k = 0; k < whole_depth(t); k += group) {
        struct number x = {0};
        int live = 1;
        for (unsigned j = k; j < k + group; j++) {
            struct number a = decode(t->format_a, whole_a(t, seed, row_for(t, i, part_of(t, n)), j));
            struct number b = decode(t->format_b, column(t, seed + 1, n, j));
            if (group == 1)
                x = (struct number){a.sig * b.sig, a.exp + b.exp, a.frac + b.frac};
            else /* exact, in quarters */
                x.sig += (a.sig << a.exp) * (b.sig << b.exp), x.exp = 0, x.frac = 2;
        }
        if (scaled) {
            struct number sa = scale_number(t, scale(t, seed, i, k / per_scale));
            struct number sb = scale_number(t, scale(t, seed + 1, n, k / per_scale));
            live = sa.sig && sb.sig;
            x = (struct number){x.sig * sa.sig * sb.sig, x.exp + sa.exp + sb.exp, x.frac + sa.frac + sb.frac};
        }
        if (negative)
            x.sig = -x.sig;
        if (is_fp4(t) && live) /* a group that cancels counts with its scales */
            s.term[s.n++] = x;
        else
            add_term(&s, x);
    }
    if (t->add) {
        struct number c = t->d == D_F16 ? decode(F16, d & 0xffff) : f32_term(d);
        c.exp -= (int)t->shift;
        add_term(&s, c);
    }
    long double sum = fused_sum(&s, is_fp4(t) ? 35 : 25);
    return t->d == D_F16 ? f16_result(sum) : f32_result(sum);
}

static void put_scales(const struct test *t, struct image *im, uint64_t seed, unsigned first, unsigned own)
{
    unsigned n = t->kind == KIND_MXF8F6F4 ? 1 : t->kind == KIND_MXF4 ? 2 : 4;
    for (unsigned copy = 0; copy < 4; copy++)
        for (unsigned j = 0; j < n; j++) {
            for (unsigned i = 0; i < own; i++)
                im->scales[i % 32 + 32 * copy][i / 32] |= scale(t, seed, first + i, j) << 8 * (t->scale_id_a + j);
            for (unsigned i = 0; i < t->columns; i++) { /* of columns under each other those of the lanes' half */
                unsigned halves = parts_of(t), n = i % (t->columns / halves);
                if (halves == 2 && i / (t->columns / 2) != copy / 2)
                    continue;
                im->scales[n % 32 + 32 * copy][4 + n / 32] |= scale(t, seed + 1, i, j) << 8 * (t->scale_id_b + j);
            }
        }
}

static void build(const struct test *t, struct product *p, unsigned number)
{
    uint64_t seed = 1000 + 16 * number;
    unsigned own = t->rows / ctas, columns = t->columns / ctas;
    struct layout a = layout_of(t->swizzle_a, t->transposed_a, own, bytes_of(t->format_a), 0);
    struct layout b = layout_of(t->swizzle_b, t->transposed_b, stored_columns(t), bytes_of(t->format_b), B_AT);
    *p = (struct product){.kind = (uint32_t)t->kind, .idesc = idesc_of(t), .add = t->add, .a_in_tmem = t->a_in_tmem,
                          .shift = t->shift, .d_lane = t->upper_lanes ? 16 : 0, .scale_b = 4, .meta = META_AT};
    descriptor(p->a, &a);
    descriptor(p->b, &b);
    p->zeros[0] = (uint32_t)t->zeros, p->zeros[1] = (uint32_t)(t->zeros >> 32);
    for (unsigned i = 0; i < 4 * ctas && t->masked; i++)
        p->mask[i] = (uint32_t)ref_splitmix64(seed + 5, i);
    for (unsigned c = 0; c < ctas; c++) {
        struct image *im = &images[number * ctas + c];
        uint32_t(*was)[D_COLUMNS] = before[number * ctas + c], (*is)[D_COLUMNS] = after[number * ctas + c];
        if (t->a_in_tmem)
            put_a(t, im, seed, c * own, own);
        else
            put_matrix(t, im, 0, seed, c * own, own);
        put_matrix(t, im, 1, seed + 1, c * columns, stored_columns(t));
        if (t->sparse)
            put_meta(t, im, seed, c * own, own);
        if (t->kind >= KIND_MXF8F6F4)
            put_scales(t, im, seed, c * own, own);
        for (unsigned l = 0; l < LANES; l++)
            for (unsigned n = 0; n < D_COLUMNS; n++) {
                uint64_t i = (c * LANES + l) * D_COLUMNS + n;
                was[l][n] = t->d == D_S32   ? (uint32_t)ref_uniform_int(seed + 3, i, 0x7fffe000, 0x7fffffff)
                            : t->d == D_F32 ? float_bits((float)ref_uniform(seed + 3, i, -64, 64))
                                            : element(F16, seed + 3, i) & 0xbfff;
                is[l][n] = was[l][n];
            }
        for (unsigned i = 0; i < own; i++)
            for (unsigned n = 0; n < t->columns; n++) {
                unsigned lane, column;
                place(t, i, n, &lane, &column);
                if (!kept(p, c, lane))
                    is[lane][column] = (t->d == D_S32 ? int_result : float_result)(t, seed, c * own + i, n,
                                                                                   was[lane][column]);
            }
    }
}

static void run(const struct test *tests, unsigned n, unsigned n_ctas, int argc, char **argv)
{
    struct product *products = calloc(n, sizeof *products);
    ctas = n_ctas;
    images = calloc(n * ctas, sizeof *images);
    before = calloc(n * ctas, sizeof *before);
    after = calloc(n * ctas, sizeof *after);
    if (!products || !images || !before || !after)
        exit(1);
    ref_init(argc, argv);
    for (unsigned i = 0; i < n; i++)
        build(&tests[i], &products[i], i);
    ref_write("products.bin", products, n * sizeof *products);
    ref_write("images.bin", images, n * ctas * sizeof *images);
    ref_write("before.bin", before, n * ctas * sizeof *before);
    ref_write("after.bin", after, n * ctas * sizeof *after);
}

#endif
