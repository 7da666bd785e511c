/* Special registers and CTA barriers. Rules: PTX ISA (bar, special registers), compiler output (CUDA 13.0). */
#include "base/bits.h"
#include "func/sass/func_launch.h"
#include "func/sass/guest_fault.h"
#include "func/sass/lanes.h"
#include "func/sass/paths.h"


/* A uniform register of the path. */
static void uniform_write(struct func_warp *w, const struct uop *u, uint32_t v)
{
  w->launch->ops->fill(row_dst(w, u->d), v, warp_path(w));
}

/* Special registers. */
enum sr {
  SR_LANEID = 0, SR_CLOCK = 1, SR_VIRTCFG = 2, SR_VIRTID = 3, SR_TID = 32, SR_TID_X = 33, SR_TID_Y, SR_TID_Z,
  SR_CTAID_X = 37, SR_CTAID_Y, SR_CTAID_Z, SR_LWINHI = 46, SR_SWINHI = 47, SR_SWINLO = 48,
  SR_SWINSZ = 49, SR_SMEMSZ = 50, SR_LWINLO = 52, SR_LWINSZ = 53,
  SR_LMEMHIOFF = 55 /* lowest stack address: local memory starts at 0 */, SR_EQMASK = 56, SR_LTMASK,
  SR_LEMASK, SR_GTMASK, SR_GEMASK, SR_GLOBALERRORSTATUS = 64, SR_WARPERRORSTATUS = 66,
  SR_VIRTUALSMID = 67, SR_CLOCKLO = 80, SR_CLOCKHI, SR_TIMERLO, SR_TIMERHI,
  SR_PM0 = 100, SR_PM_LAST = 115, SR_CGA_CTAID = 136, SR_CGA_SIZE = 138 /* reads 0: host/abi.def */,
  SR_ZERO = 255
};

static bool sr_known(unsigned id)
{
  static const uint8_t known[] = {SR_LANEID,          SR_CLOCK,       SR_VIRTCFG,  SR_VIRTID,    SR_TID,
                                  SR_TID_X,           SR_TID_Y,       SR_TID_Z,    SR_CTAID_X,   SR_CTAID_Y,
                                  SR_CTAID_Z,         SR_LWINHI,      SR_SWINHI,   SR_SWINLO,    SR_SWINSZ,
                                  SR_SMEMSZ,          SR_LWINLO,      SR_LWINSZ,   SR_LMEMHIOFF, SR_EQMASK,
                                  SR_LTMASK,          SR_LEMASK,      SR_GTMASK,   SR_GEMASK,    SR_GLOBALERRORSTATUS,
                                  SR_WARPERRORSTATUS, SR_VIRTUALSMID, SR_CLOCKLO,  SR_CLOCKHI,   SR_TIMERLO,
                                  SR_TIMERHI,         SR_CGA_CTAID,   SR_CGA_SIZE, SR_ZERO};
  if (id >= SR_PM0 && id <= SR_PM_LAST) return true;
  for (unsigned i = 0; i < sizeof known; i++) {
    if (known[i] == id) return true;
  }
  return false;
}

bool func_sr_of_schedule(const struct uop *u)
{
  for (unsigned id = u->imm; id < u->imm + u->imm2; id++) {
    if (id == SR_CLOCK || id == SR_VIRTID || id == SR_VIRTUALSMID || (id >= SR_CLOCKLO && id <= SR_TIMERHI))
      return true;
  }
  return false;
}

static uint32_t sr_lane_mask(unsigned id, unsigned lane)
{
  uint32_t eq = 1u << lane, lt = eq - 1;
  switch (id) {
  case SR_EQMASK: return eq;
  case SR_LTMASK: return lt;
  case SR_LEMASK: return lt | eq;
  case SR_GTMASK: return ~(lt | eq);
  default: return ~lt;
  }
}

static uint32_t sr_read(const struct func_warp *w, unsigned id, unsigned lane,
                        const struct effect *e)
{
  const struct func_launch *l = w->launch;
  switch (id) {
  case SR_LANEID: return lane;
  case SR_CLOCK: case SR_CLOCKLO: return (uint32_t)e->clock;
  case SR_CLOCKHI: return (uint32_t)(e->clock >> 32);
  case SR_TIMERLO: return (uint32_t)e->time_ns;
  case SR_TIMERHI: return (uint32_t)(e->time_ns >> 32);
  case SR_VIRTCFG: return l->p.n_warpids << 8;
  case SR_VIRTID: return w->cta->smid << 20 | w->warp_id << 8 | lane;
  case SR_TID: return w->tid[0][lane] | w->tid[1][lane] << 16 | w->tid[2][lane] << 26;
  case SR_TID_X: case SR_TID_Y: case SR_TID_Z: return w->tid[id - SR_TID_X][lane];
  case SR_CTAID_X: case SR_CTAID_Y: case SR_CTAID_Z: return w->cta->ctaid[id - SR_CTAID_X];
  case SR_LWINHI: return (uint32_t)(l->p.local_window >> 32);
  case SR_SWINHI: return (uint32_t)(l->p.shared_window >> 32);
  case SR_SWINSZ: case SR_LWINSZ: return 1u << 24;
  case SR_SMEMSZ: return l->shared_limit + l->p.shared_unused;
  case SR_EQMASK: case SR_LTMASK: case SR_LEMASK: case SR_GTMASK: case SR_GEMASK:
    return sr_lane_mask(id, lane);
  case SR_VIRTUALSMID: return w->cta->smid;
  case SR_CGA_CTAID: return w->cta->rank;
  default: return 0; /* window low words, error status, performance counters (none is set up), SRZ */
  }
}

/* Whether the lanes of a warp read different values. */
static bool sr_by_lane(unsigned id)
{
  return id == SR_LANEID || id == SR_VIRTID || (id >= SR_TID && id <= SR_TID_Z) ||
         (id >= SR_EQMASK && id <= SR_GEMASK);
}

static void sr_row(struct func_warp *w, unsigned id, uint32_t m, const struct effect *e, uint32_t *d)
{
  uint32_t t[LANES];
  if (!sr_by_lane(id)) {
    w->launch->ops->fill(d, sr_read(w, id, 0, e), m);
  } else if (id >= SR_TID_X && id <= SR_TID_Z) {
    w->launch->ops->blend(d, w->tid[id - SR_TID_X], m);
  } else {
    for (unsigned i = 0; i < LANES; i++) t[i] = sr_read(w, id, i, e);
    w->launch->ops->blend(d, t, m);
  }
}

static bool s2r(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                struct fault *f)
{
  (void)f;
  uint32_t *d = row_dst(w, u->d);
  for (unsigned k = 0; k < u->imm2; k++)
    sr_row(w, u->imm == SR_ZERO ? SR_ZERO : u->imm + k, m, e, d + k * LANES);
  return true;
}

static bool s2ur(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                 struct fault *f)
{
  (void)f;
  uniform_write(w, u, sr_read(w, u->imm, bits_first(m), e));
  return true;
}

static bool cs2ur(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                  struct fault *f)
{
  (void)f;
  uint32_t *d = row_dst(w, u->d);
  for (unsigned k = 0; k < u->imm2; k++) {
    uint32_t v = sr_read(w, u->imm == SR_ZERO ? SR_ZERO : u->imm + k, bits_first(m), e);
    w->launch->ops->fill(d + k * LANES, v, warp_path(w));
  }
  return true;
}

/* LEPC: the pc of the instruction itself, or of a target that newer forms carry (in bytes from the
 * next instruction). Compiler output: the return addresses it computes from either. */
static bool lepc(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                 struct fault *f)
{
  (void)f;
  uint64_t pc = e->pc;
  if (u->imm) pc += 16 + (uint64_t)u->s->offset;
  uint32_t t[2 * LANES];
  for (unsigned i = 0; i < LANES; i++) lane_put64(t, i, pc);
  row_blend(row_dst(w, u->d), t, 2, m);
  return true;
}

static bool bar(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                struct fault *f)
{
  enum { BAR_ARV = 1 };
  unsigned lane = bits_first(m);
  uint32_t id = row_src(w, u->a)[lane], count = row_src(w, u->b)[lane];
  if (u->imm2 >> 8) { /* both in one register */
    count = id >> 16 & 0xfff;
    id &= 15;
  }
  if (id >= N_BARRIERS || count % LANES) {
    return func_fault(w, e, f, FAULT_ILLEGAL_INST, lane, 0, "barrier %u with %u threads",
                      (unsigned)id, (unsigned)count);
  }
  e->barrier = (struct step_barrier){.id = (uint8_t)id, .waits = u->imm != BAR_ARV, .count = (uint16_t)count};
  path_bar(w, id, u->imm, count, u->imm2 & 3, pred_read(w, u->pp, u->pp_xor), m, e);
  return true;
}

static bool b2r_result(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                       struct fault *f)
{
  LANE_UNUSED;
  uint32_t t[LANES];
  for (unsigned i = 0; i < LANES; i++) t[i] = w->red_pop;
  row_blend(row_dst(w, u->d), t, 1, m);
  pred_write(w, u->pu, m, w->red_pred);
  return true;
}

static bool cgabar_arv(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                       struct fault *f)
{
  (void)u, (void)f;
  e->barrier = (struct step_barrier){.id = BAR_CLUSTER};
  path_cluster_arrive(w, m, e);
  return true;
}

static bool cgabar_wait(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                        struct fault *f)
{
  (void)u, (void)f;
  e->barrier = (struct step_barrier){.id = BAR_CLUSTER, .waits = true};
  path_cluster_wait(w, m, e);
  return true;
}

/* imm: word of the pair; imm2: written from row b, else read. */
static bool rpcmov(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                   struct fault *f)
{
  LANE_UNUSED;
  w->rare_set = true;
  if (u->imm2) row_blend(w->rpc[u->imm], row_src(w, u->b), 1, m);
  else row_blend(row_dst(w, u->d), w->rpc[u->imm], 1, m);
  return true;
}

static uop_fn *pick_bar(const struct sass_inst *s, struct uop *u)
{
  enum { BAR_SCAN = 3, BAR_SYNCALL = 4 };
  u->imm = (uint32_t)sass_get(s, FLD_BAR_OP);
  u->imm2 = (uint32_t)sass_get(s, FLD_BAR_RED);
  /* "BAR.SYNC R0, R0": one register holds the number (3:0) and the count (27:16). With one of
   * the two immediate the register holds the other alone (compiler output). */
  if (s->src[0].kind == SRC_REG && s->src[1].kind == SRC_REG) u->imm2 |= 1u << 8;
  if (u->imm == BAR_SCAN || u->imm > BAR_SYNCALL) return NULL;
  u->flags |= UOP_CONTROL;
  return bar;
}

static uop_fn *pick_s2r(const struct sass_inst *s, struct uop *u)
{
  u->imm = (uint32_t)sass_get(s, FLD_SR);
  u->imm2 = sass_get(s, FLD_CS2R_64) ? 2 : 1;
  if (!sr_known(u->imm)) return NULL;
  if (func_sr_of_schedule(u)) u->flags |= UOP_CLOCK;
  if (s->sem == SEM_CS2UR) return cs2ur;
  return s->sem == SEM_S2UR ? s2ur : s2r;
}

uop_fn *sem_warp_handler(const struct sass_inst *s, struct uop *u)
{
  enum { B2R_RESULT = 2 };
  switch (s->sem) {
  case SEM_S2R: case SEM_S2UR: case SEM_CS2R: case SEM_CS2UR: return pick_s2r(s, u);
  case SEM_LEPC: u->imm = sass_has(s, FLD_TARGET_LEPC); return lepc;
  case SEM_BAR: return pick_bar(s, u);
  case SEM_CGABAR_ARV: u->flags |= UOP_CONTROL; return cgabar_arv;
  case SEM_CGABAR_WAIT: u->flags |= UOP_CONTROL; return cgabar_wait;
  case SEM_RPCMOV:
    u->imm = (uint32_t)sass_get(s, FLD_RPC_HI);
    u->imm2 = s->src[1].kind == SRC_REG;
    return rpcmov;
  case SEM_B2R: return sass_get(s, FLD_B2R_OP) == B2R_RESULT ? b2r_result : NULL;
  default: return NULL;
  }
}
