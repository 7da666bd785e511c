/* Private to func/: the memory part of effects.
 *
 * mem_effect.data is kept word-major: word k of lane i at words[k * LANES_MAX + i], so that rows
 * move with one copy. Words 0..7 are the value of a load or store; of an atomic, words 0..3 are the
 * operand and old value, words 4..7 the compare value of a compare-and-swap.
 * Constant accesses: addr = bank << 32 | byte offset.
 */
#ifndef WS_FUNC_SASS_MEM_H
#define WS_FUNC_SASS_MEM_H

#include "base/bits.h"
#include "func/sass/func_launch.h"
#include "func/sass/lanes.h"

enum { COMPARE_WORD = 4, MEM_MAX_WORDS = MEM_MAX_BYTES / 4 };

/* Access size codes of loads and stores (field MEM_SIZE). */
enum mem_size { SIZE_U8, SIZE_S8, SIZE_U16, SIZE_S16, SIZE_32, SIZE_64, SIZE_128 };

typedef uint32_t __attribute__((may_alias)) mem_word;
typedef uint64_t __attribute__((may_alias)) mem_pair;

static inline mem_word *mem_row(struct mem_effect *me, unsigned word)
{
  return (mem_word *)(void *)me->data + (size_t)word * LANES_MAX;
}

/* Fills e->mem but for addresses and data, and sets EFF_MEM. */
static inline struct mem_effect *mem_begin(struct effect *e, uint32_t m, enum mem_space space,
                                           enum mem_op op, unsigned bytes, bool strong)
{
  struct mem_effect *me = e->mem;
  me->space = (uint8_t)space;
  me->op = (uint8_t)op;
  me->bytes = (uint8_t)bytes;
  me->strong = strong;
  me->lanes = m;
  me->near_lanes = 0;
  me->far = 0;
  me->shape = (struct lane_shape){.bits = UINT64_MAX};
  e->flags |= EFF_MEM;
  return me;
}

/* Address generation for all lanes (inactive lanes get meaningless values).
 * mem_addr_global: Ra (+1), uniform register, offset as the instruction says. mem_addr_near: 32-bit
 * address of local memory, or of the CTA's own shared memory: from its first byte on, although the address in
 * registers starts at CTA number in the cluster << 24 (compiler output: S2R SR_CgaCtaId, LEA). */
void mem_addr_global(const struct func_warp *w, const struct uop *u, uint64_t addr[LANES],
                     struct lane_shape *);
void mem_addr_near(const struct func_warp *w, const struct uop *u, struct mem_effect *me);
/* By me->space; of addresses that are the same or `dense` bytes apart only the first and the last. */
void mem_addr_ends(const struct func_warp *w, const struct uop *u, struct mem_effect *me, unsigned dense);
/* Sets up u->imm, imm2 for mem_addr_*; every picker of a memory instruction calls it. */
void mem_prepare(const struct sass_inst *s, struct uop *u);

/* Access to shared memory that may be another CTA's of the cluster: when some is, the space becomes MEM_CLUSTER. To be
 * called behind mem_addr_near. */
void mem_resolve_cluster(const struct func_warp *w, struct mem_effect *me);

/* Generic access: sends lanes whose address lies in the shared or local window there. */
void mem_resolve(const struct func_warp *w, struct mem_effect *me);

/* Lanes, of all, whose address is not in [first, first + last]. */
uint32_t mem_outside(const struct func_warp *w, const struct mem_effect *me, uint64_t first, uint64_t last);

/* Fault unless the addresses of lanes m are multiples of `align` (a power of two). */
bool mem_aligned(const struct func_warp *w, struct effect *e, uint32_t m, unsigned align,
                 struct fault *f);

/* Host address of `bytes` at a near address of lane i; NULL with *f filled when out of range.
 * `space` is MEM_SHARED, MEM_CLUSTER or MEM_LOCAL; writing to local memory marks it dirty. */
uint8_t *mem_near(struct func_warp *w, const struct effect *e, enum mem_space space, unsigned lane,
                  uint64_t addr, unsigned bytes, struct fault *f);
/* Space of lane i of a resolved effect; addr becomes space-local. */
enum mem_space mem_lane_space(const struct func_warp *w, const struct mem_effect *me, unsigned lane,
                              uint64_t *addr);
/* The memory that the first of `lanes`, and others of them, access. False: they must be looked at one by one (not
 * mapped, out of range, in several spaces, writes are pending or must be logged). */
bool mem_block(struct func_warp *w, const struct mem_effect *me, uint32_t lanes, bool write,
               const struct gmem_view *v, struct lane_block *b);
/* The memory of all lanes when their addresses, even and ascending, lie in one piece; NULL: mem_block tells. */
uint8_t *mem_even(struct func_warp *w, const struct mem_effect *me, bool write, const struct gmem_view *v);
/* The unmapped-address fault of lane i; false. */
bool mem_unmapped(const struct func_warp *w, const struct effect *e, unsigned lane, uint64_t addr,
                  struct fault *f);

/* Where an address that is mapped nowhere leads, seen past logs and windows: to a multicast object's memories; NULL: to
 * none. A store there: false: not all are there. (sem_multicast.c) */
const struct multicast_span *mem_multicast(const struct gmem_view *, uint64_t addr, unsigned bytes);
bool mem_multicast_write(const struct gmem_view *, uint64_t addr, const void *value, unsigned bytes);

/* Writes result rows 0..n-1 to the destination in the lanes that executed. */
void mem_commit(struct func_warp *w, const struct uop *u, struct effect *e, unsigned rows);

/* Parts of plain loads and stores that surface accesses share: data from source b, the finisher by
 * FLD_MEM_SIZE. */
void mem_sample_data(const struct func_warp *w, const struct uop *u, struct mem_effect *me);
uop_perform_fn mem_load_perform, mem_store_perform;
uop_finish_fn *mem_load_finisher(const struct sass_inst *s);
/* A reduction by FLD_RED_OP and FLD_SURED_TYPE whose addresses fn makes (sem_atom.c); NULL: not
 * executable. */
uop_fn *atom_pick_surface(const struct sass_inst *s, struct uop *u, uop_fn *fn);

/* mbarriers of STAS and REDAS (sem_sync.c): their addresses from the register behind that of the data; e->mem->bytes of
 * one lane are done. */
void sync_sample_barrier(const struct func_warp *w, const struct uop *u, struct mem_effect *me);
bool sync_complete_tx(struct func_warp *w, const struct effect *e, unsigned lane, struct fault *f);
/* Is there a reduction by op (field RED_OP) of the type? FP32 and FP64 have sums alone, FP16 and BF16 minima and maxima
 * besides, increments and decrements are of U32 alone (PTX ISA, cp.reduce.async.bulk: combinations of .redOp and
 * element type). */
bool atom_reduces(unsigned op, enum sass_atom_type);
/* One element of a reduction: *p = op of *p and *v. Integers of 1 or 2 words, FP32, FP64; FP16 and BF16 as pairs, of
 * which one alone lies in the low half. flush: subnormal FP32 numbers, given or made, become zeros of their sign. */
void atom_reduce(unsigned op, enum sass_atom_type, bool flush, uint32_t p[2], const uint32_t v[2]);

/* Handlers with their own files. */
uop_fn mem_ldsm, mem_stsm, mem_stsm_bytes, mem_ldgsts;
uop_perform_fn mem_ldsm_perform, mem_stsm_perform, mem_ldgsts_perform;
uop_finish_fn mem_ldsm_finish, mem_ldsm_narrow_finish, mem_ldsm_square_finish;

#endif
