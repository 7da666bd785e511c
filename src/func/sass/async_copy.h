/* Private to func/: what bulk copies (sem_bulk.c) and tensor copies (sem_tensor.c) have in common. */
#ifndef WS_FUNC_SASS_ASYNC_COPY_H
#define WS_FUNC_SASS_ASYNC_COPY_H

#include "func/sass/mem.h"
#include "func/sass/uop.h"

/* The memory part of a copy's effect; its first lane stands for the warp. `ctas`: those of the cluster that it writes
 * into. */
struct mem_effect *copy_begin(const struct func_warp *w, struct effect *e, const struct uop *u, uint32_t lanes,
                              uint32_t ctas, uint32_t bytes);

/* The CTA, of the cluster, that a shared address names. */
uint32_t copy_target(uint32_t addr);

/* The mbarrier that a copy to `shared` tells: that at the offset of `barrier`, in the CTA to which the data go. PTX
 * wants both in one CTA (but for .cta_group::2), so only the offset says something, as with a multicast; programs that
 * run on GPUs name the pair's even CTA in all copies (Modular MAX, sm100_mha: no .cta_group::2). */
uint32_t copy_barrier(uint32_t shared, uint32_t barrier);

/* Shared memory of this CTA or of another one of its cluster; NULL: fault. */
uint8_t *copy_near(struct func_warp *w, const struct effect *e, uint32_t addr, uint32_t bytes, struct fault *f);

/* The bytes have arrived and count at the mbarrier. */
bool copy_complete(struct func_warp *w, const struct effect *e, uint32_t barrier, uint32_t bytes, struct fault *f);

/* Delivers to each CTA in turn: data and mbarrier lie at the same offsets in all of them. */
typedef bool copy_deliver_fn(void *copy, uint32_t shared, uint32_t barrier);
bool copy_multicast(uint32_t ctas, uint32_t shared, uint32_t barrier, copy_deliver_fn *deliver, void *copy);

/* What the piece has in [addr, addr + bytes). */
struct copy_piece copy_overlap(const struct copy_piece *, uint64_t addr, uint32_t bytes);

/* step_ops (isa/step.h). */
bool func_copy_piece(struct step_warp *, struct effect *, uint32_t k, struct copy_piece *, struct gmem_view *,
                     struct fault *);
bool func_copy_part(struct step_warp *, struct effect *, uint32_t k, uint64_t addr, uint32_t bytes, struct gmem_view *,
                    struct fault *);

/* The same of the two kinds. */
bool bulk_copy_piece(struct func_warp *, const struct uop *, struct effect *, struct copy_piece *, struct gmem_view *,
                     struct fault *);
bool bulk_copy_part(struct func_warp *, const struct uop *, struct effect *, uint64_t addr, uint32_t bytes,
                    struct gmem_view *, struct fault *);
bool tensor_copy_piece(struct func_warp *, const struct uop *, struct effect *, uint32_t k, struct copy_piece *,
                       struct gmem_view *, struct fault *);
bool tensor_copy_part(struct func_warp *, const struct uop *, struct effect *, uint32_t k, uint64_t addr,
                      uint32_t bytes, struct gmem_view *, struct fault *);

#endif
