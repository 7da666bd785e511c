/* Presets: files presets/NAME.cfg in libconfig syntax, one per architecture and per board.
 *
 *   inherit = "sm86";
 *   sm = { max_warps = (48, "doc: CUDA C Programming Guide, Technical Specifications"); };
 *
 * Nested groups make dotted keys. Every value is (value, "tag: text"), where the tag says how we
 * know: doc (vendor document), ubench (microbenchmark), paper, fit (fitted to measurements), guess.
 * A file's own values win over inherited ones; a preset that is run must end up with every key of
 * params.def. Unknown, missing, out-of-range and untagged keys are errors with file and line.
 */
#ifndef WS_CONFIG_PRESETS_H
#define WS_CONFIG_PRESETS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"
#include "config/params.h"

/* Where one value came from. */
struct param_origin {
  const char *file;   /* base name of the preset file, or "command line" */
  int line;           /* 0 on the command line */
  const char *source; /* "doc: …"; NULL: not stated */
};

struct preset {
  struct params params;
  struct param_origin origin[PARAM_N_KEYS]; /* by key number (param_key_at) */
  struct arena strings;                     /* owns the origins' text */
  bool instance;                            /* it is one of a GPU (mig.h) */
};

/* Directory of the presets: `option` (may be NULL), else $WARPSTEP_PRESETS, else share/warpstep/presets or presets in a
 * folder above the library or program, else where the Makefile said it would be installed. The result is
 * written to buf. */
bool presets_dir(const char *option, char *buf, size_t size, struct err *e);

/* The folder that holds data/ (suites, windows, published values) and the kernels they name: the one around the presets
 * that presets_dir finds, or, when those were put elsewhere alone, the one around the program's own. Absolute. */
bool data_root(const char *option, char *buf, size_t size, struct err *e);

/* Loads preset `name` (or a file, when it holds a '/' or ends in .cfg) and what it inherits.
 * dir: as from presets_dir. On failure *p needs no preset_free. */
bool preset_load(const char *name, const char *dir, struct preset *p, struct err *e);
void preset_free(struct preset *p);

/* Overrides one value: "sm.max_warps=32". "clock=1440" locks the SM clock to 1440 MHz: L2 and interconnect
 * follow in proportion, the times of DRAM stay what they are in nanoseconds (fractions are allowed). "mig=3g.20gb"
 * makes an instance of the GPU (mig.h), once. Call params_check when all are done: some only make sense together. */
bool preset_override(struct preset *p, const char *assignment, struct err *e);

/* Whether a value's source says how we know it: doc:, ubench:, paper: or fit: and a text, or guess. */
bool preset_source_known(const char *source);

/* preset_load for those who only need the numbers. */
bool params_load(const char *name, const char *dir, struct params *params, struct err *e);

/* One line per key: key, value, unit, file:line, source. */
void preset_write_resolved(FILE *f, const struct preset *p);

/* Names of the presets in dir that can be run (those that state a product name), sorted. */
struct preset_names {
  unsigned n;
  const char **name; /* without .cfg */
};
bool presets_list(const char *dir, struct arena *a, struct preset_names *out, struct err *e);

#endif
