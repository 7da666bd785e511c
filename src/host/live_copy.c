/* Copies and prefetches on the GPU between two moments (host/live_gpu.h). */
#include "host/live_parts.h"

#include "base/bug.h"
#include "host/gpu_server.h"
#include "time/dma/dma.h"
#include "time/uvm/uvm_machine.h"

static void begin_with_copy(struct simulator *s, uint64_t start_ps, struct gmem *image, const struct sim_options *o)
{
  struct err e;
  BUG_ON(!simulator_gpu_at(s, o, start_ps, &e)); /* without hazards it is always there */
  live_watch_as(s, o);
  live_begin_run(s, start_ps, NULL, image);
}

static uint32_t new_copy(struct live *v, const struct live_copy *c, uint32_t planes)
{
  uint32_t i = 0;
  while (i < v->n_copy_slots && v->copy[i].who) i++;
  if (i == v->n_copy_slots) {
    v->copy = mem_more(v->copy, v->n_copy_slots, &v->room_copies, sizeof *v->copy);
    v->n_copy_slots++;
  }
  v->copy[i] = (struct copy_slot){.who = c->who, .start_ps = c->start_ps, .planes = planes, .begin = TIME_NEVER};
  v->n_copies++;
  return i;
}

/* Planes that follow each other as their rows do are one. */
static struct live_copy flat(const struct live_copy *c)
{
  struct live_copy f = *c;
  bool even = (f.fill || f.src.slice == f.height * f.src.pitch) && f.dst.slice == f.height * f.dst.pitch;
  if (f.height == 1) f.height = f.depth, f.dst.pitch = f.dst.slice, f.src.pitch = f.src.slice, f.depth = 1;
  else if (even) f.height *= f.depth, f.depth = 1;
  return f;
}

static uint16_t node_of(const struct simulator *s, const struct live_side *x)
{
  if (x->place == LIVE_DEVICE) return DMA_HERE;
  return x->place == LIVE_PEER ? x->node : surroundings_socket(s->around, s->node);
}

static uint64_t setup_of(const struct simulator *s, const struct live_copy *c)
{
  if (c->engine == LIVE_TO_DEVICE || c->engine == LIVE_TO_HOST)
    return surroundings_setup_ps(s->around, s->params, s->node);
  if (c->engine == LIVE_TO_PEER) return (uint64_t)s->params->dma_peer_ns * 1000;
  const uint64_t launch = s->params->launch_latency_cycles + s->params->membar_gpu_cycles; /* of a kernel that copies */
  return launch * params_clock_ps(s->params);
}

static uint64_t window_of(const struct simulator *s, const struct live_copy *c)
{
  const bool out = c->src.place == LIVE_DEVICE;
  const uint16_t other = node_of(s, out ? &c->dst : &c->src);
  if (other == DMA_HERE) return 0;
  return out ? surroundings_window(s->around, s->node, other) : surroundings_window(s->around, other, s->node);
}

static struct dma_copy for_dma(const struct simulator *s, const struct live_copy *c, uint32_t ticket)
{
  return (struct dma_copy){
      .ticket = ticket, .arrive = live_clock_gpu(live_clock_of(s), c->start_ps), .dst = c->dst.addr, .src = c->src.addr,
      .bytes = c->width, .rows = c->height, .dst_pitch = c->dst.pitch, .src_pitch = c->src.pitch,
      .setup = setup_of(s, c), .window = window_of(s, c),
      .staging_mbps = c->staging_mbps, .dst_node = node_of(s, &c->dst),
      .src_node = node_of(s, &c->src), .engine = (uint8_t)c->engine, .fill = c->fill,
      .priority = c->priority,
      .program = c->dst.place == LIVE_PROGRAM || c->src.place == LIVE_PROGRAM};
}

/* Without addresses of the program, which differ from process to process; where no buffer is between, not how they lie
 * in bursts. */
static uint64_t address_alike(const struct live_side *s, bool buffered)
{
  return s->place != LIVE_PROGRAM ? s->addr : buffered ? 0 : s->addr % RANKED_PAGE;
}

static void note_copy(const struct simulator *s, const struct live_copy *c)
{
  const struct live_side *d = &c->dst, *f = &c->src;
  const bool buffered = c->staging_mbps;
  const uint64_t what[] = {s->node, c->width, c->height, c->depth, c->fill, c->engine, c->start_ps,
                           (uint64_t)c->priority,
                           address_alike(d, buffered), d->pitch, d->slice, d->place, d->node,
                           address_alike(f, buffered), f->pitch, f->slice, f->place, f->node};
  ranks_note(live_ranked(s)->ranks, what, sizeof what);
}

/* Where several processes have the machine: the program's memory by the name that it has in all of them. */
static uint64_t name_program(const struct simulator *s, struct live_copy *c)
{
  struct live_side *x = c->dst.place == LIVE_PROGRAM ? &c->dst : &c->src;
  note_copy(s, c);
  if (x->place != LIVE_PROGRAM) return 0;
  const uint64_t bytes = (c->depth - 1) * x->slice + (c->height - 1) * x->pitch + c->width;
  const unsigned offset = c->staging_mbps ? 0 : (unsigned)(x->addr % RANKED_PAGE);
  return x->addr = ranked_open_window(live_ranked(s), x->addr, bytes, offset);
}

void live_copy(struct simulator *s, const struct live_copy *c, struct gmem *image, const struct sim_options *o)
{
  if (s->served) {
    s->served->copy(s->server, c);
    return;
  }
  struct live *v = live_of(s);
  struct live_copy f = flat(c);
  BUG_ON(!s->around || f.depth > UINT32_MAX);
  const uint64_t window = live_ranked(s) ? name_program(s, &f) : 0;
  if (!live_clock_of(s)->running) begin_with_copy(s, c->start_ps, image, o);
  surroundings_wake(s->around, s);
  const uint32_t ticket = new_copy(v, c, (uint32_t)f.depth);
  v->copy[ticket].window = window;
  if (!live_is_here(s)) return;
  struct dma_copy d = for_dma(s, &f, ticket);
  for (uint64_t z = 0; z < f.depth; z++) {
    dma_post(gpu_dma(s->gpu), &d);
    d.setup = 0;
    d.dst += f.dst.slice;
    d.src += f.fill ? 0 : f.src.slice;
  }
}

void live_prefetch(struct simulator *s, const struct live_prefetch *p, struct gmem *image, const struct sim_options *o)
{
  if (s->served) {
    s->served->prefetch(s->server, p);
    return;
  }
  struct live *v = live_of(s);
  BUG_ON(!live_managed(s));
  if (!live_clock_of(s)->running) begin_with_copy(s, p->start_ps, image, o);
  surroundings_wake(s->around, s);
  const uint32_t ticket = new_copy(v, &(struct live_copy){.who = p->who, .start_ps = p->start_ps}, 1);
  uvm_prefetch(live_managed(s), p->addr, p->bytes, p->to_host ? UVM_TO_HOST : UVM_TO_GPU,
               live_clock_gpu(live_clock_of(s), p->start_ps), ticket);
}

/* --- and go -------------------------------------------------------------------------------------- */

static void end_copy(struct simulator *s, struct copy_slot *c)
{
  struct live *v = s->live;
  const struct live_clock *k = live_clock_of(s);
  const uint64_t begin = later(c->start_ps, live_clock_program_at(k, c->begin, false));
  live_add_end(v, &(struct live_end){.who = c->who, .copy = true, .failed = c->failed, .start_ps = begin,
                                .end_ps = later(begin, live_clock_program_at(k, c->end, true))});
  if (c->window) ranked_close_window(live_ranked(s), c->window);
  *c = (struct copy_slot){0};
  v->n_copies--;
}

static void end_plane(struct simulator *s, uint64_t ticket, picos begin, picos end, bool failed)
{
  struct copy_slot *c = &s->live->copy[ticket];
  c->begin = earlier(c->begin, begin);
  c->end = later(c->end, end);
  c->failed |= failed;
  if (--c->planes == 0) end_copy(s, c);
}

void live_collect_copies(struct simulator *s)
{
  struct live *v = s->live;
  for (struct dma_done d; v->n_copies && dma_take_done(gpu_dma(s->gpu), &d);)
    end_plane(s, d.ticket, d.begin, d.at, d.failed);
  for (struct uvm_job_done d; v->n_copies && live_managed(s) && fault_buffer_take_done(&live_managed(s)->buffer, &d);)
    end_plane(s, d.ticket, d.begin, d.at, false);
}

void live_cut_copies(struct simulator *s)
{
  struct live *v = s->live;
  for (uint32_t i = 0; i < v->n_copy_slots; i++) {
    struct copy_slot *c = &v->copy[i];
    if (!c->who) continue;
    c->begin = earlier(c->begin, gpu_now(s->gpu));
    c->end = gpu_now(s->gpu);
    end_copy(s, c);
  }
}
