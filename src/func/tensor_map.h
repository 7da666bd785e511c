/* Tensor maps (CUtensorMap): what the copies of the tensor memory accelerator know of a tensor.
 *
 * The 128 bytes are opaque to programs, but two kinds of them write fields where they lie: tensormap.replace of PTX
 * (places and codes are read off what ptxas emits for it, CUDA 13.0, sm_90a to sm_103a), and libraries that make maps
 * without the driver (NVIDIA TensorRT-LLM, contextFusedMultiHeadAttention/tmaDescriptor.h, has the rest of the first
 * 64 bytes, which are all that copies read; cuDNN's attention in cuEquivariance has maps of 64 bytes). Where only W is
 * walked (*) no source says: the places are our own.
 *
 *   byte  0  address, 64 bits
 *         8  bit 0 im2col, 3:1 version, 1 (not looked at: maps that tensormap.replace makes of zeros work, too),
 *            6:4 rank - 1, 10:7 type, 12:11 interleave, 14:13 swizzle, 15 NaN fill, 16 TF32, 18:17 L2 promotion,
 *            20:19 atom of the swizzle, 21 the tensor has 128 KiB or more (CUTLASS, make_tma_copy_desc: drivers before
 *            CUDA 13.2 set it for smaller ones, too; no result hangs on it here), 24:23 * im2col: 1 W alone, 2 W of 128
 *        12  strides of dimensions 1 to 4 in units of 16 bytes, low 32 bits each
 *        28  their high 4 bits, four bits each
 *        32  extents of dimensions 0 to 4, minus 1, 32 bits each
 *        52  bits 14:0 element strides minus 1, three bits each; 31:24 elements of the box along dimension 0, minus 1
 *        56  tiled: the same of dimensions 1 to 4, a byte each; im2col: lower corners, then upper corners, W first,
 *            of 16 bits (one dimension), 8 (two) or 5 (three)
 *        60  im2col: pixels per column - 1
 */
#ifndef WS_FUNC_TENSOR_MAP_H
#define WS_FUNC_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { TENSOR_MAP_BYTES = 128, TENSOR_MAP_READ = 64, TENSOR_DIMS = 5, TENSOR_SPATIAL = 3 };

enum tensor_kind { TENSOR_TILED, TENSOR_IM2COL, TENSOR_IM2COL_W, TENSOR_IM2COL_W128 };

/* Types as the map holds them. TF32 is F32 with `tf32`. The last three are packed, 16 numbers of 4 or 6 bits
 * in 8, 8 and 12 bytes of global and in 8, 16 and 16 bytes of shared memory. */
enum tensor_type { TENSOR_U8, TENSOR_U16, TENSOR_U32, TENSOR_S32, TENSOR_U64, TENSOR_S64, TENSOR_F16,
                   TENSOR_F32, TENSOR_F32_FTZ, TENSOR_F64, TENSOR_BF16, TENSOR_U4, TENSOR_U4_GAPS,
                   TENSOR_U6_GAPS, TENSOR_TYPE__N };

enum tensor_interleave { TENSOR_PLAIN, TENSOR_BY_16, TENSOR_BY_32 };
enum tensor_swizzle { SWIZZLE_NONE, SWIZZLE_32, SWIZZLE_64, SWIZZLE_128 };
enum tensor_atom { ATOM_16, ATOM_32, ATOM_32_FLIP, ATOM_64 };

struct tensor_map {
  enum tensor_kind kind;
  enum tensor_type type;
  unsigned rank; /* 1 to 5 */
  enum tensor_interleave interleave;
  enum tensor_swizzle swizzle; /* bytes over which chunks are exchanged */
  enum tensor_atom atom;       /* the chunks: 16 bytes; 32; 32, and halves of 16 change places; 64 */
  bool tf32, nan_fill;
  unsigned l2_promotion;           /* CUtensorMapL2promotion; has no effect on values */
  uint64_t address;
  uint64_t dim[TENSOR_DIMS];       /* elements, 1 to 2^32 */
  uint64_t stride[TENSOR_DIMS];    /* bytes; [0] is not used: elements lie side by side */
  unsigned box[TENSOR_DIMS];       /* elements, 1 to 256; im2col: only [0], the channels */
  unsigned step[TENSOR_DIMS];      /* elements, 1 to 8 */
  int lower[TENSOR_SPATIAL], upper[TENSOR_SPATIAL]; /* im2col: corners, W first */
  unsigned pixels;                 /* im2col: per column, 1 to 1024 */
};

/* Dimensions with corners of their own: W alone where only W is walked, else all but channels and images. */
unsigned tensor_map_spatial(const struct tensor_map *);
void tensor_map_write(const struct tensor_map *, uint8_t out[TENSOR_MAP_BYTES]);
/* false: a code that stands for nothing, of the rank, type or interleave; *e names the field. */
bool tensor_map_read(struct tensor_map *, const uint8_t in[TENSOR_MAP_READ], struct err *e);

/* Whether copies can go by a map, which may be forged: the rules of cuTensorMapEncode* (CUDA Driver API 13.0) that a
 * map can break whose fields have the widths above. *e names the field. */
bool tensor_map_check(const struct tensor_map *, struct err *e);
/* Bytes that addresses and strides are multiples of. */
unsigned tensor_map_grain(const struct tensor_map *);

/* Bits of an element in global memory, and with gaps as it lies in shared memory. */
unsigned tensor_type_bits(enum tensor_type);
unsigned tensor_type_shared_bits(enum tensor_type);
/* Sixteen elements begin every 16 bytes of shared memory, packed as in global memory; nothing is said of the rest. */
bool tensor_type_gaps(enum tensor_type);

#endif
