/* Rules: what a profiled launch says of itself, with the speed-up that each estimates (Nsight Compute's rule scripts,
 * 2025, whose names, conditions and formulas these are; facts and formulas: docs/ncu.md). Estimates are arithmetic on
 * counters; what a change really gives is simulated by `run --what-if`.
 */
#ifndef WS_NCU_RULE_H
#define WS_NCU_RULE_H

#include "ncu/ncu_action.h"

enum { NCU_MAX_FINDINGS = 64, NCU_FINDING_TEXT = 600 };

struct ncu_finding {
  const char *section, *rule, *type; /* "SpeedOfLight", "SOLBottleneck", "OPT" (or INF, WRN) */
  const char *scope;                 /* of the estimate: "global", "local"; "": there is none */
  double speedup;                    /* %: of the kernel's time (global), of this bottleneck (local) */
  char text[NCU_FINDING_TEXT];
};

struct ncu_findings {
  unsigned n;
  struct ncu_finding f[NCU_MAX_FINDINGS];
};

/* Of all rules, whatever is shown: some build on others. */
void ncu_rules(const struct ncu_action *, struct ncu_findings *);

#endif
