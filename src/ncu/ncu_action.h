/* A profiled launch ("action" in Nsight Compute's words) as it was collected: who it was, what its counters say, what
 * each of its instructions did. Metrics, sections, rules and pages are made from it alone, when they are printed; a
 * report file holds nothing else (ncu/ncu_report.h).
 */
#ifndef WS_NCU_ACTION_H
#define WS_NCU_ACTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "time/sm/warp_state.h"

/* Units of which a GPU has several alike, each with its clock. X(id, prefix of names) */
#define NCU_DOMAIN_LIST(X)                                                                                             \
  X(GPU, "gpu") X(GPC, "gpc") X(SM, "sm") X(SMSP, "smsp") X(L1TEX, "l1tex") X(LTS, "lts") X(DRAM, "dram")

enum ncu_domain {
#define X(id, name) NCU_##id,
  NCU_DOMAIN_LIST(X)
#undef X
      NCU_DOMAIN__N
};

struct ncu_domain_state {
  double instances;
  double elapsed; /* cycles of its clock, of the kernel */
  double active;  /* the same in which it could work, summed over instances; NAN: not known */
  double hz;
};

/* How many rows ncu_metric.def has. */
enum {
  NCU_N_ROWS = 0
#define COUNTER(name, unit, domain, targets, value, peak, text) +1
#define EACH(name, unit, domain, targets, value, text)          +1
#define PLAIN(name, unit, whole, targets, value, text)          +1
#define HIGHEST(name, domain, parts, text)                      +1
#define ABSENT(name, unit, kind, domain)                        +1
#include "ncu/ncu_metric.def"
};

/* NAN: not known. */
struct ncu_value {
  double sum;         /* of all instances; of rows that are not counted in instances, the value */
  double peak;        /* of one instance in a cycle of its clock */
  double least, most; /* of one instance */
};

/* An instruction of code that ran. */
struct ncu_inst {
  uint64_t pc;         /* from the start of its section */
  uint32_t section;    /* where its code lies: index into `section` */
  uint32_t file, line; /* file: index into `file`; line 0: none */
  const char *text;
  bool shared, global, local; /* the memory it may touch; all: it has a generic address */
  uint8_t op, bytes;          /* of an access: enum mem_op, bytes of a lane */
  uint64_t issued, threads, sectors, excess, passes, conflicts;
  uint64_t state[WARP_STATE__N]; /* warp-cycles */
};

struct ncu_file {
  const char *folder, *name; /* load/line_table.h */
};

struct ncu_action {
  struct arena arena;
  uint64_t pid, context, stream;
  const char *process, *kernel, *gpu; /* the program's file; the symbol; the preset */
  unsigned cc;                        /* 86 */
  uint32_t grid[3], block[3];
  struct ncu_domain_state domain[NCU_DOMAIN__N];
  struct ncu_value value[NCU_N_ROWS];
  uint32_t n_files, n_sections, n_insts; /* n_insts 0: not collected */
  struct ncu_file *file;
  const char **section;
  struct ncu_inst *inst;
};

/* All values unknown. */
void ncu_action_init(struct ncu_action *);
void ncu_action_free(struct ncu_action *);

#endif
