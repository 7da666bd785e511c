/* Private to func/: one product into tensor memory (tcgen05.mma), as sem_utcmma.c has taken it apart and
 * sem_utcmma_sum.c computes it.
 *
 * Where rows are (PTX ISA, data path layouts; NVIDIA CUTLASS, mma_traits_sm100_frag.hpp): D's columns lie in `banks`
 * parts under each other, 128 / banks rows each, row i of part b in lane i + (128 / banks) b; or, of 64 rows in one
 * part (`spread`), in lane i % 16 + 32 (i / 16), from lane 0 or 16 on. A in tensor memory and the metadata of a
 * sparse A are in the lanes of D's rows, once for each part: each part is of what its own lanes have there, which
 * need not be the same (MAX's decoding attention has other keys in each). FP16 results have a word each.
 */
#ifndef WS_FUNC_SASS_TC_PRODUCT_H
#define WS_FUNC_SASS_TC_PRODUCT_H

#include "func/sass/mma_fp4.h"
#include "func/sass/mma_frag.h"
#include "func/sass/mma_narrow.h"
#include "func/sass/tc_matrix.h"
#include "func/sass/tensor_memory.h"

enum { TC_ROWS = 128, TC_COLUMNS = 256, TC_CTAS = 2, TC_BANKS = 4, TC_MASK_WORDS = 4, TC_MOST_SKIPPED = 32 };
enum tc_d { TC_D_F16, TC_D_F32, TC_D_S32 };

/* What an instruction descriptor and the instruction ask for. */
struct tc_product {
  uint32_t idesc;
  unsigned rows, columns;             /* of each CTA; of the whole product */
  unsigned ctas;
  unsigned format_a, format_b, bytes; /* bytes of an element in memory */
  unsigned row_bytes, depth;          /* of a row of A: its bytes; its elements that are there, FP4 in pairs */
  enum tc_d d;
  bool negate_a, negate_b, adds, integer, saturates;
  unsigned shift;                     /* D * 2^-shift */
  unsigned banks;                     /* 1, 2, 4 */
  bool spread;
  bool stationary;                    /* .ws: B stays in the unit */
  uint64_t zeros;                     /* … which of its columns count as zero, where they begin (sem_utcmma.c) */
  bool a_in_tmem;
  uint32_t a_at, d_at;                /* addresses in tensor memory */
  bool sparse;                        /* half of A's elements are there; B has twice as many */
  uint32_t meta_at;                   /* which ones: address in tensor memory, the selected column */
  bool scaled, fp4, e8;               /* block scales; packed FP4; scales are powers of two */
  unsigned scale_a, scale_b;          /* columns of the scales */
  unsigned id_a, id_b;                /* byte of the first one in its word */
};

/* One CTA's part. */
struct tc_part {
  struct func_cta *cta;
  struct tensor_memory *memory;
  uint32_t keep[TC_MASK_WORDS]; /* lanes of D that stay as they are */
  uint8_t a[TC_ROWS][TC_ROW_MAX]; /* by tc_row_of_a() */
};

struct tc_operands {
  struct tc_part part[TC_CTAS];
  uint8_t b[TC_COLUMNS + TC_MOST_SKIPPED][TC_ROW_MAX];
};

/* The lane of row i, from address `at` on, in part `bank` of D's columns. */
static inline unsigned tc_lane(const struct tc_product *p, uint32_t at, unsigned i, unsigned bank)
{
  return p->spread ? tmem_lane(at) + i % 16 + 32 * (i / 16) : i + bank * p->rows;
}

/* Where row i of A is in tc_part.a for part `bank` of D's columns: shared memory has one A, tensor memory one for
 * each. */
static inline unsigned tc_row_of_a(const struct tc_product *p, unsigned i, unsigned bank)
{
  return p->a_in_tmem ? i + bank * p->rows : i;
}

/* D becomes the product. frac: fraction bits of the sums (FP4 has its own); how: its scales. */
void SEM_NAME(tc_multiply)(const struct tc_product *, struct tc_operands *, int32_t frac);
void SEM_NAME(tc_multiply_scaled)(const struct tc_product *, struct tc_operands *, int32_t frac,
                                  struct fp4_scaling how);

#endif
