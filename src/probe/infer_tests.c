/* The tests of `warpstep probe`, in the order in which they run. */
#include "probe/infer.h"

const struct infer_test infer_tests[] = {
  {"intervals", "cycles between independent instructions of each pipe and matrix shape", infer_intervals, false},
  {"latency", "variable-latency instructions, through their counters", infer_latency, false},
  {"results", "fixed-latency results: first cycle in which each kind of consumer sees them", infer_results, false},
  {"stalls", "stall counts with and without yield", infer_stalls, false},
  {"control", "the other control fields: counters, wait mask, when they are seen", infer_control, false},
  {"policy", "which warp issues, from the order of clock reads", infer_policy, false},
  {"barrier", "CTA barrier by number of warps", infer_barrier, false},
  {"banks", "register banks, from conflicts of all pairs of R0 to R31", infer_banks, false},
  {"banks-all", "the same of all 255 registers (half a minute)", infer_banks_all, true},
  {"reuse", "register-file cache: slots and rules", infer_reuse, false},
  {"icache", "instruction caches: capacities, latencies, streaming", infer_icache, false},
  {"ibuffer", "instruction buffer of a warp", infer_ibuffer, false},
  {"stream", "lines the prefetcher runs ahead", infer_stream, false},
  {"constants", "constant caches: capacities, misses, switch to another warp", infer_constants, false},
  {"queue", "memory queue and address generation of a sub-core", infer_queue, false},
  {"arbiter", "loads of one to four sub-cores", infer_arbiter, false},
  {"access", "sources and results of memory instructions by width and kind of address", infer_access, false},
  {"conflicts", "shared-memory bank conflicts by width and stride", infer_conflicts, false},
  {0},
};
