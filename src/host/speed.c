#include "host/speed.h"

#include <math.h>

#include "time/gpu/gpu.h"
#include "time/msg.h"
#include "time/sm/warp_state.h"

const char *speed_key(enum speed_unit u)
{
  static const char *const keys[] = {
#define X(id, key, name, unit) key,
    SPEED_LIST(X)
#undef X
  };
  return keys[u];
}

const char *speed_name(enum speed_unit u)
{
  static const char *const names[] = {
#define X(id, key, name, unit) name,
    SPEED_LIST(X)
#undef X
  };
  return names[u];
}

const char *speed_amount_unit(enum speed_unit u)
{
  static const char *const units[] = {
#define X(id, key, name, unit) unit,
    SPEED_LIST(X)
#undef X
  };
  return units[u];
}

/* What all shares are of. */
struct base {
  const struct params *p;
  const struct sim_result *r;
  double sms, cycles; /* that the kernel may use; of the kernel */
  double busy;        /* SM cycles with a CTA, of all SMs */
  double behind;      /* cycles behind the launch latency */
};

static double ratio(double a, double b)
{
  return b > 0 ? a / b : NAN;
}

/* A unit of every SM that can do `rate` per cycle. */
static struct speed in_sm(const struct base *b, double amount, double rate)
{
  return (struct speed){amount, rate * b->sms, ratio(amount, rate * b->sms * b->cycles), ratio(amount, rate * b->busy)};
}

static struct speed outside(const struct base *b, double amount, double peak)
{
  return (struct speed){amount, peak, ratio(amount, peak * b->cycles), ratio(amount, peak * b->behind)};
}

/* Cycles for which the pipe of a sub-core is taken. */
static double pipe_cycles(const struct base *b, enum pipe pipe)
{
  return (double)sim_counters(b->r, "pipe", PIPE__N)[pipe] * b->p->pipe_interval[pipe];
}

static struct speed of_pipe(const struct base *b, enum pipe pipe, double pipes)
{
  return in_sm(b, pipe_cycles(b, pipe), pipes);
}

static struct speed of_fma(const struct base *b)
{
  double taken = pipe_cycles(b, PIPE_FMA);
  if (!b->p->issue_fp32_on_alu) return in_sm(b, taken, b->p->sm_sub_cores);
  return in_sm(b, taken + pipe_cycles(b, PIPE_ALU), 2 * b->p->sm_sub_cores);
}

/* Products of warpgroups and into tensor memory take the units of all four sub-cores. */
static double whole_products(const struct base *b)
{
  return (double)(sim_counter(b->r, "gmma_cycles") + sim_counter(b->r, "tmem_pipe_cycles")) * b->p->sm_sub_cores;
}

static struct speed of_tensor(const struct base *b, const struct launch *l)
{
  const struct gpu_inst_profile *f = b->r->profile;
  if (!l || !f) return (struct speed){NAN, NAN, NAN, NAN};
  double taken = whole_products(b);
  for (uint64_t i = 0; i < f->n_insts; i++) {
    const struct inst *in = &l->params.code.inst[i];
    if (in->pipe == PIPE_TENSOR && !(in->flags & INST_GMMA))
      taken += (double)f->issued[i] * b->p->mma_interval[in->lat - MMA_FIRST];
  }
  return in_sm(b, taken, b->p->sm_sub_cores);
}

static double l2_bytes(const struct sim_result *r)
{
  return (double)stat_sum(sim_counters(r, "op_sectors", L2_OP__N), L2_OP__N) * SECTOR_BYTES;
}

static double dram_bytes(const struct sim_result *r)
{
  return (double)(sim_counter(r, "dram_read_bytes") + sim_counter(r, "dram_write_bytes"));
}

/* L2 cycles in a cycle of the SM, seconds in one. */
static double l2_clock(const struct params *p)
{
  return (double)params_clock_ps(p) / (double)params_l2_clock_ps(p);
}

static double dram_peak(const struct params *p)
{
  return (double)params_dram_bytes_per_second(p) * (double)params_clock_ps(p) * 1e-12;
}

static struct base base_of(const struct params *p, const struct sim_result *r, const struct launch *l)
{
  double start = (double)sim_counter(r, "launch_cycles") + (double)p->launch_cta_latency, cycles = (double)r->cycles;
  return (struct base){.p = p, .r = r, .sms = launch_sms(l, p), .cycles = cycles,
                       .busy = (double)sim_counter(r, "active_cycles"), .behind = cycles > start ? cycles - start : 0};
}

void speed_of(const struct params *p, const struct sim_result *r, const struct launch *l, struct speed out[SPEED__N])
{
  const struct base b = base_of(p, r, l);
  double sub = p->sm_sub_cores;
  out[SPEED_ISSUE] = in_sm(&b, (double)sim_counters(r, "slot", SLOT__N)[SLOT_ISSUED], sub);
  out[SPEED_ALU] = of_pipe(&b, PIPE_ALU, sub);
  out[SPEED_FMA] = of_fma(&b);
  out[SPEED_HALF] = of_pipe(&b, PIPE_HALF, sub);
  out[SPEED_FP64] = of_pipe(&b, PIPE_FP64, p->fp64_shared ? 1 : sub);
  out[SPEED_TENSOR] = of_tensor(&b, l);
  out[SPEED_SFU] = of_pipe(&b, PIPE_SFU, sub);
  out[SPEED_UNIFORM] = of_pipe(&b, PIPE_UNIFORM, sub);
  out[SPEED_L1] = in_sm(&b, (double)sim_counter(r, "mem_busy"), 1);
  out[SPEED_TO_L2] = outside(&b, (double)sim_counter(r, "noc_request_bytes"),
                             (double)p->noc_slice_request_bytes * p->l2_slices * l2_clock(p));
  out[SPEED_FROM_L2] = outside(&b, (double)sim_counter(r, "noc_reply_bytes"),
                               (double)p->noc_sm_reply_bytes * b.sms * l2_clock(p));
  out[SPEED_L2] = outside(&b, l2_bytes(r), p->l2_bytes_per_cycle * l2_clock(p));
  out[SPEED_DRAM] = outside(&b, dram_bytes(r), dram_peak(p));
}

/* Lanes of the pipes that do such operations: a warp instruction of 32 lanes per interval, with two operations each
 * (four of packed halves). */
static double operations_per_cycle(const struct params *p, enum work_kind kind)
{
  double sub = p->sm_sub_cores, fma = 64.0 / p->pipe_interval[PIPE_FMA], alu = 64.0 / p->pipe_interval[PIPE_ALU];
  switch (kind) {
  case WORK_FP16: return sub * 128.0 / p->pipe_interval[PIPE_HALF];
  case WORK_FP32: return sub * (fma + (p->issue_fp32_on_alu ? alu : 0));
  case WORK_FP64: return (p->fp64_shared ? 1 : sub) * 64.0 / p->pipe_interval[PIPE_FP64];
  default: return NAN;
  }
}

static double sm_cycles_per_second(const struct params *p)
{
  return p->gpu_sms * 1e12 / (double)params_clock_ps(p);
}

double speed_flops_peak(const struct params *p, enum work_kind kind)
{
  return operations_per_cycle(p, kind) * sm_cycles_per_second(p);
}

double speed_tensor_peak(const struct params *p)
{
  double large = 2.0 * 16 * 8 * 16 / p->mma_interval[LAT_MMA_16816_F32 - MMA_FIRST];
  double small = 2.0 * 16 * 8 * 8 / p->mma_interval[LAT_MMA_1688 - MMA_FIRST]; /* all that Turing has */
  return (large > small ? large : small) * p->sm_sub_cores * sm_cycles_per_second(p);
}

struct roofline roofline_of(const struct params *p, const struct sim_result *r, enum work_kind kind)
{
  double seconds = (double)r->time_ps * 1e-12, bytes = dram_bytes(r);
  double flops = (double)r->work.ops[kind];
  struct roofline f = {.flops = ratio(flops, seconds), .bytes = ratio(bytes, seconds),
                       .flops_peak = speed_flops_peak(p, kind),
                       .bytes_peak = (double)params_dram_bytes_per_second(p)};
  f.intensity = ratio(flops, bytes);
  f.ridge = f.flops_peak / f.bytes_peak;
  return f;
}
