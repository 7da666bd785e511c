#include "time/sm/hazard.h"

#include <string.h>

#include "time/sm/gap.h"

const char *const hazard_lat_name[LAT__N] = {
#define X(id, name) name,
    LAT_LIST(X)
#undef X
};

struct hazard *hazard_new(struct arena *a, const struct params *p)
{
  struct hazard *h = ARENA_NEW(a, struct hazard);
  h->params = p;
  h->reg = ARENA_ARRAY(a, struct hazard_reg, (size_t)SUB_CORE_MAX_WARPS * HAZARD_REGS);
  return h;
}

void hazard_start(struct hazard *h)
{
  h->n_findings = 0;
  h->lost = 0;
  memset(h->least, 0, sizeof h->least);
}

void hazard_new_warp(struct hazard *h, unsigned warp)
{
  memset(&h->reg[warp * HAZARD_REGS], 0, sizeof *h->reg * HAZARD_REGS);
}

static void found(struct hazard *h, struct hazard_finding f)
{
  for (unsigned i = 0; i < h->n_findings; i++) {
    struct hazard_finding *o = &h->finding[i];
    if (o->kind != f.kind || o->first_pc != f.first_pc || o->second_pc != f.second_pc ||
        o->file != f.file || o->index != f.index)
      continue;
    o->count += f.count;
    if (f.missing > o->missing) o->missing = f.missing;
    return;
  }
  if (h->n_findings == HAZARD_MAX_FINDINGS)
    h->lost += f.count;
  else
    h->finding[h->n_findings++] = f;
}

static void report(struct hazard *h, enum hazard_kind kind, const struct operand *o, unsigned k,
                   const struct inst *first, const struct inst *second, uint32_t missing)
{
  found(h, (struct hazard_finding){.kind = (uint8_t)kind,
                                   .file = o->file,
                                   .index = (uint8_t)(o->index + k),
                                   .counter = missing == 0,
                                   .missing = missing,
                                   .first_pc = first->pc,
                                   .second_pc = second->pc,
                                   .count = 1});
}

static void check_read(struct hazard *h, const struct hazard_reg *r, const struct inst *in,
                       const struct operand *o, unsigned k, enum hazard_role role, uint64_t now)
{
  if (!r->writer) return;
  if (r->variable) {
    if (r->ready > now) report(h, HAZARD_RAW, o, k, r->writer, in, 0);
    return;
  }
  uint64_t distance = now - r->written;
  struct hazard_least *least = &h->least[r->writer->lat][role];
  uint32_t need = gap_cycles(h->params, r->writer->lat, role);
  if (distance < (1u << 20) && (least->cycles == 0 || distance < least->cycles))
    *least = (struct hazard_least){(uint32_t)distance, r->writer->pc, in->pc};
  if (distance < need) report(h, HAZARD_RAW, o, k, r->writer, in, need - (uint32_t)distance);
}

/* Uniform registers belong to all lanes. */
static bool shared_lanes(const struct operand *o, lane_mask a, lane_mask b)
{
  return o->file == FILE_UR || o->file == FILE_UP || (a & b);
}

static void check_sources(struct hazard *h, struct hazard_reg *regs, const struct inst *in,
                          lane_mask lanes, uint64_t now)
{
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++) {
      int r = hazard_reg_number(&in->src[i], k);
      if (r >= 0 && regs[r].writer && shared_lanes(&in->src[i], regs[r].written_by, lanes))
        check_read(h, &regs[r], in, &in->src[i], k,
                   hazard_role_of(regs[r].writer->pipe, in, &in->src[i]), now);
    }
}

static void check_guard(struct hazard *h, struct hazard_reg *regs, const struct inst *in,
                        lane_mask lanes, uint64_t now)
{
  struct operand guard = {.file = FILE_P, .index = in->guard, .width = 1};
  int r = in->guard == 7 ? -1 : hazard_reg_number(&guard, 0);
  if (r >= 0 && (regs[r].written_by & lanes))
    check_read(h, &regs[r], in, &guard, 0, ROLE_GUARD, now);
}

static void note_reads(struct hazard *h, struct hazard_reg *regs, const struct inst *in,
                       lane_mask lanes)
{
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++) {
      int r = hazard_reg_number(&in->src[i], k);
      if (r < 0 || in->src[i].file != FILE_R) continue;
      regs[r].reader = in;
      regs[r].read_by = lanes;
      regs[r].read_seq = h->seq;
      regs[r].read = CYCLE_NEVER;
    }
}

static void check_and_note_writes(struct hazard *h, struct hazard_reg *regs, const struct inst *in,
                                  lane_mask lanes, uint64_t now)
{
  bool variable = variable_latency(h->params, in);
  for (unsigned i = 0; i < in->n_dst; i++)
    for (unsigned k = 0; k < in->dst[i].width; k++) {
      int n = hazard_reg_number(&in->dst[i], k);
      if (n < 0) continue;
      struct hazard_reg *r = &regs[n];
      /* Queued instructions of one warp keep their order among themselves, those of one unit too. */
      bool wrote = r->writer && shared_lanes(&in->dst[i], r->written_by, lanes);
      if (wrote && r->variable && r->ready > now && !variable && r->writer->pipe != in->pipe)
        report(h, HAZARD_WAW, &in->dst[i], k, r->writer, in, 0);
      if (r->reader && (r->read_by & lanes) && r->reader != in && r->read > now && !variable &&
          r->reader->pipe != in->pipe)
        report(h, HAZARD_WAR, &in->dst[i], k, r->reader, in, 0);
      r->writer = in;
      r->written_by = lanes;
      r->written = now;
      r->variable = variable;
      r->ready = CYCLE_NEVER;
      r->write_seq = h->seq;
    }
}

uint32_t hazard_issue(struct hazard *h, unsigned warp, const struct inst *in, lane_mask active,
                      lane_mask exec, uint64_t now)
{
  struct hazard_reg *regs = &h->reg[warp * HAZARD_REGS];
  h->seq++;
  check_guard(h, regs, in, active, now);
  if (!exec) return h->seq;
  check_sources(h, regs, in, exec, now);
  if (variable_latency(h->params, in)) note_reads(h, regs, in, exec);
  check_and_note_writes(h, regs, in, exec, now);
  return h->seq;
}

void hazard_written(struct hazard *h, unsigned warp, const struct inst *in, uint32_t seq,
                    uint64_t visible)
{
  struct hazard_reg *regs = &h->reg[warp * HAZARD_REGS];
  for (unsigned i = 0; i < in->n_dst; i++)
    for (unsigned k = 0; k < in->dst[i].width; k++) {
      int r = hazard_reg_number(&in->dst[i], k);
      if (r >= 0 && regs[r].write_seq == seq && regs[r].ready == CYCLE_NEVER)
        regs[r].ready = visible;
    }
}

void hazard_sources_read(struct hazard *h, unsigned warp, const struct inst *in, uint32_t seq,
                         uint64_t visible)
{
  struct hazard_reg *regs = &h->reg[warp * HAZARD_REGS];
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++) {
      int r = hazard_reg_number(&in->src[i], k);
      if (r >= 0 && regs[r].read_seq == seq) regs[r].read = visible;
    }
  /* A predicate result of a memory instruction says something of its address. */
  for (unsigned i = 0; in->mem.space != MEM_NONE && i < in->n_dst; i++) {
    int r = in->dst[i].file == FILE_P ? hazard_reg_number(&in->dst[i], 0) : -1;
    if (r >= 0 && regs[r].write_seq == seq) regs[r].ready = visible;
  }
}

void hazard_merge(struct hazard *into, const struct hazard *from)
{
  for (unsigned i = 0; i < from->n_findings; i++) found(into, from->finding[i]);
  into->lost += from->lost;
  for (unsigned c = 0; c < LAT__N; c++)
    for (unsigned r = 0; r < ROLE__N; r++) {
      const struct hazard_least *v = &from->least[c][r];
      struct hazard_least *o = &into->least[c][r];
      if (v->cycles && (o->cycles == 0 || v->cycles < o->cycles)) *o = *v;
    }
}
