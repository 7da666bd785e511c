#include "ncu/ncu_rule.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/inst.h"
#include "ncu/ncu_metric.h"

/* What the rules look at. Shares of 1; NAN: not known, and what is compared with it does not fire. */
struct seen {
  const struct ncu_action *a;
  struct ncu_findings *out;
  double sm, mem; /* speed of light */
  double issue;   /* of the schedulers' cycles */
  double local;   /* what IssueSlotUtilization hands down: P */
};

__attribute__((format(printf, 7, 8))) static void find(const struct seen *s, const char *section, const char *rule,
                                                       const char *type, const char *scope, double speedup,
                                                       const char *fmt, ...)
{
  va_list ap;
  if (s->out->n == NCU_MAX_FINDINGS) return;
  struct ncu_finding *f = &s->out->f[s->out->n++];
  *f = (struct ncu_finding){section, rule, type, isfinite(speedup) ? scope : "", isfinite(speedup) ? speedup : 0, ""};
  va_start(ap, fmt);
  vsnprintf(f->text, sizeof f->text, fmt, ap);
  va_end(ap);
}

static double value(const struct seen *s, const char *metric)
{
  return ncu_value(s->a, metric);
}

static double pct(double share)
{
  return 100 * share;
}

/* The lesser of both; P when nothing was handed down. */
static double at_most(const struct seen *s, double v)
{
  return isfinite(s->local) ? fmin(s->local, v) : v;
}

/* --- speed of light ----------------------------------------------------------------------------- */

static void bottleneck(const struct seen *s)
{
  const char *const section = "SpeedOfLight", *const rule = "SOLBottleneck";
  const double waves = value(s, "launch__waves_per_multiprocessor");
  const char *more = s->sm > s->mem ? "compute" : "memory";
  if (!isfinite(s->sm) || !isfinite(s->mem)) return;
  if (s->sm < 0.6 && s->mem < 0.6 && waves < 1)
    find(s, section, rule, "OPT", "", NAN,
         "The grid is too small to fill the GPU: %.2f full waves over all SMs. "
         "See Launch Statistics.",
         waves);
  else if (s->sm < 0.6 && s->mem < 0.6)
    find(s, section, rule, "OPT", "", NAN,
         "Compute and memory are both used for less than 60.0 %% of what they can do "
         "(%.1f %%, %.1f %%): mostly a matter of latency. See Scheduler Statistics and Warp State Statistics.",
         pct(s->sm), pct(s->mem));
  else if (s->sm > 0.8 || s->mem > 0.8)
    find(s, section, rule, "INF", "", NAN,
         "More than 80.0 %% of the %s throughput of the GPU is used: what is gained now "
         "comes from doing less of it, or moving work to what is less used.",
         more);
  else if (fabs(s->sm - s->mem) >= 0.1)
    find(s, section, rule, "OPT", "", NAN,
         "The %s pipelines are used more than the other ones (compute %.1f %%, memory "
         "%.1f %%). See %s Workload Analysis.",
         more, pct(s->sm), pct(s->mem), s->sm > s->mem ? "Compute" : "Memory");
  else
    find(s, section, rule, "INF", "", NAN,
         "Compute and memory are balanced (%.1f %%, %.1f %%): less of both is needed to "
         "be faster.",
         pct(s->sm), pct(s->mem));
}

/* --- launch ------------------------------------------------------------------------------------- */

static void block_size(const struct seen *s)
{
  const double threads = value(s, "launch__block_size"), warps = ceil(threads / 32), last = fmod(threads, 32);
  if (last > 0)
    find(s, "LaunchStats", "LaunchConfiguration", "OPT", "global", pct((1 - last / 32) / warps),
         "Threads run in warps of 32, and the block of %.0f is not a multiple of that: its last warp has %.0f.",
         threads, last);
}

static void grid_size(const struct seen *s)
{
  const double grid = value(s, "launch__grid_size"), sms = value(s, "launch__sm_count");
  if (grid < sms)
    find(s, "LaunchStats", "LaunchConfiguration", "OPT", "global", pct((sms - grid) / sms),
         "The grid has %.0f blocks for %.0f SMs: some SMs have nothing to do.", grid, sms);
  else if (grid < 2 * sms)
    find(s, "LaunchStats", "LaunchConfiguration", "INF", "", NAN,
         "The grid of %.0f blocks is less than twice the number of "
         "SMs (%.0f): with two blocks on an SM one can hide the barriers of the other.",
         grid, sms);
}

static void tail(const struct seen *s)
{
  const double waves = value(s, "launch__waves_per_multiprocessor"), whole = floor(waves), part = waves - whole;
  const double gain = 1 / (1 + whole);
  if (whole >= 1 && part > 0 && gain >= 0.2)
    find(
        s, "LaunchStats", "LaunchConfiguration", "OPT", "global", pct(gain),
        "%.0f full wave%s and a part of one: the last wave fills only %.0f %% of the GPU and may take as long as a "
        "full one (tail effect).",
        whole, whole > 1 ? "s" : "", pct(part));
}

/* --- compute ------------------------------------------------------------------------------------ */

static void high_pipe(const struct seen *s)
{
  static const struct {
    const char *name, *metric;
  } pipes[] = {{"ALU", "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"},
               {"FMA", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"},
               {"FP64", "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"},
               {"tensor", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
               {"XU", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"},
               {"LSU", "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"}};
  const char *const section = "ComputeWorkloadAnalysis", *const rule = "HighPipeUtilization";
  unsigned most = 0;
  double use[sizeof pipes / sizeof *pipes];
  for (unsigned i = 0; i < sizeof pipes / sizeof *pipes; i++) {
    use[i] = value(s, pipes[i].metric);
    if (use[i] > use[most] || !isfinite(use[most])) most = i;
  }
  if (use[most] < 20)
    find(s, section, rule, "OPT", "", NAN,
         "All pipes are used little (the most: %s, %.1f %%): warps do "
         "not issue often enough. See Scheduler Statistics.",
         pipes[most].name, use[most]);
  else if (use[most] > 80)
    find(s, section, rule, "WRN", "", NAN,
         "%s is the pipe used most (%.1f %% of the cycles in which it could): it is likely "
         "what limits the kernel.",
         pipes[most].name, use[most]);
  else if (isfinite(use[most]))
    find(s, section, rule, "INF", "", NAN,
         "%s is the pipe used most (%.1f %% of the cycles in which it could). It is well "
         "used and should not limit the kernel.",
         pipes[most].name, use[most]);
}

static void issue_slots(struct seen *s)
{
  const double active = value(s, "smsp__warps_active.avg.per_cycle_active");
  const double eligible = value(s, "smsp__warps_eligible.avg.per_cycle_active");
  if (!(s->issue < 0.6)) return;
  s->local = pct(fmin(1 - s->issue, 1 - fmax(s->sm, s->mem)));
  find(
      s, "SchedulerStats", "IssueSlotUtilization", "OPT", "local", s->local,
      "A scheduler can issue in every cycle; here it does in one of %.1f. Of %.2f warps per scheduler %.2f are "
      "eligible in a cycle: fewer stalls, or more warps, would fill its slots.",
      1 / s->issue, active, eligible);
}

/* --- warps -------------------------------------------------------------------------------------- */

static const struct {
  const char *reason, *text;
} stalls[] = {
    {"barrier", "waiting for other warps at a CTA barrier"},
    {"branch_resolving", "waiting for the target of a branch"},
    {"dispatch_stall", "waiting for the dispatcher, held up by read ports of registers"},
    {"drain", "waiting, after its end, for the other warps of its CTA"},
    {"gmma", "waiting for products of its warpgroup"},
    {"imc_miss", "waiting for a constant that its cache has not"},
    {"lg_throttle", "waiting for room in the queue of global and local memory"},
    {"long_scoreboard", "waiting for data of global, local or texture memory"},
    {"math_pipe_throttle", "waiting for its pipe"},
    {"membar", "waiting at a memory fence"},
    {"mio_throttle", "waiting for room in the memory queue"},
    {"misc", "waiting for lanes to converge, or for a service of the runtime"},
    {"no_instruction", "waiting for its next instruction to be fetched"},
    {"not_selected", "ready while another warp was selected"},
    {"short_scoreboard", "waiting for shared memory or the special functions"},
    {"sleeping", "asleep (nanosleep)"},
    {"wait", "waiting a fixed number of cycles for the instruction before"},
};

static void stall(const struct seen *s, const char *reason, const char *text)
{
  const double latency = value(s, "smsp__average_warp_latency_per_inst_issued.ratio");
  char name[NCU_NAME];
  snprintf(name, sizeof name, "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio", reason);
  const double cycles = value(s, name), share = cycles / latency;
  if (!(s->issue < 0.8) || !(share > 0.3)) return;
  find(s, "WarpStateStats", "CPIStall", "OPT", isfinite(s->local) ? "global" : "local", at_most(s, pct(share)),
       "On average, each warp spends %.1f cycles %s. That is %.1f %% of the %.1f cycles between two instructions it "
       "issues.",
       cycles, text, pct(share), latency);
}

static void divergence(const struct seen *s)
{
  const double lanes = value(s, "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio");
  if (lanes < 24)
    find(
        s, "WarpStateStats", "ThreadDivergence", "OPT", "global", pct((1 - lanes / 32) * s->sm),
        "Of 32 threads of a warp %.1f take part in an instruction on average: divergence, predication, or blocks that "
        "do not fill their warps.",
        lanes);
}

/* --- occupancy ---------------------------------------------------------------------------------- */

static const char *occupancy_limiter(const struct seen *s)
{
  static const struct {
    const char *name, *metric;
  } limits[] = {{"blocks per SM", "launch__occupancy_limit_blocks"},
                {"registers", "launch__occupancy_limit_registers"},
                {"shared memory", "launch__occupancy_limit_shared_mem"},
                {"warps of a block", "launch__occupancy_limit_warps"}};
  const char *least = limits[0].name;
  double blocks = INFINITY;
  for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
    const double v = value(s, limits[i].metric);
    if (!(v < blocks)) continue;
    blocks = v;
    least = limits[i].name;
  }
  return least;
}

static void occupancy(const struct seen *s)
{
  const double theory = value(s, "sm__maximum_warps_per_active_cycle_pct");
  const double achieved = value(s, "sm__warps_active.avg.pct_of_peak_sustained_active");
  const char *scope = isfinite(s->local) ? "global" : "local";
  if (theory < 80)
    find(s, "Occupancy", "TheoreticalOccupancy", "OPT", scope, at_most(s, 100 - theory),
         "An SM can hold %.1f %% of its warps at most (theoretical occupancy), limited by %s.", theory,
         occupancy_limiter(s));
  if (theory - achieved > 10)
    find(
        s, "Occupancy", "AchievedOccupancy", "OPT", scope, at_most(s, pct((theory - achieved) / theory)),
        "%.1f %% of the warps were there on average (achieved occupancy) of the %.1f %% that could be: CTAs come and "
        "go, or their warps have unequal work.",
        achieved, theory);
}

/* --- memory ------------------------------------------------------------------------------------- */

static void conflicts(const struct seen *s, const char *op, const char *text)
{
  char name[NCU_NAME];
  snprintf(name, sizeof name, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum", op);
  const double n = value(s, name);
  snprintf(name, sizeof name, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum", op);
  const double all = value(s, name), share = n / all;
  const double use = value(s, "l1tex__throughput.avg.pct_of_peak_sustained_active") / 100;
  if (share >= 0.1)
    find(s, "MemoryWorkloadAnalysis_Tables", "SharedMemoryConflicts", "OPT", "global", pct(share * use),
         "Bank conflicts make shared %s take %.0f of their %.0f passes through the banks (%.1f %%).", text, n, all,
         pct(share));
}

/* excess of all, at a unit that is active for a share of the time. */
static void uncoalesced(const struct seen *s, const char *rule, const char *what, double excess, double all,
                        double active)
{
  if (excess > 0 && all > 0)
    find(
        s, "SourceCounters", rule, "OPT", "global", pct(active * excess / all),
        "%.0f of %.0f %s are more than the accesses need (%.1f %%). The source page says which instructions make them.",
        excess, all, what, pct(excess / all));
}

static void uncoalesced_accesses(const struct seen *s)
{
  const double sectors = value(s, "memory_l2_theoretical_sectors_global");
  const double passes = value(s, "memory_l1_wavefronts_shared");
  uncoalesced(s, "UncoalescedGlobalAccess", "sectors of global accesses",
              sectors - value(s, "memory_l2_theoretical_sectors_global_ideal"), sectors,
              value(s, "lts__throughput.avg.pct_of_peak_sustained_elapsed") / 100);
  uncoalesced(s, "UncoalescedSharedAccess", "passes through shared memory",
              passes - value(s, "memory_l1_wavefronts_shared_ideal"), passes,
              value(s, "l1tex__cycles_active.sum") / value(s, "l1tex__cycles_elapsed.sum"));
}

/* --- bytes of a sector that are used -------------------------------------------------------------- */

enum { SECTOR_BYTES = 32 };

/* Of global accesses of one kind: the share of their sectors that their bytes would fill; NAN: none. */
static double sector_use(const struct ncu_action *a, enum mem_op op)
{
  double sectors = 0, excess = 0;
  for (uint32_t i = 0; i < a->n_insts; i++) {
    const struct ncu_inst *x = &a->inst[i];
    if (!x->global || x->op != op) continue;
    sectors += (double)x->sectors;
    excess += (double)x->excess;
  }
  return sectors > 0 ? 1 - excess / sectors : (double)NAN;
}

/* What gets to a level are the misses of those above it. */
static void access_pattern(const struct seen *s, enum mem_op op, const char *text)
{
  const double used = sector_use(s->a, op);
  const double l1_misses = 1 - value(s, "l1tex__t_sector_hit_rate.pct") / 100;
  const double l2_misses = 1 - value(s, "lts__t_sector_hit_rate.pct") / 100;
  const struct {
    const char *name, *throughput;
    double arrives;
  } levels[] = {{"L1TEX", "l1tex__throughput.avg.pct_of_peak_sustained_active", 1},
                {"L2", "lts__throughput.avg.pct_of_peak_sustained_elapsed", l1_misses},
                {"DRAM", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", l1_misses * l2_misses}};
  for (unsigned i = 0; used < 1 && i < sizeof levels / sizeof *levels; i++) {
    const double gain = (1 - used) * levels[i].arrives * value(s, levels[i].throughput);
    if (gain > 0)
      find(s, "MemoryWorkloadAnalysis_Tables", "MemoryCacheAccessPattern", "OPT", "global", gain,
           "Of the %d bytes of a sector that global %s move at %s, %.1f are used on average: neighbouring threads do "
           "not access neighbouring addresses. The source page says which instructions.",
           (int)SECTOR_BYTES, text, levels[i].name, SECTOR_BYTES * used);
  }
}

/* --- how evenly the work is spread -------------------------------------------------------------- */

/* Sub-cores and L2 slices: their active cycles are not known one by one. */
static void imbalance(const struct seen *s, const char *prefix, const char *what)
{
  char name[4][NCU_NAME];
  static const char *const suffix[4] = {"active.avg", "active.max", "active.sum", "elapsed.sum"};
  double v[4];
  for (unsigned i = 0; i < 4; i++) {
    snprintf(name[i], sizeof name[i], "%s__cycles_%s", prefix, suffix[i]);
    v[i] = value(s, name[i]);
  }
  const double below = 1 - v[0] / v[1], gain = pct(below * v[2] / v[3]);
  if (!(gain >= 5)) return;
  find(s, "WorkloadDistribution", "WorkloadImbalance", "OPT", "global", gain,
       "One or more %s are active for more cycles than the average: the most active one for %.0f, the average is "
       "%.1f %% below that.",
       what, v[1], pct(below));
}

void ncu_rules(const struct ncu_action *a, struct ncu_findings *out)
{
  struct seen s = {.a = a, .out = out, .local = NAN};
  out->n = 0;
  s.sm = value(&s, "sm__throughput.avg.pct_of_peak_sustained_elapsed") / 100;
  s.mem = value(&s, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed") / 100;
  s.issue = value(&s, "smsp__issue_active.avg.per_cycle_active");
  bottleneck(&s);
  high_pipe(&s);
  conflicts(&s, "ld", "loads");
  conflicts(&s, "st", "stores");
  access_pattern(&s, MEM_LOAD, "loads");
  access_pattern(&s, MEM_STORE, "stores");
  issue_slots(&s);
  for (unsigned i = 0; i < sizeof stalls / sizeof *stalls; i++) stall(&s, stalls[i].reason, stalls[i].text);
  divergence(&s);
  block_size(&s);
  grid_size(&s);
  tail(&s);
  occupancy(&s);
  uncoalesced_accesses(&s);
  imbalance(&s, "sm", "SMs");
  imbalance(&s, "l1tex", "L1 caches");
  imbalance(&s, "dram", "DRAM channels");
}
