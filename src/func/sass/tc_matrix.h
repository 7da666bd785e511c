/* Private to func/: matrices in shared memory as the descriptors of sm_100a and its kin give them (tcgen05.mma, cp).
 *
 * Blocks of 8 rows times 16 bytes. Of a matrix whose k is contiguous (W: 16-byte columns of a swizzle atom: 1, 2, 4, 8;
 * LBO, SBO: the descriptor's leading and stride byte offsets):
 *     row i, 16-byte column c   (i % 8) * 16 W + (i / 8) * SBO + c * (W == 1 ? LBO : 16)
 * Whose rows are contiguous, t of them together in 16 bytes, v = i / t:
 *     rows t v.., k             (v % W) * 16 + (v / W) * (W == 1 ? SBO : LBO)
 *                               + (k % 8) * 16 W + (k / 8) * (W == 1 ? LBO : SBO)
 * Then bits 6:4 of the address are combined with the bits above 128-byte lines by exclusive or, as many as W has. Atoms
 * of 32 bytes (swizzle mode 1): four values of k in a pattern, bits 6:5 with 8:7. Where the leading byte offset is an
 * address (sm_103a, rows of 48 bytes), columns beyond an atom of 128 bytes are those of the atoms there, from the first
 * on. Source: NVIDIA CUTLASS, cute/arch/mma_sm100_desc.hpp, atom/mma_traits_sm100.hpp.
 */
#ifndef WS_FUNC_SASS_TC_MATRIX_H
#define WS_FUNC_SASS_TC_MATRIX_H

#include "func/sass/func_launch.h"

enum { TC_ROW = 32, TC_ROW_MAX = 64, TC_CHUNK = 16 }; /* bytes: of A's rows; of the longest ones; read at once */

struct tc_matrix {
  uint32_t start, leading, stride, base; /* bytes; base: number of the pattern's first 128-byte line, 0..7 */
  uint8_t chunks;                        /* of a swizzle atom: 1, 2, 4, 8 */
  bool wide_atoms;                       /* swizzle mode 1 */
  bool transposed;                       /* rows are contiguous, not k */
  bool continued;                        /* `leading` is where rows go on that are longer than an atom */
};

/* False: no such swizzle mode. */
bool tc_matrix_read(struct tc_matrix *, uint64_t descriptor, bool transposed);

/* Shared memory of one CTA. */
struct tc_shared {
  const uint8_t *memory;
  uint32_t limit;
};

/* `chunks` times 16 bytes of rows [0, n). bytes: of an element, where the matrix is transposed. False: *at, an address
 * of the matrix, lies outside. */
bool tc_rows(const struct tc_shared *, const struct tc_matrix *, unsigned n, unsigned chunks, unsigned bytes,
             uint8_t (*rows)[TC_ROW_MAX], uint32_t *at);

#endif
