#include "config/params.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/nearest.h"
#include "base/text.h"

static const char *const param_lat[LAT__N] = {
#define X(id, name) name,
    LAT_LIST(X)
#undef X
};

static const char *const param_pipe[PIPE__N] = {
#define X(id, name, text) name,
    PIPE_LIST(X)
#undef X
};

static const char *const param_issue_policy[ISSUE_POLICY__N] = {
#define X(id, name) name,
    ISSUE_POLICY_LIST(X)
#undef X
};

static const char *const param_issue_age[ISSUE_AGE__N] = {
#define X(id, name) name,
    ISSUE_AGE_LIST(X)
#undef X
};

static const char *const param_dependence[DEPENDENCE__N] = {
#define X(id, name) name,
    DEPENDENCE_LIST(X)
#undef X
};

static const char *const param_dram_ecc[DRAM_ECC__N] = {
#define X(id, name) name,
    DRAM_ECC_LIST(X)
#undef X
};

static const char *const param_l2_slice_hash[L2_SLICE_HASH__N] = {
#define X(id, name) name,
    L2_SLICE_HASH_LIST(X)
#undef X
};

static const char *const param_l1_set_hash[L1_SET_HASH__N] = {
#define X(id, name) name,
    L1_SET_HASH_LIST(X)
#undef X
};

static const char *const param_dram_t[DRAM_T__N] = {
#define X(id, name) name,
    DRAM_T_LIST(X)
#undef X
};

/* The matrix classes lie together in LAT_LIST; their names are a slice of it. */
#define param_mma (param_lat + MMA_FIRST)

#define AT(field) (uint32_t) offsetof(struct params, field)

#define NAME(k) .key = k, .key_bytes = sizeof(k) - 1
const struct param_desc param_descs[] = {
#define PARAM(k, f, lo, hi, u, t)                                                                  \
  {NAME(k), .kind = PARAM_KIND_INT, .offset = AT(f), .count = 1, .min = lo, .max = hi, .unit = u, \
   .text = t},
#define PARAM_VEC(k, f, n, names, lo, hi, u, t)                                                    \
  {NAME(k), .kind = PARAM_KIND_INT, .offset = AT(f), .count = n, .elements = names, .min = lo,    \
   .max = hi, .unit = u, .text = t},
#define PARAM_LIST(k, f, n, lo, hi, u, t)                                                          \
  {NAME(k), .kind = PARAM_KIND_LIST, .offset = AT(f), .count = 1, .min = lo, .max = hi,           \
   .unit = u, .text = t},
#define PARAM_BOOL(k, f, t)                                                                        \
  {NAME(k), .kind = PARAM_KIND_BOOL, .offset = AT(f), .count = 1, .unit = "", .text = t},
#define PARAM_ENUM(k, f, names, n, t)                                                              \
  {NAME(k), .kind = PARAM_KIND_ENUM, .offset = AT(f), .count = 1, .choices = names,               \
   .n_choices = n, .unit = "", .text = t},
#define PARAM_TEXT(k, f, t)                                                                        \
  {NAME(k), .kind = PARAM_KIND_TEXT, .offset = AT(f), .count = 1, .unit = "", .text = t},
#include "config/params.def"
#undef PARAM
#undef PARAM_VEC
#undef PARAM_LIST
#undef PARAM_BOOL
#undef PARAM_ENUM
#undef PARAM_TEXT
};
const unsigned param_n_descs = sizeof param_descs / sizeof param_descs[0];

struct param_key param_key_at(unsigned number)
{
  for (unsigned r = 0; r < param_n_descs; r++) {
    if (number < param_descs[r].count)
      return (struct param_key){.desc = &param_descs[r], .element = number};
    number -= param_descs[r].count;
  }
  BUG("key number past the end");
}

void param_key_name(struct param_key k, char *buf, size_t size)
{
  const char *key = k.desc->key;
  if (k.desc->elements) snprintf(buf, size, "%s.%s", key, k.desc->elements[k.element]);
  else snprintf(buf, size, "%s", key);
}

/* Lengths are compared first: presets have hundreds of keys, and each program reads three of them when it starts. */
int param_key_find(const char *name, struct param_key *key)
{
  const size_t bytes = strlen(name);
  int number = 0;
  for (const struct param_desc *d = param_descs; d < param_descs + param_n_descs; number += (int)d++->count) {
    const size_t n = d->key_bytes;
    if (d->elements ? bytes <= n || name[n] != '.' : bytes != n) continue;
    if (memcmp(d->key, name, n) != 0) continue;
    for (uint32_t i = 0; i < d->count; i++) {
      if (d->elements && strcmp(d->elements[i], name + n + 1) != 0) continue;
      *key = (struct param_key){.desc = d, .element = i};
      return number + (int)i;
    }
  }
  return -1;
}

static void *field(struct params *p, struct param_key k)
{
  size_t element = k.desc->elements ? k.element * sizeof(uint32_t) : 0;
  return (char *)p + k.desc->offset + element;
}

static const void *field_const(const struct params *p, struct param_key k)
{
  size_t element = k.desc->elements ? k.element * sizeof(uint32_t) : 0;
  return (const char *)p + k.desc->offset + element;
}

static void print_list(const struct param_list *list, char *buf, size_t size)
{
  size_t at = 0;
  for (uint32_t i = 0; i < list->n && at < size; i++)
    at += (size_t)snprintf(buf + at, size - at, "%s%" PRIu32, i ? ", " : "[", list->v[i]);
  if (at < size) snprintf(buf + at, size - at, "]");
}

void param_print(const struct params *p, struct param_key k, char *buf, size_t size)
{
  const void *at = field_const(p, k);
  switch (k.desc->kind) {
  case PARAM_KIND_INT: snprintf(buf, size, "%" PRIu32, *(const uint32_t *)at); break;
  case PARAM_KIND_LIST: print_list(at, buf, size); break;
  case PARAM_KIND_BOOL: snprintf(buf, size, "%s", *(const bool *)at ? "true" : "false"); break;
  case PARAM_KIND_ENUM: snprintf(buf, size, "%s", k.desc->choices[*(const uint32_t *)at]); break;
  default: snprintf(buf, size, "%s", (const char *)at); break;
  }
}

static const char *kind_name(const struct param_desc *d)
{
  static const char *const name[] = {"an integer", "a list [a, b, ...] of integers",
                                     "true or false", "a name in quotes", "a text in quotes"};
  return name[d->kind];
}

static bool wrong_kind(const struct param_desc *d, struct err *e)
{
  return err_set(e, "must be %s", kind_name(d));
}

static bool in_range(const struct param_desc *d, int64_t v, struct err *e)
{
  if (v >= (int64_t)d->min && v <= (int64_t)d->max) return true;
  if (d->min == d->max) return err_set(e, "must be %" PRIu32 " %s: nothing else is modelled", d->min, d->unit);
  return err_set(e, "%" PRId64 " is out of range %" PRIu32 "..%" PRIu32 " %s", v, d->min, d->max,
                 d->unit);
}

bool param_set_int(struct params *p, struct param_key k, int64_t v, struct err *e)
{
  if (k.desc->kind != PARAM_KIND_INT) return wrong_kind(k.desc, e);
  TRY(in_range(k.desc, v, e));
  *(uint32_t *)field(p, k) = (uint32_t)v;
  return true;
}

bool param_set_bool(struct params *p, struct param_key k, bool v, struct err *e)
{
  if (k.desc->kind != PARAM_KIND_BOOL) return wrong_kind(k.desc, e);
  *(bool *)field(p, k) = v;
  return true;
}

bool param_set_text(struct params *p, struct param_key k, const char *v, struct err *e)
{
  const struct param_desc *d = k.desc;
  if (d->kind == PARAM_KIND_TEXT) {
    if (!text_is_safe(v)) return err_set(e, "is not printable text");
    if (strlen(v) >= PARAM_TEXT_MAX) return err_set(e, "longer than %d bytes", PARAM_TEXT_MAX - 1);
    snprintf(field(p, k), PARAM_TEXT_MAX, "%s", v);
    return true;
  }
  if (d->kind != PARAM_KIND_ENUM) return wrong_kind(d, e);
  char choices[128] = "", hint[NEAREST_HINT];
  struct nearest near;
  nearest_start(&near, v);
  for (uint32_t i = 0; i < d->n_choices; i++) {
    nearest_offer(&near, d->choices[i]);
    if (strcmp(d->choices[i], v) == 0) {
      *(uint32_t *)field(p, k) = i;
      return true;
    }
    size_t at = strlen(choices);
    snprintf(choices + at, sizeof choices - at, "%s%s", i ? ", " : "", d->choices[i]);
  }
  return err_set(e, "'%s' is not one of %s%s", v, choices, nearest_hint(&near, hint));
}

bool param_set_list(struct params *p, struct param_key k, const int64_t *v, unsigned n,
                    struct err *e)
{
  if (k.desc->kind != PARAM_KIND_LIST) return wrong_kind(k.desc, e);
  if (n == 0 || n > PARAM_LIST_MAX) return err_set(e, "must have 1 to %d elements", PARAM_LIST_MAX);
  struct param_list list = {.n = n};
  for (unsigned i = 0; i < n; i++) {
    TRY(in_range(k.desc, v[i], e));
    if (i > 0 && v[i] <= v[i - 1]) return err_set(e, "elements must ascend");
    list.v[i] = (uint32_t)v[i];
  }
  *(struct param_list *)field(p, k) = list;
  return true;
}

/* One integer at *text, moving it on. */
static bool parse_int(const char **text, int64_t *v)
{
  char *end;
  errno = 0;
  *v = strtoll(*text, &end, 0);
  if (end == *text || errno) return false;
  *text = end;
  return true;
}

static bool parse_list(struct params *p, struct param_key k, const char *text, struct err *e)
{
  int64_t v[PARAM_LIST_MAX + 1];
  for (unsigned n = 0; n <= PARAM_LIST_MAX; text++) {
    if (!parse_int(&text, &v[n++])) break;
    if (*text == '\0') return param_set_list(p, k, v, n, e);
    if (*text != ',') break;
  }
  return err_set(e, "must be integers, separated by commas");
}

bool param_parse(struct params *p, struct param_key k, const char *text, struct err *e)
{
  int64_t v;
  switch (k.desc->kind) {
  case PARAM_KIND_INT:
    if (!parse_int(&text, &v) || *text) return wrong_kind(k.desc, e);
    return param_set_int(p, k, v, e);
  case PARAM_KIND_LIST: return parse_list(p, k, text, e);
  case PARAM_KIND_BOOL:
    if (strcmp(text, "true") == 0) return param_set_bool(p, k, true, e);
    if (strcmp(text, "false") == 0) return param_set_bool(p, k, false, e);
    return wrong_kind(k.desc, e);
  default: return param_set_text(p, k, text, e);
  }
}

static bool power_of_two(uint32_t v)
{
  return v && !(v & (v - 1));
}

/* Bits of the numbers below n. */
static unsigned bits_below(uint32_t n)
{
  unsigned bits = 0;
  while (bits < 31 && 1u << bits < n) bits++;
  return bits;
}

/* Lone read of one sector from a closed bank; the burst at the rate a stream reaches. */
static uint64_t dram_row_miss_ps(const struct params *p)
{
  double rate = (double)params_dram_bytes_per_second(p) * p->dram_efficiency_permille / 1000.0;
  return p->dram_t[DRAM_T_RCD] + p->dram_t[DRAM_T_CL] +
         (uint64_t)(p->l2_sector * 1e12 * p->dram_channels / rate + 1);
}

/* The stages of time/sm/mem_stages.h one after the other. */
uint32_t params_l1_hit_cycles(const struct params *p)
{
  enum { LANES = 32, WARP_BYTES = 128 };
  uint32_t back = (WARP_BYTES + p->l1_return_bytes - 1) / p->l1_return_bytes;
  if (back < p->mem_return_min_cycles) back = p->mem_return_min_cycles;
  return p->mem_front_cycles + LANES / p->mem_addr_lanes + p->l1_pipe_cycles + back +
         p->mem_write_cycles;
}

uint32_t params_l1i_miss_cycles(const struct params *p)
{
  uint32_t way = p->l2_latency - params_l1_hit_cycles(p);
  return p->l1i_miss_latency > way ? p->l1i_miss_latency : way;
}

/* Requests that a DRAM channel keeps: its queues, and for each line on its way in the slices it serves a read for each
 * sector (as many again for the other partition) and a merged write. */
static uint64_t dram_requests(const struct params *p)
{
  enum { SECTORS = 4 };
  uint32_t partitions = p->l2_slices < p->dram_channels ? p->l2_slices : p->dram_channels;
  uint64_t lines = (uint64_t)p->l2_mshr_entries * (p->l2_slices / partitions);
  return p->dram_read_queue + p->dram_write_queue + lines * (SECTORS * p->l2_partitions + 1);
}

#define RULE(cond, text)                                                                           \
  if (!(cond)) return err_set(e, "%s", text)

static bool check_core(const struct params *p, struct err *e)
{
  const struct param_list *carve = &p->sm_shared_carveouts_kib;
  RULE(p->sm_max_warps % p->sm_sub_cores == 0, "sm.max_warps is not a multiple of sm.sub_cores");
  RULE(power_of_two(p->regfile_banks), "regfile.banks is not a power of two");
  RULE(p->sm_max_threads == p->sm_max_warps * 32, "sm.max_threads is not 32 x sm.max_warps");
  RULE(p->sm_max_threads_per_cta <= p->sm_max_threads,
       "sm.max_threads_per_cta is above sm.max_threads");
  RULE(p->sm_shared_per_cta_max + p->sm_shared_reserved_per_cta <= p->sm_shared_bytes,
       "sm.shared_per_cta_max and sm.shared_reserved_per_cta do not fit into sm.shared_bytes");
  RULE(carve->v[carve->n - 1] * 1024 == p->sm_shared_bytes,
       "the largest of sm.shared_carveouts_kib is not sm.shared_bytes");
  RULE(p->sm_shared_reserved_per_cta + p->sm_shared_granule > 0, "sm.shared_granule is 0");
  RULE(p->sm_max_warps / p->sm_sub_cores <= 16, "sm.max_warps is above 16 per sub-core");
  return true;
}

static bool check_sm_caches(const struct params *p, struct err *e)
{
  RULE(p->sm_shared_bytes <= p->l1_bytes, "sm.shared_bytes is above l1.bytes");
  RULE(p->l1_data_max <= p->l1_bytes, "l1.data_max is above l1.bytes");
  RULE(power_of_two(p->l1_line) && power_of_two(p->l1_sector) && p->l1_line % p->l1_sector == 0,
       "l1.line and l1.sector must be powers of two, the line not below the sector");
  RULE(p->l1_data_max >= p->l1_sets * p->l1_line, "l1.sets: not even one way fits l1.data_max");
  RULE(p->l0i_bytes >= p->l0i_line * p->l0i_ways, "l0i.ways: not even one set fits l0i.bytes");
  RULE(p->l1i_bytes >= 128 * p->l1i_ways, "l1i.ways: not even one set fits l1i.bytes");
  RULE(power_of_two(p->l1i_const_fetch_bytes) && p->l1i_const_fetch_bytes <= p->l1i_bytes,
       "l1i.const_fetch_bytes must be a power of two, not above l1i.bytes");
  RULE(power_of_two(p->const_line), "const.line is not a power of two");
  RULE(p->const_fl_bytes >= p->const_line * p->const_ways &&
           p->const_vl_bytes >= p->const_line * p->const_ways,
       "const.ways: not even one set fits const.fl_bytes or const.vl_bytes");
  return true;
}

static bool check_memory_side(const struct params *p, struct err *e)
{
  RULE(p->l2_line == p->l1_line && p->l2_sector == p->l1_sector,
       "l2.line and l2.sector must equal those of L1");
  RULE(power_of_two(p->l2_fetch_bytes), "l2.fetch_bytes is not a power of two");
  RULE(p->l2_bytes % (p->l2_slices * p->l2_ways * p->l2_line) == 0,
       "l2.bytes is not a whole number of sets in each of l2.slices");
  RULE(p->l2_latency >= params_l1_hit_cycles(p) + p->noc_request_latency + p->noc_reply_latency,
       "l2.latency is below an L1 hit (the stages of a load) + noc.request_latency + noc.reply_latency");
  RULE(p->noc_reply_latency >= p->noc_request_latency,
       "noc.reply_latency is below noc.request_latency, the window in which parts run alone");
  RULE(p->launch_cta_latency * params_clock_ps(p) >= params_request_ps(p),
       "launch.cta_latency is below noc.request_latency, the window in which parts run alone");
  RULE(p->l2_slices % p->l2_partitions == 0, "l2.slices is not a multiple of l2.partitions");
  RULE(p->l2_partitions == 1 || p->l2_far_latency >= p->l2_latency,
       "l2.far_latency is below l2.latency");
  RULE(p->l2_partitions == 1 || p->l2_home_latency >= p->l2_latency, "l2.home_latency is below l2.latency");
  RULE(p->l2_partitions == 1 ||
           p->l2_far_latency >= params_l1_hit_cycles(p) + 3 * p->noc_request_latency +
                                    p->noc_reply_latency,
       "l2.far_latency is below an L1 hit + 3 noc.request_latency + noc.reply_latency");
  RULE(p->l2_slice_hash != L2_SLICE_HASH_IPOLY ||
           (p->l2_slice_poly >> bits_below(p->l2_slices) == 1 && p->l2_slice_poly % 2 == 1),
       "l2.slice_poly must have the constant term and, as its degree, the bits of l2.slices - 1");
  return true;
}

static bool check_dram(const struct params *p, struct err *e)
{
  RULE(p->dram_latency > p->l2_latency, "dram.latency is not above l2.latency");
  RULE(p->l2_slices % p->dram_channels == 0 || p->dram_channels % p->l2_slices == 0,
       "neither of l2.slices and dram.channels is a multiple of the other");
  RULE(power_of_two(p->dram_ecc_span) && power_of_two(p->dram_ecc_entries),
       "dram.ecc_span or dram.ecc_entries is not a power of two");
  RULE(power_of_two(p->dram_banks) && power_of_two(p->dram_bank_groups) &&
           p->dram_bank_groups <= p->dram_banks && p->dram_banks > 1,
       "dram.banks and dram.bank_groups must be powers of two, the banks more than one");
  RULE(power_of_two(p->dram_row_bytes) && p->dram_row_bytes >= p->l2_line,
       "dram.row_bytes must be a power of two, not below l2.line");
  RULE(p->dram_write_low < p->dram_write_high && p->dram_write_high <= p->dram_write_queue,
       "dram.write_low, dram.write_high and dram.write_queue must ascend");
  RULE((uint64_t)(p->dram_latency - p->l2_latency) * params_l2_clock_ps(p) >= dram_row_miss_ps(p),
       "dram.latency - l2.latency is below the time of dram.t.rcd, dram.t.cl and a burst");
  RULE(p->dram_bus_bits % p->dram_channels == 0,
       "dram.bus_bits is not a multiple of dram.channels");
  RULE(p->dram_t[DRAM_T_RFC] < p->dram_t[DRAM_T_REFI],
       "dram.t.rfc is not below dram.t.refi: banks would do nothing but refresh");
  RULE(p->l2_slices / p->dram_channels < 256, "l2.slices: more than 255 for each of dram.channels");
  RULE(dram_requests(p) < 0xffff,
       "l2.mshr_entries, l2.slices and the queues of DRAM are too large together: a channel keeps at most "
       "65534 requests");
  return true;
}

#undef RULE

bool params_check(const struct params *p, struct err *e)
{
  return check_core(p, e) && check_sm_caches(p, e) && check_memory_side(p, e) && check_dram(p, e);
}

/* "1..64", "cggty, gto", "true, false"; names have no range. */
static void range_text(const struct param_desc *d, char *text, size_t size)
{
  size_t n = 0;
  text[0] = '\0';
  if (d->kind == PARAM_KIND_INT || d->kind == PARAM_KIND_LIST)
    snprintf(text, size, "%" PRIu32 "..%" PRIu32, d->min, d->max);
  if (d->kind == PARAM_KIND_BOOL) snprintf(text, size, "true, false");
  for (uint32_t i = 0; d->kind == PARAM_KIND_ENUM && i < d->n_choices && n < size; i++)
    n += (size_t)snprintf(text + n, size - n, "%s%s", i ? ", " : "", d->choices[i]);
}

void params_write_doc(FILE *f)
{
  fputs("| key | range | unit | what |\n|---|---|---|---|\n", f);
  for (unsigned r = 0; r < param_n_descs; r++) {
    const struct param_desc *d = &param_descs[r];
    char range[128];
    range_text(d, range, sizeof range);
    fprintf(f, "| %s%s | %s | %s | %s |\n", d->key, d->elements ? ".*" : "", range, d->unit,
            d->text);
  }
}
