/* Parameters of the simulated machine. params.def declares them; a preset (presets/NAME.cfg, read by
 * presets.h) states every one and where its value comes from. Blocks read the fields of struct
 * params: the key with dots as underscores (sm.max_warps is sm_max_warps). */
#ifndef WS_CONFIG_PARAMS_H
#define WS_CONFIG_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "isa/inst.h"

/* Warp schedulers. */
#define ISSUE_POLICY_LIST(X)                                                                       \
  X(CGGTY, "cggty") /* compiler-guided greedy, then youngest */                                    \
  X(GTO, "gto")     /* greedy, then oldest */                                                      \
  X(LRR, "lrr")     /* loose round robin */                                                        \
  X(OLDEST, "oldest") /* oldest first, every cycle */

enum issue_policy {
#define X(id, name) ISSUE_POLICY_##id,
  ISSUE_POLICY_LIST(X)
#undef X
  ISSUE_POLICY__N
};

/* What makes a warp the youngest or the oldest. */
#define ISSUE_AGE_LIST(X)                                                                          \
  X(LAUNCH, "launch") /* when it was launched */                                                   \
  X(SLOT, "slot")     /* its slot: warps of CTAs that follow others take the place of those */

enum issue_age {
#define X(id, name) ISSUE_AGE_##id,
  ISSUE_AGE_LIST(X)
#undef X
  ISSUE_AGE__N
};

/* What keeps dependent instructions apart. */
#define DEPENDENCE_LIST(X)                                                                         \
  X(CONTROL_BITS, "control_bits") /* stall counts, yield, dependence counters of the code */       \
  X(SCOREBOARD, "scoreboard")     /* pending writes and readers of each register */                \
  X(HYBRID, "hybrid")             /* control bits for code that has them, else scoreboards */

enum dependence {
#define X(id, name) DEPENDENCE_##id,
  DEPENDENCE_LIST(X)
#undef X
  DEPENDENCE__N
};

/* Where the check bits of device memory are (time/mem/ecc_cache.h). */
#define DRAM_ECC_LIST(X)                                                                           \
  X(NONE, "none")         /* nowhere */                                                            \
  X(SIDEBAND, "sideband") /* beside the data, in devices or columns of their own */                \
  X(INLINE, "inline")     /* in a sixteenth of the memory itself */

enum dram_ecc {
#define X(id, name) DRAM_ECC_##id,
  DRAM_ECC_LIST(X)
#undef X
  DRAM_ECC__N
};

/* How lines spread over L2 slices (time/mem/l2_map.h). */
#define L2_SLICE_HASH_LIST(X)                                                                      \
  X(LINEAR, "linear")                                                                              \
  X(PERMUTED, "permuted")                                                                          \
  X(IPOLY, "ipoly")

enum l2_slice_hash {
#define X(id, name) L2_SLICE_HASH_##id,
  L2_SLICE_HASH_LIST(X)
#undef X
  L2_SLICE_HASH__N
};

/* Which set of L1 a line falls into (time/mem/l1.c). */
#define L1_SET_HASH_LIST(X)                                                                        \
  X(LINEAR, "linear") /* line number modulo sets: all sets alike */                                \
  X(MIXED, "mixed")   /* multiplicative hash: loads of sets differ as on silicon */

enum l1_set_hash {
#define X(id, name) L1_SET_HASH_##id,
  L1_SET_HASH_LIST(X)
#undef X
  L1_SET_HASH__N
};

/* DRAM timings, by their JEDEC names. */
#define DRAM_T_LIST(X)                                                                             \
  X(RCD, "rcd")     /* ACT to column command, same bank */                                         \
  X(RP, "rp")       /* PRE to ACT, same bank */                                                    \
  X(RAS, "ras")     /* ACT to PRE, same bank */                                                    \
  X(RRD_S, "rrd_s") /* ACT to ACT, other bank group */                                             \
  X(RRD_L, "rrd_l") /* ACT to ACT, same bank group */                                              \
  X(FAW, "faw")     /* window of four ACTs */                                                      \
  X(CL, "cl")       /* read command to data */                                                     \
  X(CWL, "cwl")     /* write command to data */                                                    \
  X(CCD_L, "ccd_l") /* burst to burst, same bank group */                                          \
  X(RTP, "rtp")     /* read command to PRE */                                                      \
  X(WR, "wr")       /* end of write data to PRE */                                                 \
  X(WTR, "wtr")     /* end of write data to read command */                                        \
  X(RTW, "rtw")     /* read command plus its data time to write command: bus turnaround */         \
  X(REFI, "refi")   /* between two refreshes of one bank */                                        \
  X(RFC, "rfc")     /* a bank's refresh */

enum dram_t {
#define X(id, name) DRAM_T_##id,
  DRAM_T_LIST(X)
#undef X
  DRAM_T__N
};

/* Shapes of params.mma_interval: the matrix classes of LAT_LIST, in its order. */
enum {
  MMA_FIRST = LAT_MMA_16816_F32, /* mma_interval[lat - MMA_FIRST] */
  MMA__N = LAT_MMA_F64 - MMA_FIRST + 1,
};

/* Ascending values of a PARAM_LIST. */
enum { PARAM_LIST_MAX = 16 };
struct param_list {
  uint32_t n, v[PARAM_LIST_MAX];
};

enum { PARAM_TEXT_MAX = 64 };

struct params {
#define PARAM(key, field, min, max, unit, text) uint32_t field;
#define PARAM_VEC(key, field, count, names, min, max, unit, text) uint32_t field[count];
#define PARAM_LIST(key, field, capacity, min, max, unit, text) struct param_list field;
#define PARAM_BOOL(key, field, text) bool field;
#define PARAM_ENUM(key, field, names, count, text) uint32_t field;
#define PARAM_TEXT(key, field, text) char field[PARAM_TEXT_MAX];
#include "config/params.def"
#undef PARAM
#undef PARAM_VEC
#undef PARAM_LIST
#undef PARAM_BOOL
#undef PARAM_ENUM
#undef PARAM_TEXT
};

enum param_kind { PARAM_KIND_INT, PARAM_KIND_LIST, PARAM_KIND_BOOL, PARAM_KIND_ENUM, PARAM_KIND_TEXT };

/* One row of params.def. */
struct param_desc {
  const char *key;
  uint8_t kind;                 /* enum param_kind */
  uint8_t key_bytes;            /* of key, without its end */
  uint32_t offset;              /* bytes into struct params */
  uint32_t count;               /* keys: 1, or the elements of a PARAM_VEC */
  const char *const *elements;  /* PARAM_VEC: their names */
  const char *const *choices;   /* PARAM_ENUM: names of the values 0, 1, … */
  uint32_t n_choices;
  uint32_t min, max;            /* inclusive */
  const char *unit, *text;
};

extern const struct param_desc param_descs[];
extern const unsigned param_n_descs;

/* Number of keys, each element of a PARAM_VEC counted. */
enum {
  PARAM_N_KEYS = 0
#define PARAM(key, field, min, max, unit, text) +1
#define PARAM_VEC(key, field, count, names, min, max, unit, text) +count
#define PARAM_LIST(key, field, capacity, min, max, unit, text) +1
#define PARAM_BOOL(key, field, text) +1
#define PARAM_ENUM(key, field, names, count, text) +1
#define PARAM_TEXT(key, field, text) +1
#include "config/params.def"
#undef PARAM
#undef PARAM_VEC
#undef PARAM_LIST
#undef PARAM_BOOL
#undef PARAM_ENUM
#undef PARAM_TEXT
};

/* A key: row and element. Keys are numbered 0 .. PARAM_N_KEYS-1 in the order of params.def. */
struct param_key {
  const struct param_desc *desc;
  uint32_t element;
};
struct param_key param_key_at(unsigned number);
/* Number of the key called `name`, which *key then is, or -1. */
int param_key_find(const char *name, struct param_key *key);
/* Writes the dotted name into buf (at most size bytes, always terminated). */
void param_key_name(struct param_key k, char *buf, size_t size);

/* Value of k as text: "48", "[0, 8, 16]", "true", "cggty". Always terminated. */
void param_print(const struct params *p, struct param_key k, char *buf, size_t size);

/* Sets k from a number, a choice by name, a truth value, a list or a text. False (with a reason that
 * does not name the key) when the kind does not fit or the value is out of range. */
bool param_set_int(struct params *p, struct param_key k, int64_t v, struct err *e);
bool param_set_bool(struct params *p, struct param_key k, bool v, struct err *e);
bool param_set_text(struct params *p, struct param_key k, const char *v, struct err *e);
bool param_set_list(struct params *p, struct param_key k, const int64_t *v, unsigned n,
                    struct err *e);
/* From text, as on a command line ("48", "true", "gto", "0,8,16"). */
bool param_parse(struct params *p, struct param_key k, const char *text, struct err *e);

/* Rules between parameters (a CTA's limit within the SM's, whole slices, …). The error names the
 * keys. */
bool params_check(const struct params *p, struct err *e);

/* What programs can allocate: check bits among the data take a sixteenth of it. */
static inline uint64_t params_memory_bytes(const struct params *p)
{
  uint64_t bytes = (uint64_t)p->gpu_memory_mib << 20;
  return p->dram_ecc == DRAM_ECC_INLINE ? bytes / 16 * 15 : bytes;
}

/* Peak DRAM bandwidth of the pins, bytes per second. */
static inline uint64_t params_dram_bytes_per_second(const struct params *p)
{
  return (uint64_t)p->dram_bus_bits * p->dram_pin_mbps * 1000000u / 8u;
}

/* Cycles from a 32-bit global load with an address per lane that hits L1 to its consumer. */
uint32_t params_l1_hit_cycles(const struct params *);
/* Cycles from the request of an L0 cache to the line when L1 misses and L2 hits, unloaded: l1i.miss_latency, but at
 * least the way to L2 and back, which is an L2 hit less an L1 hit of a load. */
uint32_t params_l1i_miss_cycles(const struct params *);

/* GPC of an SM: SMs come in pairs (TPCs), and GPCs have the same number of those, or one more. */
static inline unsigned params_gpc(const struct params *p, unsigned sm)
{
  return sm / 2 * p->gpu_gpcs / ((p->gpu_sms + 1) / 2);
}

/* Length of an SM cycle in picoseconds, rounded to the nearest. */
static inline uint64_t params_clock_ps(const struct params *p)
{
  return (1000000000u + p->gpu_clock_khz / 2) / p->gpu_clock_khz;
}

/* The same for L2 and the interconnect: theirs, or the SM's when they follow it. */
static inline uint64_t params_l2_clock_ps(const struct params *p)
{
  uint32_t khz = p->l2_clock_khz ? p->l2_clock_khz : p->gpu_clock_khz;
  return (1000000000u + khz / 2) / khz;
}

/* A strong access to a line at home in the other partition of L2, in cycles of the SM. */
static inline uint64_t params_home_cycles(const struct params *p)
{
  return p->l2_home_latency * params_l2_clock_ps(p) / params_clock_ps(p);
}

/* SM to L2 slice, unloaded, in picoseconds: the window in which parts run alone. */
static inline uint64_t params_request_ps(const struct params *p)
{
  return p->noc_request_latency * params_l2_clock_ps(p);
}

/* Markdown table of all parameters: key, range, unit, sentence. */
void params_write_doc(FILE *f);

#endif
