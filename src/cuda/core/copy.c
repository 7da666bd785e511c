#include "cuda/core/copy.h"

#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "cuda/core/board_ranks.h"
#include "cuda/core/checked.h"
#include "cuda/core/host_image.h"
#include "cuda/core/managed.h"
#include "cuda/core/peer_time.h"
#include "cuda/core/shim.h"
#include "cuda/core/staged_copy.h"
#include "cuda/core/task.h"
#include "host/live_gpu.h"
#include "trace/export.h"

enum { CHUNK = 64 << 10 };

struct copy copy_linear(uint64_t dst, uint64_t src, uint64_t bytes)
{
  return (struct copy){ .dst = { .addr = dst }, .src = { .addr = src }, .width = bytes,
                        .height = 1, .depth = 1 };
}

/* Whether the host cannot reach what lies there, and a GPU can. */
static bool is_gpus_alone(struct shim *s, uint64_t addr)
{
  if (!memory_is_device(s, addr)) return false;
  const struct block *b = memory_find(s, addr);
  return !b || !memory_on_host(b) || addr - b->addr >= b->bytes;
}

bool copy_side_of_gpu(struct shim *s, uint64_t addr, bool said)
{
  return said || is_gpus_alone(s, addr);
}

bool copy_direct(struct shim *s, struct copy *c, int kind)
{
  if (kind < COPY_HOST_TO_HOST || kind > COPY_DEFAULT) return false;
  c->src.device = kind == COPY_DEVICE_TO_HOST || kind == COPY_DEVICE_TO_DEVICE;
  c->dst.device = kind == COPY_HOST_TO_DEVICE || kind == COPY_DEVICE_TO_DEVICE;
  if (kind == COPY_DEFAULT) {
    c->src.device = memory_is_device(s, c->src.addr) || graph_memory_holds(s, c->src.addr);
    c->dst.device = memory_is_device(s, c->dst.addr) || graph_memory_holds(s, c->dst.addr);
  }
  c->src.device = copy_side_of_gpu(s, c->src.addr, c->src.device);
  c->dst.device = copy_side_of_gpu(s, c->dst.addr, c->dst.device);
  if (program_shows(s, c->src.addr)) c->src.device = false; /* the CPU's memory, whatever the program says */
  if (program_shows(s, c->dst.addr)) c->dst.device = false;
  return true;
}

/* Bytes from the first to behind the last, 0 when they do not fit 64 bits. */
static uint64_t extent(const struct copy_side *c, uint64_t width, uint64_t height, uint64_t depth)
{
  uint64_t rows, planes, all;
  if (__builtin_mul_overflow(height - 1, c->pitch, &rows) ||
      __builtin_mul_overflow(depth - 1, c->slice, &planes) ||
      __builtin_add_overflow(rows, planes, &all) || __builtin_add_overflow(all, width, &all))
    return 0;
  return all;
}

/* Whether the device can access all of it: inside one block, or mapped (variables of modules, mappings that
 * follow each other). */
static bool side_is_valid(struct shim *s, const struct copy_side *c, uint64_t width,
                          uint64_t height, uint64_t depth, bool written)
{
  uint64_t bytes = extent(c, width, height, depth);
  if (bytes == 0 || (height > 1 && c->pitch < width)) return false;
  if (!c->device) return c->addr != 0 && program_reaches(s, c->addr, bytes, written);
  const struct block *b = memory_find(s, c->addr);
  if (b && b->kind != BLOCK_MAPPED) {
    uint64_t start = c->addr - b->addr < b->bytes ? b->addr : b->device;
    return bytes <= b->bytes - (c->addr - start);
  }
  uint64_t page = boards_page(s);
  for (uint64_t at = c->addr; at - c->addr < bytes; at = (at | (page - 1)) + 1)
    if (!memory_is_device(s, at)) return false;
  return true;
}

/* The same for a stream: what it captures may name memory that the graph will allocate. */
static bool is_reachable(struct shim *s, const struct stream *stream, const struct copy_side *c,
                         uint64_t width, uint64_t height, uint64_t depth, bool written)
{
  return side_is_valid(s, c, width, height, depth, written) ||
         (stream && stream->capture && c->device && graph_memory_holds(s, c->addr));
}

/* The address through which a side's bytes are reached in guest memory; registered memory is reached
 * on the host, where it is up to date between launches. */
static struct copy_side resolve(struct shim *s, struct copy_side c)
{
  const struct block *b = c.device ? memory_find(s, c.addr) : NULL;
  if (!b || b->kind != BLOCK_REGISTERED) return c;
  if (c.addr - b->device < b->bytes) c.addr = b->addr + (c.addr - b->device);
  c.device = false;
  return c;
}

/* Between the memory of a program on a simulated CPU and that of the device. False: the program may not touch it any
 * more. */
static bool move_guest(struct shim *s, bool to_device, uint64_t at_d, uint64_t at_s, uint64_t n)
{
  uint8_t chunk[CHUNK];
  for (uint64_t part; n; n -= part, at_d += part, at_s += part) {
    part = n < CHUNK ? n : CHUNK;
    if (to_device) {
      if (!program_read(s, chunk, at_s, part)) return false;
      BUG_ON(!gmem_write(board_memory(s, at_d), at_d, chunk, part));
    } else {
      BUG_ON(!gmem_read(board_memory(s, at_s), at_s, chunk, part));
      if (!program_write(s, at_d, chunk, part)) return false;
    }
  }
  return true;
}

static bool move(struct shim *s, const struct copy_side *d, const struct copy_side *c, uint64_t at_d,
                 uint64_t at_s, uint64_t n)
{
  void *to = (void *)(uintptr_t)host_image(s, at_d);
  const void *from = (const void *)(uintptr_t)host_image(s, at_s);
  uint8_t chunk[CHUNK];
  if (!d->device && !c->device) return program_move(s, at_d, at_s, n);
  if (program_is_guest(s) && d->device != c->device) return move_guest(s, d->device, at_d, at_s, n);
  if (!c->device) {
    BUG_ON(!gmem_write(board_memory(s, at_d), at_d, from, n));
    checked_written(s->checked, at_d, n);
  } else if (!d->device) {
    BUG_ON(!gmem_read(board_memory(s, at_s), at_s, to, n));
  } else {
    struct gmem *dst = board_memory(s, at_d), *src = board_memory(s, at_s);
    checked_copied(s->checked, at_d, at_s, n);
    for (uint64_t part; n; n -= part, at_d += part, at_s += part) {
      part = n < CHUNK ? n : CHUNK;
      BUG_ON(!gmem_read(src, at_s, chunk, part) || !gmem_write(dst, at_d, chunk, part));
    }
  }
  return true;
}

static bool move_all(struct shim *s, const struct copy *c)
{
  struct copy_side d = resolve(s, c->dst), f = resolve(s, c->src);
  for (uint64_t z = 0; z < c->depth; z++)
    for (uint64_t y = 0; y < c->height; y++)
      if (!move(s, &d, &f, d.addr + z * d.slice + y * d.pitch, f.addr + z * f.slice + y * f.pitch, c->width))
        return false;
  return true;
}

static bool side_is_pageable(struct shim *s, const struct copy_side *c)
{
  return !c->device && !memory_find(s, c->addr);
}

/* Whether the host's memory that takes part is neither pinned nor registered: it is staged by the host. */
bool copy_is_pageable(struct shim *s, const struct copy *c)
{
  return side_is_pageable(s, &c->dst) || side_is_pageable(s, &c->src);
}

const char *copy_name(const struct copy *c)
{
  if (c->dst.device) return c->src.device ? "copy on the device" : "copy to the device";
  return c->src.device ? "copy to the host" : "copy on the host";
}

uint64_t copy_size(const struct copy *c)
{
  return c->width * c->height * c->depth;
}

static enum live_place place_of(struct shim *s, const struct copy_side *c)
{
  const struct block *b = c->device ? memory_find(s, c->addr) : NULL;
  if (!c->device || (b && b->kind == BLOCK_REGISTERED)) return LIVE_PROGRAM;
  if (b && b->moves) return managed_at_host(s, c->addr) ? LIVE_AT_HOST : LIVE_DEVICE;
  return b && b->kind == BLOCK_PINNED ? LIVE_AT_HOST : LIVE_DEVICE;
}

/* Device memory that the host does not see. */
static bool is_apart(struct shim *s, const struct copy_side *c)
{
  const struct block *b = c->device ? memory_find(s, c->addr) : NULL;
  return c->device && !(b && memory_on_host(b));
}

/* Whose memory it is; of mapped memory the image says only who sees it. */
static struct board *owner(struct shim *s, const struct copy_side *c)
{
  const struct block *b = memory_find(s, c->addr);
  return b ? b->board : board_of(s, c->addr);
}

bool copy_between(struct shim *s, const struct copy *c, struct board **dst, struct board **src)
{
  if (!is_apart(s, &c->dst) || !is_apart(s, &c->src)) return false;
  *dst = owner(s, &c->dst);
  *src = owner(s, &c->src);
  return *dst != *src;
}

/* Whether one of two GPUs reaches the other's memory: all of it, or what the copy names. */
static bool is_direct(struct shim *s, const struct copy *c, const struct board *dst, const struct board *src)
{
  const struct block *d = memory_find(s, c->dst.addr), *f = memory_find(s, c->src.addr);
  board_mask of_dst = d ? d->in | memory_viewers(d) : 0, of_src = f ? f->in | memory_viewers(f) : 0;
  return (src->reach | of_src) & board_bit(dst) || (dst->reach | of_dst) & board_bit(src);
}

/* The GPU whose memory it is, or on which managed memory is now; of what else the host sees: the stream's. */
static unsigned gpu_of(struct shim *s, const struct copy_side *c, unsigned of_stream)
{
  const struct board *on = !is_apart(s, c) && c->device ? managed_on(s, c->addr) : NULL;
  return is_apart(s, c) ? owner(s, c)->number : on ? on->number : of_stream;
}

enum command_place copy_place(struct shim *s, const struct copy *c, unsigned *gpu)
{
  bool from_device = place_of(s, &c->src) == LIVE_DEVICE, to_device = place_of(s, &c->dst) == LIVE_DEVICE;
  struct board *dst, *src;
  *gpu = gpu_of(s, is_apart(s, &c->dst) || (c->dst.device && managed_on(s, c->dst.addr)) ? &c->dst : &c->src, *gpu);
  if (copy_between(s, c, &dst, &src)) {
    *gpu = src->number;
    return COMMAND_TO_PEER;
  }
  if (from_device == to_device) return COMMAND_ANYWHERE;
  return to_device ? COMMAND_TO_DEVICE : COMMAND_TO_HOST;
}

bool copy_host_waits(struct shim *s, const struct copy *c, bool blocking)
{
  if (is_apart(s, &c->dst) && is_apart(s, &c->src)) return false;
  unsigned gpu = 0;
  return blocking || (copy_place(s, c, &gpu) != COMMAND_ANYWHERE && copy_is_pageable(s, c));
}

static uint64_t duration(const struct task *w, struct shim *s, const struct copy *c)
{
  unsigned gpu = w->command.gpu;
  struct board *dst, *src;
  enum command_place place = copy_place(s, c, &gpu);
  if (place == COMMAND_TO_PEER && copy_between(s, c, &dst, &src))
    return peer_copy_ps(s, src, dst, copy_size(c), is_direct(s, c, dst, src));
  const struct timeline *t = &s->boards.of[gpu].time;
  if (place == COMMAND_ANYWHERE)
    return place_of(s, &c->dst) == LIVE_DEVICE ? timeline_device_ps(t, 2 * copy_size(c)) : 0;
  const enum timeline_engine way = place == COMMAND_TO_DEVICE ? TIMELINE_TO_DEVICE : TIMELINE_TO_HOST;
  return timeline_copy_ps(t, way, copy_size(c), copy_is_pageable(s, c));
}

void copy_note_in_trace(struct shim *s, const struct copy *c)
{
  struct err e;
  if (!s->trace || !c->dst.device || c->src.device) return;
  if (!trace_export_copy(s->trace, c->dst.addr, copy_size(c), &e) && !s->lost) shim_cannot_write(s, &e);
}

bool copy_is_empty(const struct copy *c)
{
  return c->width == 0 || c->height == 0 || c->depth == 0;
}

CUresult copy_check(struct shim *s, const struct copy *c, const struct stream *stream)
{
  bool ok = copy_is_empty(c) || (is_reachable(s, stream, &c->dst, c->width, c->height, c->depth, true) &&
                                 is_reachable(s, stream, &c->src, c->width, c->height, c->depth, false));
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* On the copy engines -------------------------------------------------------------------------- */

/* As the GPU `from` reaches it, whose engine moves it. */
static struct live_side live_side(struct shim *s, const struct copy_side *c, unsigned from)
{
  struct copy_side r = resolve(s, *c);
  const struct board *on = is_apart(s, c) ? owner(s, c) : c->device ? managed_on(s, c->addr) : NULL;
  const bool peer = on && on->number != from;
  enum live_place place = peer ? LIVE_PEER : place_of(s, c);
  if (peer && !is_apart(s, c) && !boards_are_peers(s, &s->boards.of[from], on)) place = LIVE_AT_HOST; /* by way of it */
  if (place == LIVE_PROGRAM) r.addr = host_image(s, r.addr);
  return (struct live_side){ .addr = r.addr, .pitch = r.pitch, .slice = r.slice, .place = place,
                             .node = peer ? (uint16_t)on->node : 0 };
}

static uint32_t staging_mbps(struct shim *s, const struct copy *c, unsigned gpu)
{
  const struct params *p = &s->boards.of[gpu].preset.params;
  uint64_t mbps = place_of(s, &c->dst) == LIVE_DEVICE ? p->pcie_h2d_mbps : p->pcie_d2h_mbps;
  return copy_is_pageable(s, c) ? (uint32_t)later(mbps * p->pcie_pageable_permille / 1000, 1) : 0;
}

static enum command_way go(struct task *w, struct live_copy *l, uint64_t now)
{
  struct shim *s = w->shim;
  static const enum live_engine engine[] = { [COMMAND_ANYWHERE] = LIVE_INSIDE, [COMMAND_TO_DEVICE] = LIVE_TO_DEVICE,
                                             [COMMAND_TO_HOST] = LIVE_TO_HOST, [COMMAND_TO_PEER] = LIVE_TO_PEER };
  struct board *b = &s->boards.of[w->command.gpu];
  const struct sim_options o = { .timed = true, .threads = s->options.threads, .report = stderr,
                                 .observers = board_observers(b) };
  if (!l->fill) l->engine = engine[w->command.place];
  l->start_ps = now;
  l->priority = w->command.priority;
  l->who = w;
  if (l->dst.place == LIVE_DEVICE)
    managed_written(s, b, l->dst.addr, (l->depth - 1) * l->dst.slice + (l->height - 1) * l->dst.pitch + l->width);
  live_copy(b->simulator, l, b->device.mem, &o);
  return COMMAND_GOES;
}

/* Whether the GPU's image has it, or that of the peer whose memory it is; memory may be mapped for others alone. */
static bool is_seen(const struct board *b, const struct live_side *c)
{
  const struct boards *x = &b->shim->boards;
  bool at_home = false;
  for (unsigned i = 0; c->place == LIVE_PEER && i < x->n; i++)
    at_home |= x->of[i].node == c->node && gmem_ptr(x->of[i].device.mem, c->addr, 1);
  return c->place == LIVE_PROGRAM || at_home || gmem_ptr(b->device.mem, c->addr, 1);
}

/* Between two memories of the host no engine takes part. */
static bool takes_engine(const struct task *w, const struct live_side *d, const struct live_side *c)
{
  const struct board *b = &w->shim->boards.of[w->command.gpu];
  return w->shim->shared && is_seen(b, d) && is_seen(b, c) && (d->place == LIVE_DEVICE || c->place == LIVE_DEVICE);
}

void copy_moved(struct task *w, const struct live_end *e, const struct board *by)
{
  if (w->staged) {
    staged_copy_moved(w, e, by);
    return;
  }
  if (e->failed) task_fault(w->shim, CUDA_ERROR_INVALID_VALUE, e->end_ps);
  w->command.begin = e->start_ps;
  w->done = 1;
  front_end(&w->shim->front, &w->command, e->end_ps);
}

/* A copy between GPUs that goes through the host: through a buffer in this process, which a simulated CPU has not. */
static bool is_staged(struct shim *s, const struct copy *c)
{
  struct board *dst, *src;
  return s->boards.n > 1 && copy_between(s, c, &dst, &src) && !is_direct(s, c, dst, src);
}

static enum command_way go_between(struct task *w, const struct live_copy *l, uint64_t now)
{
  struct board *dst, *src;
  BUG_ON(!copy_between(w->shim, &w->op.memcpy.copy, &dst, &src));
  staged_copy_start(w, l, dst, src, now);
  return COMMAND_GOES;
}

/* What a node of a graph names may have been freed by now. */
enum command_way copy_start(struct task *w, uint64_t now, uint64_t *end)
{
  struct shim *s = w->shim;
  const struct copy *c = &w->op.memcpy.copy;
  CUresult r = copy_check(s, c, NULL);
  if (r != CUDA_SUCCESS) task_fault(s, r, now);
  if (r != CUDA_SUCCESS || copy_is_empty(c)) return COMMAND_LASTS;
  const unsigned gpu = w->command.gpu;
  struct live_copy l = { .dst = live_side(s, &c->dst, gpu), .src = live_side(s, &c->src, gpu), .width = c->width,
                         .height = c->height, .depth = c->depth, .staging_mbps = staging_mbps(s, c, gpu) };
  const bool staged = is_staged(s, c);
  if (takes_engine(w, &l.dst, &l.src) && !(staged && program_is_guest(s)))
    return staged ? go_between(w, &l, now) : go(w, &l, now);
  if (s->ranks && (is_apart(s, &c->dst) || is_apart(s, &c->src))) { /* its bytes may be in another process */
    task_fault(s, board_ranks_refuse(s, "this copy"), now);
    return COMMAND_LASTS;
  }
  *end = now + duration(w, s, c);
  return COMMAND_LASTS;
}

void copy_finish(struct task *w)
{
  if (w->shim->ranks && w->shim->fault.code == CUDA_ERROR_NOT_SUPPORTED) return;
  if (!w->done && !move_all(w->shim, &w->op.memcpy.copy)) task_fault(w->shim, CUDA_ERROR_INVALID_VALUE, w->command.end);
}

/* Fills ---------------------------------------------------------------------------------------- */

static void fill_row(struct shim *s, const struct copy_side *d, uint64_t addr, const uint8_t *chunk,
                     uint64_t n)
{
  struct gmem *mem = board_memory(s, addr);
  for (uint64_t part; n; n -= part, addr += part) {
    part = n < CHUNK ? n : CHUNK;
    if (d->device) BUG_ON(!gmem_write(mem, addr, chunk, part));
    if (d->device) checked_written(s->checked, addr, part);
    else if (!program_write(s, addr, chunk, part)) task_fault(s, CUDA_ERROR_INVALID_VALUE, s->time.now);
  }
}

bool fill_is_empty(const struct fill *f)
{
  return f->width == 0 || f->height == 0;
}

bool fill_is_on_host(struct shim *s, const struct fill *f)
{
  return !is_apart(s, &f->to);
}

CUresult copy_fill_check(struct shim *s, const struct fill *f, const struct stream *stream)
{
  if (fill_is_empty(f)) return CUDA_SUCCESS;
  bool aligned = f->to.addr % f->value_bytes == 0 && (f->height <= 1 || f->to.pitch % f->value_bytes == 0);
  return aligned && is_reachable(s, stream, &f->to, f->width, f->height, 1, true) ? CUDA_SUCCESS
                                                                            : CUDA_ERROR_INVALID_VALUE;
}

enum command_way fill_start(struct task *w, uint64_t now, uint64_t *end)
{
  struct shim *s = w->shim;
  const struct fill *f = &w->op.memset;
  CUresult r = copy_fill_check(s, f, NULL);
  if (r != CUDA_SUCCESS) task_fault(s, r, now);
  if (r != CUDA_SUCCESS || fill_is_empty(f)) return COMMAND_LASTS;
  const unsigned gpu = gpu_of(s, &f->to, w->command.gpu);
  struct live_copy l = { .dst = live_side(s, &f->to, gpu), .src.addr = f->value, .width = f->width,
                         .height = f->height, .depth = 1, .fill = (uint8_t)f->value_bytes };
  l.engine = l.dst.place == LIVE_DEVICE ? LIVE_INSIDE : LIVE_TO_HOST;
  w->command.gpu = (uint8_t)gpu;
  if (s->shared && is_seen(&s->boards.of[gpu], &l.dst)) return go(w, &l, now);
  *end = now + timeline_device_ps(&s->boards.of[w->command.gpu].time, f->width * f->height);
  return COMMAND_LASTS;
}

void fill_finish(struct task *w)
{
  const struct fill *f = &w->op.memset;
  uint8_t chunk[CHUNK];
  if (w->done || fill_is_empty(f)) return;
  for (unsigned i = 0; i < CHUNK; i += f->value_bytes) memcpy(chunk + i, &f->value, f->value_bytes);
  struct copy_side d = resolve(w->shim, f->to);
  for (uint64_t y = 0; y < f->height; y++) fill_row(w->shim, &d, d.addr + y * d.pitch, chunk, f->width);
}
