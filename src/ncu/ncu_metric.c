#include "ncu/ncu_metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"

static const struct ncu_metric_row rows[] = {
#define COUNTER(name_, unit_, domain_, targets_, value, peak, text_)                                                   \
  {.name = name_,                                                                                                      \
   .unit = unit_,                                                                                                      \
   .text = text_,                                                                                                      \
   .kind = NCU_COUNTER,                                                                                                \
   .domain = NCU_##domain_,                                                                                            \
   .targets = targets_,                                                                                                \
   .whole = true},
#define EACH(name, unit, domain, targets, value, text) COUNTER(name, unit, domain, targets, value, 0, text)
#define PLAIN(name_, unit_, whole_, targets_, value, text_)                                                            \
  {.name = name_, .unit = unit_, .text = text_, .kind = NCU_PLAIN, .targets = targets_, .whole = whole_},
#define HIGHEST(name_, domain_, parts_, text_)                                                                         \
  {.name = name_,                                                                                                      \
   .unit = "",                                                                                                         \
   .text = text_,                                                                                                      \
   .parts = parts_,                                                                                                    \
   .kind = NCU_HIGHEST,                                                                                                \
   .domain = NCU_##domain_,                                                                                            \
   .targets = ALL},
#define ABSENT(name_, unit_, kind_, domain_)                                                                           \
  {.name = name_,                                                                                                      \
   .unit = unit_,                                                                                                      \
   .text = "not known here: n/a",                                                                                      \
   .parts = "",                                                                                                        \
   .kind = NCU_##kind_,                                                                                                \
   .domain = NCU_##domain_,                                                                                            \
   .targets = ALL,                                                                                                     \
   .absent = true},
#include "ncu/ncu_metric.def"
};
_Static_assert(sizeof rows / sizeof *rows == NCU_N_ROWS, "one element for each row");

const struct ncu_metric_row *ncu_metric_row(unsigned row)
{
  return &rows[row];
}

/* --- GPUs --------------------------------------------------------------------------------------- */

static const struct {
  unsigned cc;
  enum ncu_target target;
} families[] = {{70, T70}, {72, T70},   {75, T75},   {80, T80},   {86, T86},   {87, T86},  {89, T89},
                {90, T90}, {100, T100}, {101, T100}, {103, T100}, {120, T120}, {121, T120}};

unsigned ncu_target_of(unsigned cc)
{
  for (unsigned i = 0; i < sizeof families / sizeof *families; i++)
    if (families[i].cc == cc) return families[i].target;
  return 0;
}

/* Names of NVIDIA's dies: Nsight Compute's --list-chips. */
static const struct {
  const char *name;
  unsigned cc;
} chips[] = {{"gv100", 70},  {"gv11b", 72},  {"tu102", 75},  {"tu104", 75},  {"tu106", 75},  {"tu116", 75},
             {"tu117", 75},  {"ga100", 80},  {"ga102", 86},  {"ga103", 86},  {"ga104", 86},  {"ga106", 86},
             {"ga107", 86},  {"ga10b", 87},  {"ad102", 89},  {"ad103", 89},  {"ad104", 89},  {"ad106", 89},
             {"ad107", 89},  {"gh100", 90},  {"gb100", 100}, {"gb102", 103}, {"gb202", 120}, {"gb203", 120},
             {"gb205", 120}, {"gb206", 120}, {"gb207", 120}, {"gb20b", 121}};

unsigned ncu_chip_cc(const char *chip)
{
  for (unsigned i = 0; i < sizeof chips / sizeof *chips; i++)
    if (!strcmp(chips[i].name, chip)) return chips[i].cc;
  return 0;
}

const char *ncu_chip_at(unsigned n)
{
  return n < sizeof chips / sizeof *chips ? chips[n].name : NULL;
}

/* --- names -------------------------------------------------------------------------------------- */

enum of {
  OF_ITSELF,
  OF_SECOND,
  OF_CYCLE_ELAPSED,
  OF_CYCLE_ACTIVE,
  OF_PEAK,
  OF_PEAK_SECOND,
  OF_PEAK_ELAPSED,
  OF_PEAK_ACTIVE,
  OF_PCT_ELAPSED,
  OF_PCT_ACTIVE
};

static const char *const suffix[] = {
    [OF_ITSELF] = "",
    [OF_SECOND] = ".per_second",
    [OF_CYCLE_ELAPSED] = ".per_cycle_elapsed",
    [OF_CYCLE_ACTIVE] = ".per_cycle_active",
    [OF_PEAK] = ".peak_sustained",
    [OF_PEAK_SECOND] = ".peak_sustained.per_second",
    [OF_PEAK_ELAPSED] = ".peak_sustained_elapsed",
    [OF_PEAK_ACTIVE] = ".peak_sustained_active",
    [OF_PCT_ELAPSED] = ".pct_of_peak_sustained_elapsed",
    [OF_PCT_ACTIVE] = ".pct_of_peak_sustained_active",
};
enum { N_SUFFIXES = sizeof suffix / sizeof *suffix };

/* ".avg.per_second" of a row of this kind. */
static bool parse_suffix(const char *s, enum ncu_kind kind, struct ncu_metric *m)
{
  static const char *const rolls[] = {[NCU_SUM] = ".sum", [NCU_AVG] = ".avg", [NCU_MIN] = ".min", [NCU_MAX] = ".max"};
  if (kind == NCU_PLAIN) return *s == '\0';
  for (unsigned r = NCU_SUM; r <= NCU_MAX; r++) {
    const size_t n = strlen(rolls[r]);
    if (strncmp(s, rolls[r], n) != 0) continue;
    for (unsigned k = 0; k < N_SUFFIXES; k++) {
      if (strcmp(s + n, suffix[k]) != 0) continue;
      m->roll = (uint8_t)r;
      m->of = (uint8_t)k;
      return kind == NCU_COUNTER || k == OF_PCT_ELAPSED || k == OF_PCT_ACTIVE;
    }
  }
  return false;
}

bool ncu_metric_parse(const char *name, struct ncu_metric *m)
{
  *m = (struct ncu_metric){.row = -1};
  snprintf(m->name, sizeof m->name, "%s", name);
  for (unsigned i = 0; i < NCU_N_ROWS; i++) {
    const size_t n = strlen(rows[i].name);
    if (strncmp(name, rows[i].name, n) != 0 || !parse_suffix(name + n, rows[i].kind, m)) continue;
    m->row = (int)i;
    return true;
  }
  return false;
}

bool ncu_metric_on(const char *name, unsigned targets)
{
  struct ncu_metric m;
  return ncu_metric_parse(name, &m) && rows[m.row].targets & targets;
}

/* --- values ------------------------------------------------------------------------------------- */

/* The roll-up of a counter over its instances. */
static double rolled(const struct ncu_value *v, const struct ncu_domain_state *d, enum ncu_roll roll)
{
  switch (roll) {
  case NCU_SUM: return v->sum;
  case NCU_AVG: return v->sum / d->instances;
  case NCU_MIN: return d->instances == 1 ? v->sum : v->least;
  case NCU_MAX: return d->instances == 1 ? v->sum : v->most;
  default: return NAN;
  }
}

static double counter_value(const struct ncu_value *v, const struct ncu_domain_state *d, const struct ncu_metric *m)
{
  const double x = rolled(v, d, m->roll), active = d->active / d->instances, seconds = d->elapsed / d->hz;
  const double peak = v->peak * (m->roll == NCU_SUM ? d->instances : 1);
  switch (m->of) {
  case OF_SECOND: return x / seconds;
  case OF_CYCLE_ELAPSED: return x / d->elapsed;
  case OF_CYCLE_ACTIVE: return x / active;
  case OF_PEAK: return peak;
  case OF_PEAK_SECOND: return peak * d->hz;
  case OF_PEAK_ELAPSED: return peak * d->elapsed;
  case OF_PEAK_ACTIVE: return peak * active;
  case OF_PCT_ELAPSED: return 100 * x / (peak * d->elapsed);
  case OF_PCT_ACTIVE: return 100 * x / (peak * active);
  default: return x;
  }
}

static double row_value(const struct ncu_action *, int row, const struct ncu_metric *);

/* Of its parts that are known; of instances only the mean. */
static double highest(const struct ncu_action *a, const struct ncu_metric_row *row, const struct ncu_metric *m)
{
  double most = NAN;
  if (m->roll == NCU_MIN || m->roll == NCU_MAX) return NAN;
  for (const char *p = row->parts; *p; p += strspn(p, " ")) {
    const size_t n = strcspn(p, " ");
    unsigned i = 0;
    while (i < NCU_N_ROWS && (strncmp(rows[i].name, p, n) != 0 || rows[i].name[n])) i++;
    BUG_ON(i == NCU_N_ROWS);
    most = fmax(most, row_value(a, (int)i, m)); /* a NAN leaves the other one */
    p += n;
  }
  return most;
}

static double row_value(const struct ncu_action *a, int i, const struct ncu_metric *m)
{
  const struct ncu_metric_row *row = &rows[i];
  if (row->absent || !(row->targets & ncu_target_of(a->cc))) return NAN;
  if (row->kind == NCU_HIGHEST) return highest(a, row, m);
  const double v = row->kind == NCU_PLAIN ? a->value[i].sum : counter_value(&a->value[i], &a->domain[row->domain], m);
  return isfinite(v) ? v : NAN;
}

double ncu_metric_value(const struct ncu_action *a, const struct ncu_metric *m)
{
  return m->row < 0 ? NAN : row_value(a, m->row, m);
}

double ncu_value(const struct ncu_action *a, const char *name)
{
  struct ncu_metric m;
  const bool known = ncu_metric_parse(name, &m);
  BUG_ON(!known);
  return ncu_metric_value(a, &m);
}

/* --- units -------------------------------------------------------------------------------------- */

static void divided(const char *unit, const char *by, char *buf, size_t size)
{
  snprintf(buf, size, "%s/%s", *unit ? unit : "1", by);
}

/* As Nsight Compute prints them: cycles per second are hertz, warps per cycle warps. */
void ncu_metric_unit(const struct ncu_metric *m, char *buf, size_t size)
{
  const char *unit = m->row < 0 ? "" : rows[m->row].unit;
  const bool cycles = !strcmp(unit, "cycle"), warps = !strcmp(unit, "warp");
  switch (m->of) {
  case OF_SECOND:
  case OF_PEAK_SECOND:
    if (cycles)
      snprintf(buf, size, "hz");
    else
      divided(unit, "second", buf, size);
    break;
  case OF_CYCLE_ELAPSED:
  case OF_CYCLE_ACTIVE:
  case OF_PEAK:
    if (cycles || warps)
      snprintf(buf, size, "%s", warps ? unit : "");
    else
      divided(unit, "cycle", buf, size);
    break;
  case OF_PCT_ELAPSED:
  case OF_PCT_ACTIVE: snprintf(buf, size, "%%"); break;
  default: snprintf(buf, size, "%s", unit);
  }
}

bool ncu_metric_whole(const struct ncu_metric *m)
{
  if (m->row < 0) return false;
  if (rows[m->row].kind == NCU_PLAIN) return rows[m->row].whole;
  return m->of == OF_ITSELF && m->roll != NCU_AVG;
}
