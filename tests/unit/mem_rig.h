/* The memory side alone: all SMs' ports, the crossbar, all partitions, no SMs. Include after cmocka.h. */
#ifndef TESTS_UNIT_MEM_RIG_H
#define TESTS_UNIT_MEM_RIG_H

#include <string.h>

#include "config/presets.h"
#include "time/mem/l2_map.h"
#include "time/mem/partition.h"

enum { OUT_CAP = 4096, IN_CAP = 8192 };

/* All SMs' ports, the crossbar, all partitions, no SMs. */
struct rig {
  struct params params;
  struct arena arena;
  struct xbar xbar;
  struct partition *part;
  picos *wake;
  unsigned n;
  struct req_queue *out;
  struct reply_queue *in;
  picos clock, window, now;
  unsigned performed;
  struct l2_policy policy;
  struct l2_rights *rights; /* NULL: no CPUs are on the same memory */
};

static inline bool mock_perform_at(void *ctx, const struct mem_req *r, picos now, struct gmem_view *v,
                    struct fault *f)
{
  (void)r, (void)now, (void)v, (void)f;
  ((struct rig *)ctx)->performed++;
  return true;
}

static inline void rig_build(struct rig *r, const char *gpu)
{
  struct err e = {0};
  char dir[4096];
  memset(r, 0, sizeof *r);
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load(gpu, dir, &r->params, &e)) fail_msg("%s", e.msg);
}

static inline void rig_start(struct rig *r)
{
  const struct params *p = &r->params;
  r->clock = params_l2_clock_ps(p);
  r->window = p->noc_request_latency * r->clock;
  xbar_init(&r->xbar, &r->arena, p, 0);
  r->n = partition_count(p);
  r->part = ARENA_ARRAY(&r->arena, struct partition, r->n);
  r->wake = ARENA_ARRAY(&r->arena, picos, r->n);
  r->out = ARENA_ARRAY(&r->arena, struct req_queue, p->gpu_sms);
  r->in = ARENA_ARRAY(&r->arena, struct reply_queue, p->gpu_sms);
  if (r->rights) l2_rights_open(r->rights, p->l2_slices);
  for (unsigned i = 0; i < r->n; i++) {
    partition_init(&r->part[i], &r->arena, p, i, &r->xbar, mock_perform_at, r, r->rights, &r->policy);
    partition_start(&r->part[i], NULL);
    r->wake[i] = TIME_NEVER;
  }
  for (unsigned i = 0; i < p->l2_slices; i++)
    r->xbar.request[i].wake = &r->wake[partition_of_slice(p, i)];
  for (unsigned i = 0; i < p->gpu_sms; i++) {
    QUEUE_INIT(&r->out[i], &r->arena, struct mem_req, OUT_CAP);
    QUEUE_INIT(&r->in[i], &r->arena, struct mem_reply, IN_CAP);
  }
}

static inline void rig_free(struct rig *r)
{
  for (unsigned i = 0; i < r->n; i++) partition_free(&r->part[i]);
  xbar_free(&r->xbar);
  arena_free(&r->arena);
}

/* One window: what SMs sent goes in, replies of the window come out. */
static inline void rig_window(struct rig *r)
{
  picos to = r->now + r->window;
  for (unsigned i = 0; i < r->params.gpu_sms; i++) {
    if (r->out[i].n) xbar_stood(&r->xbar, i, &r->out[i], r->now);
    xbar_inject(&r->xbar, i, &r->out[i]);
  }
  for (unsigned i = 0; i < r->n; i++)
    if (r->wake[i] < to) r->wake[i] = partition_run(&r->part[i], r->now, to);
  xbar_link_move(&r->xbar);
  r->now = to;
  for (unsigned i = 0; i < r->params.gpu_sms; i++)
    xbar_deliver(&r->xbar, i, &r->in[i], to + r->window);
}

/* Stores write `words` of the line. */
static inline void ask_words(struct rig *r, unsigned sm, enum req_kind kind, enum mem_op op, uint64_t line,
                             unsigned sectors, uint32_t words, picos at)
{
  req_queue_push(&r->out[sm],
                 (struct mem_req){.arrive = at + r->params.noc_request_latency * r->clock,
                                  .line = line, .from = (uint16_t)sm, .kind = (uint8_t)kind,
                                  .op = (uint8_t)op, .sectors = (uint8_t)sectors,
                                  .repeats = op == MEM_ATOMIC || op == MEM_RED, .words = words});
}

/* Whole sectors. */
static inline void ask(struct rig *r, unsigned sm, enum req_kind kind, enum mem_op op, uint64_t line,
                       unsigned sectors, picos at)
{
  uint32_t words = 0;
  for (unsigned i = 0; i < SECTORS_PER_LINE; i++)
    if (sectors >> i & 1) words |= (uint32_t)0xff << 8 * i;
  ask_words(r, sm, kind, op, line, sectors, words, at);
}

/* Waits for the answer to what SM 0 sent: the time since, ps. */
static inline picos await(struct rig *r, picos sent)
{
  for (unsigned i = 0; !r->in[0].n; i++) {
    assert_true(i < 100000);
    rig_window(r);
  }
  picos at = reply_queue_front(&r->in[0])->arrive;
  reply_queue_pop(&r->in[0]);
  while (r->now < at) rig_window(r);
  return at - sent;
}

/* Sends at the start of the next window and waits for the answer: the time between, ps. */
static inline picos round_trip(struct rig *r, enum req_kind kind, enum mem_op op, uint64_t line,
                        unsigned sectors)
{
  picos sent = r->now;
  ask(r, 0, kind, op, line, sectors, sent);
  return await(r, sent);
}

/* A store to some words of one sector. */
static inline picos store_words(struct rig *r, uint64_t line, unsigned sector, uint32_t words)
{
  picos sent = r->now;
  ask_words(r, 0, REQ_WRITE, MEM_STORE, line, 1u << sector, words, sent);
  return await(r, sent);
}

static inline void drain(struct rig *r)
{
  for (unsigned i = 0; i < r->n; i++)
    while (partition_busy(&r->part[i])) rig_window(r);
}

/* Counters of all slices and channels; they keep their laws. */
static inline struct dram_stats dram_sum(struct rig *r)
{
  struct dram_stats s = {0};
  struct err e = {0};
  for (unsigned i = 0; i < r->n; i++)
    for (unsigned k = 0; k < r->part[i].n_channels; k++)
      stat_add(dram_stats_group("dram", &s), dram_stats_group("dram", &r->part[i].channel[k].stats));
  if (!stat_check_laws(dram_stats_group("dram", &s), &e)) fail_msg("%s", e.msg);
  return s;
}

static inline struct l2_stats l2_sum(struct rig *r)
{
  struct l2_stats s = {0};
  struct err e = {0};
  for (unsigned i = 0; i < r->n; i++)
    for (unsigned k = 0; k < r->part[i].n_slices; k++)
      stat_add(l2_stats_group("l2", &s), l2_stats_group("l2", &r->part[i].slice[k].stats));
  if (!stat_check_laws(l2_stats_group("l2", &s), &e)) fail_msg("%s", e.msg);
  return s;
}

static inline void check_laws(struct rig *r)
{
  drain(r);
  struct l2_stats l2 = l2_sum(r);
  struct dram_stats d = dram_sum(r);
  assert_int_equal(d.dram_read_bytes, SECTOR_BYTES * (l2.l2_miss_sectors + l2.l2_companion_sectors + l2.l2_merged_sectors));
  assert_int_equal(d.dram_write_bytes, SECTOR_BYTES * l2.l2_written_back_sectors);
}

#endif
