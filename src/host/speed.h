/* Speed of light: how much of what each unit of the GPU can do a timed run has used.
 *
 * A unit's peak is per SM cycle and of the whole GPU, from the parameters; its use is amount / (peak x cycles), once
 * over the cycles of the kernel (`elapsed`, as Nsight Compute's pct_of_peak_sustained_elapsed) and once over those in
 * which it could have worked (`active`): of a unit of the SM, cycles with a CTA on its SM, else those behind the launch
 * latency.
 */
#ifndef WS_HOST_SPEED_H
#define WS_HOST_SPEED_H

#include "host/simulate.h"

#define SPEED_LIST(X)                                                                              \
  X(ISSUE, "issue_slots", "issue slots", "inst")                                                                  \
  X(ALU, "alu", "ALU pipe", "cycle")                                                                      \
  X(FMA, "fma", "FMA pipe", "cycle") /* with the ALU's lanes, where these take FP32, too, and what the ALU does */ \
  X(HALF, "half", "half pipe", "cycle")                                                                    \
  X(FP64, "fp64", "FP64 pipe", "cycle")                                                                    \
  X(TENSOR, "tensor", "tensor pipe", "cycle")                                                                \
  X(SFU, "sfu", "SFU pipe", "cycle")                                                                      \
  X(UNIFORM, "uniform", "uniform pipe", "cycle")                                                              \
  X(L1, "l1_shared", "L1 and shared memory", "cycle") /* their arbiter, tags and data banks */                  \
  X(TO_L2, "to_l2", "crossbar to L2", "byte")                                                               \
  X(FROM_L2, "from_l2", "crossbar from L2", "byte")                                                           \
  X(L2, "l2", "L2", "byte")                                                                              \
  X(DRAM, "dram", "DRAM", "byte")

enum speed_unit {
#define X(id, key, name, unit) SPEED_##id,
  SPEED_LIST(X)
#undef X
  SPEED__N
};

/* NAN: not known, or the GPU has no such unit. */
struct speed {
  double amount, peak;    /* of the unit below; per SM cycle of the GPU */
  double elapsed, active; /* shares of 1 */
};

/* "issue_slots": does not change; name: "issue slots", for people. */
const char *speed_key(enum speed_unit);
const char *speed_name(enum speed_unit);
const char *speed_amount_unit(enum speed_unit); /* "inst", "cycle" of one pipe or SM, "byte" */

/* Of a timed run alone on the GPU. `launch`: tells shapes of matrix instructions; NULL: the tensor pipe is not
 * known. */
void speed_of(const struct params *, const struct sim_result *, const struct launch *, struct speed out[SPEED__N]);

/* Operations per second of all lanes together at the preset's clock, a multiply-add being two; NAN: of a kind that no
 * pipe is for. And those of the tensor cores by mma instructions on FP16 with sums in FP32, without sparsity. */
double speed_flops_peak(const struct params *, enum work_kind);
double speed_tensor_peak(const struct params *);

/* Work per byte of DRAM and per second beside what the GPU has. */
struct roofline {
  double flops, flops_peak;   /* per second: FP32 operations as work.fp32 counts them, and of all lanes together */
  double bytes, bytes_peak;   /* per second, through DRAM's pins */
  double intensity, ridge;    /* operations per byte: of the run, and where both peaks meet; NAN: no bytes */
};
struct roofline roofline_of(const struct params *, const struct sim_result *, enum work_kind);

#endif
