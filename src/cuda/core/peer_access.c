#include "cuda/core/peer_access.h"

#include <stdlib.h>

#include "base/arith.h"
#include "base/bug.h"
#include "cuda/core/shim.h"

/* --- images --------------------------------------------------------------------------------------- */

/* Whole pages of the owner's, as the viewer may see them now. */
static void show(struct shim *s, struct board *viewer, const struct board *owner, uint64_t first, uint64_t bytes)
{
  const uint64_t page = boards_page(s);
  const bool all = viewer->reach & board_bit(owner);
  gmem_mirror(viewer->device.mem, owner->device.mem, first, bytes, all);
  for (size_t i = 0; !all && i < s->memory.n; i++) {
    const struct block *b = &s->memory.block[i];
    if (b->board != owner || b->in || !(memory_viewers(b) & board_bit(viewer))) continue;
    const uint64_t from = later(b->device & ~(page - 1), first), end = align_up(b->device + b->bytes, page);
    const uint64_t to = end < first + bytes ? end : first + bytes;
    if (from < to) gmem_mirror(viewer->device.mem, owner->device.mem, from, to - from, true);
  }
}

static void show_to_all(struct shim *s, struct board *owner, uint64_t first, uint64_t bytes)
{
  for (unsigned i = 0; i < s->boards.n; i++)
    if (&s->boards.of[i] != owner) show(s, &s->boards.of[i], owner, first, bytes);
}

void peers_refresh(struct shim *s, struct board *owner, uint64_t addr, uint64_t bytes)
{
  const uint64_t page = boards_page(s), first = addr & ~(page - 1);
  show_to_all(s, owner, first, align_up(addr + bytes, page) - first);
}

/* What it has of addresses. */
static void show_whole(struct shim *s, struct board *viewer, const struct board *owner)
{
  const struct device_config *c = &owner->device.config;
  const uint64_t end = align_up(gmem_next_address(owner->device.mem), boards_page(s));
  if (viewer != owner) show(s, viewer, owner, c->memory_first, end - c->memory_first);
}

void peers_refresh_all(struct shim *s, struct board *owner)
{
  for (unsigned i = 0; i < s->boards.n; i++) show_whole(s, &s->boards.of[i], owner);
}

/* --- contexts ------------------------------------------------------------------------------------- */

static int place_of(const struct context *c, const struct context *peer)
{
  for (unsigned i = 0; i < c->n_peers; i++)
    if (c->peer[i] == peer) return (int)i;
  return -1;
}

/* By the peers of the GPU's contexts. */
static void update(struct shim *s, struct board *b)
{
  board_mask reach = board_bit(b);
  for (const struct context *c = s->contexts.first; c; c = c->next)
    for (unsigned i = 0; c->board == b && i < c->n_peers; i++) reach |= board_bit(c->peer[i]->board);
  const board_mask changed = reach ^ b->reach;
  b->reach = reach;
  for (unsigned i = 0; i < s->boards.n; i++)
    if (changed >> i & 1) show_whole(s, b, &s->boards.of[i]);
}

CUresult peer_enable(struct shim *s, struct context *peer, unsigned flags)
{
  struct context *c = context_current(s);
  if (!context_exists(s, peer) || peer == c) return CUDA_ERROR_INVALID_CONTEXT;
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  if (!boards_are_peers(s, c->board, peer->board)) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  if (place_of(c, peer) >= 0) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  c->peer = mem_more(c->peer, c->n_peers, &c->peers_room, sizeof(struct context *));
  c->peer[c->n_peers++] = peer;
  update(s, c->board);
  return CUDA_SUCCESS;
}

static void forget(struct context *c, const struct context *peer)
{
  const int i = place_of(c, peer);
  if (i >= 0) c->peer[i] = c->peer[--c->n_peers];
}

/* Kernels that use it may still be there. */
CUresult peer_disable(struct shim *s, struct context *peer)
{
  struct context *c = context_current(s);
  if (!context_exists(s, peer)) return CUDA_ERROR_INVALID_CONTEXT;
  if (place_of(c, peer) < 0) return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  parts_settle(s);
  forget(c, peer);
  update(s, c->board);
  return CUDA_SUCCESS;
}

void peers_forget(struct shim *s, struct context *c)
{
  for (struct context *x = s->contexts.first; x; x = x->next) forget(x, c);
  mem_free(c->peer);
  c->peer = NULL;
  c->n_peers = c->peers_room = 0;
  for (unsigned i = 0; i < s->boards.n; i++) update(s, &s->boards.of[i]);
}

/* What was allocated there has gone, and the heap has a new place. */
static void reset(struct shim *s, struct board *b)
{
  if (b->primary) peers_forget(s, b->primary);
  peers_refresh_all(s, b);
}

const struct shim_part peer_part = { .reset = reset };

/* --- questions ------------------------------------------------------------------------------------ */

CUresult peer_can_access(struct shim *s, int *can, int device, int peer)
{
  const struct board *a = board_at(s, device), *b = board_at(s, peer);
  if (!a || !b) return CUDA_ERROR_INVALID_DEVICE;
  if (!can) return CUDA_ERROR_INVALID_VALUE;
  *can = boards_are_peers(s, a, b);
  return CUDA_SUCCESS;
}

/* The pairs of this machine with a higher rate: 0 is the best. */
static int rank(const struct shim *s, const struct board *from, const struct board *to)
{
  const uint64_t rate = boards_rate(s, from, to);
  uint64_t better[BOARDS_MAX * BOARDS_MAX];
  unsigned n = 0;
  for (unsigned i = 0; i < s->boards.n * s->boards.n; i++) {
    const struct board *a = &s->boards.of[i / s->boards.n], *b = &s->boards.of[i % s->boards.n];
    const uint64_t other = boards_are_peers(s, a, b) ? boards_rate(s, a, b) : 0;
    unsigned k = 0;
    while (k < n && better[k] != other) k++;
    if (other > rate && k == n) better[n++] = other;
  }
  return (int)n;
}

CUresult peer_attribute(struct shim *s, int *value, int attribute, int from, int to)
{
  enum { PERFORMANCE_RANK = 1, ACCESS, NATIVE_ATOMICS, ARRAYS, ONLY_SOME_ATOMICS };
  const struct board *a = board_at(s, from), *b = board_at(s, to);
  if (!value || attribute < PERFORMANCE_RANK || attribute > ONLY_SOME_ATOMICS) return CUDA_ERROR_INVALID_VALUE;
  if (!a || !b || a == b) return CUDA_ERROR_INVALID_DEVICE;
  const bool peers = boards_are_peers(s, a, b), all = boards_have_atomics(s, a, b);
  switch (attribute) {
  case PERFORMANCE_RANK: *value = peers ? rank(s, a, b) : 0; break;
  case ACCESS: *value = peers; break;
  case NATIVE_ATOMICS: *value = all; break;
  case ARRAYS: *value = peers; break;
  case ONLY_SOME_ATOMICS: *value = peers && !all; break;
  default: BUG_ON(true);
  }
  return CUDA_SUCCESS;
}
