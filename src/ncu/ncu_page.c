#include "ncu/ncu_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "ncu/ncu_number.h"
#include "ncu/ncu_rule.h"

#define HOST "127.0.0.1"
static const char command_line[] = "Command line profiler metrics";

struct page {
  FILE *f;
  const struct ncu_layout *how;
  const struct ncu_report *r;
  const struct ncu_action *a; /* the launch that is written … */
  size_t id;                  /* … and its number */
  char *kernel;
};

/* --- CSV ---------------------------------------------------------------------------------------- */

void ncu_csv_field(FILE *f, const char *text, bool last)
{
  fputc('"', f);
  for (; *text; text++) {
    if (*text == '"') fputc('"', f);
    fputc(*text, f);
  }
  fputs(last ? "\"\n" : "\",", f);
}

static void fields(FILE *f, const char *const *text, size_t n)
{
  for (size_t i = 0; i < n; i++) ncu_csv_field(f, text[i], i + 1 == n);
}

enum { WHO = 11 };
static const char *const who[WHO] = {"ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
                                     "Stream", "Block Size", "Grid Size",    "Device",    "CC"};

static void csv_triple(FILE *f, const uint32_t v[3])
{
  fprintf(f, "\"(%u, %u, %u)\",", v[0], v[1], v[2]);
}

/* The first columns of each row. */
static void csv_who(const struct page *p)
{
  const struct ncu_action *a = p->a;
  fprintf(p->f, "\"%zu\",\"%llu\",", p->id, (unsigned long long)a->pid);
  ncu_csv_field(p->f, a->process, false);
  fputs("\"" HOST "\",", p->f);
  ncu_csv_field(p->f, p->kernel, false);
  fprintf(p->f, "\"%llu\",\"%llu\",", (unsigned long long)a->context, (unsigned long long)a->stream);
  csv_triple(p->f, a->block);
  csv_triple(p->f, a->grid);
  fprintf(p->f, "\"0\",\"%u.%u\",", a->cc / 10, a->cc % 10);
}

/* --- what a page shows -------------------------------------------------------------------------- */

/* The columns of the raw page as CSV have one unit for all launches. */
static struct ncu_number number_of(const struct page *p, const struct ncu_metric *m)
{
  const bool scale = p->how->scale && !(p->how->csv && p->how->page == NCU_PAGE_RAW);
  char unit[NCU_UNIT];
  ncu_metric_unit(m, unit, sizeof unit);
  return ncu_number(ncu_metric_value(p->a, m), unit, ncu_metric_whole(m), scale, p->how->fp);
}

static bool shown(const struct page *p, const struct ncu_section_row *row)
{
  return p->how->details == NCU_DETAILS_ALL || row->body == (p->how->details == NCU_DETAILS_BODY);
}

static void metric_text(const struct page *p, const char *label, const char *name, char *buf, size_t size)
{
  switch (p->how->names) {
  case NCU_TEXT_NAME: snprintf(buf, size, "%s", name); break;
  case NCU_TEXT_LABEL_NAME: snprintf(buf, size, "%s %s", label, name); break;
  default: snprintf(buf, size, "%s", label);
  }
}

static bool any_rules(const struct ncu_choice *c)
{
  for (unsigned i = 0; i < ncu_n_sections; i++)
    if (c->section[i] && ncu_sections[i].rules) return true;
  return false;
}

/* A page lists rows of one section after the other through these, in either form. */
struct writer {
  void (*begin)(const struct page *, const char *section);
  void (*metric)(const struct page *, const char *section, const char *name, const struct ncu_number *);
  void (*end)(const struct page *);
  void (*finding)(const struct page *, const struct ncu_finding *);
};

static void write_section(const struct page *p, const struct ncu_section *s, const struct writer *w)
{
  bool begun = false;
  for (unsigned i = 0; i < s->n; i++) {
    struct ncu_metric m;
    char name[2 * NCU_NAME];
    if (!shown(p, &s->row[i]) || !ncu_metric_on(s->row[i].metric, ncu_target_of(p->a->cc))) continue;
    if (!begun) w->begin(p, s->name);
    begun = true;
    ncu_metric_parse(s->row[i].metric, &m);
    const struct ncu_number n = number_of(p, &m);
    metric_text(p, s->row[i].label, s->row[i].metric, name, sizeof name);
    w->metric(p, s->name, name, &n);
  }
  if (begun) w->end(p);
}

static void write_details(const struct page *p, const struct writer *w)
{
  const struct ncu_choice *c = &p->r->choice;
  struct ncu_findings found;
  ncu_rules(p->a, &found);
  for (unsigned i = 0; i < ncu_n_sections; i++) {
    if (!c->section[i]) continue;
    write_section(p, &ncu_sections[i], w);
    for (unsigned k = 0; k < found.n; k++)
      if (!strcmp(found.f[k].section, ncu_sections[i].id)) w->finding(p, &found.f[k]);
  }
  if (c->n) w->begin(p, command_line);
  for (size_t i = 0; i < c->n; i++) {
    const struct ncu_number n = number_of(p, &c->metric[i]);
    w->metric(p, command_line, c->metric[i].name, &n);
  }
  if (c->n) w->end(p);
}

/* --- as CSV ------------------------------------------------------------------------------------- */

static void csv_begin(const struct page *p, const char *section)
{
  (void)p, (void)section;
}

static void csv_end(const struct page *p)
{
  (void)p;
}

static void csv_metric(const struct page *p, const char *section, const char *name, const struct ncu_number *n)
{
  const char *const row[] = {section, name, n->unit, n->value, "", "", "", "", ""};
  csv_who(p);
  fields(p->f, row, any_rules(&p->r->choice) ? 9 : 4);
}

static void csv_finding(const struct page *p, const struct ncu_finding *f)
{
  char speedup[NCU_NUMBER] = "";
  if (*f->scope) snprintf(speedup, sizeof speedup, "%.2f", f->speedup);
  const char *const row[] = {f->section, "", "", "", f->rule, f->type, f->text, f->scope, speedup};
  csv_who(p);
  fields(p->f, row, 9);
}

static void csv_details_header(const struct page *p)
{
  static const char *const rest[] = {"Section Name",     "Metric Name", "Metric Unit",      "Metric Value",
                                     "Rule Name",        "Rule Type",   "Rule Description", "Estimated Speedup Type",
                                     "Estimated Speedup"};
  for (unsigned i = 0; i < WHO; i++) ncu_csv_field(p->f, who[i], false);
  fields(p->f, rest, any_rules(&p->r->choice) ? 9 : 4);
}

/* Names, then units, in one column for each metric. */
static void csv_raw_header(const struct page *p, const struct ncu_metric *m, size_t n)
{
  for (unsigned i = 0; i < WHO; i++) ncu_csv_field(p->f, who[i], !n && i + 1 == WHO);
  for (size_t i = 0; i < n; i++) ncu_csv_field(p->f, m[i].name, i + 1 == n);
  for (unsigned i = 0; i < WHO; i++) ncu_csv_field(p->f, "", !n && i + 1 == WHO);
  for (size_t i = 0; i < n; i++) {
    char unit[NCU_UNIT];
    ncu_metric_unit(&m[i], unit, sizeof unit);
    ncu_csv_field(p->f, unit, i + 1 == n);
  }
}

static void csv_raw(const struct page *p, const struct ncu_metric *m, size_t n)
{
  csv_who(p);
  for (size_t i = 0; i < n; i++) ncu_csv_field(p->f, number_of(p, &m[i]).value, i + 1 == n);
}

/* --- as tables ---------------------------------------------------------------------------------- */

enum { NAME_COLUMN = 40, UNIT_COLUMN = 15, VALUE_COLUMN = 15, TEXT_COLUMN = 100 };

static void rule_off(FILE *f)
{
  static const char dashes[] = "----------------------------------------";
  fprintf(f, "    %.*s %.*s %.*s\n", NAME_COLUMN, dashes, UNIT_COLUMN, dashes, VALUE_COLUMN, dashes);
}

static void table_begin(const struct page *p, const char *section)
{
  fprintf(p->f, "    Section: %s\n", section);
  rule_off(p->f);
  fprintf(p->f, "    %-*s %*s %*s\n", NAME_COLUMN, "Metric Name", UNIT_COLUMN, "Metric Unit", VALUE_COLUMN,
          "Metric Value");
  rule_off(p->f);
}

static void table_metric(const struct page *p, const char *section, const char *name, const struct ncu_number *n)
{
  (void)section;
  fprintf(p->f, "    %-*s %*s %*s\n", NAME_COLUMN, name, UNIT_COLUMN, n->unit, VALUE_COLUMN, n->value);
}

static void table_end(const struct page *p)
{
  rule_off(p->f);
  fputc('\n', p->f);
}

/* In lines of words. */
static void table_finding(const struct page *p, const struct ncu_finding *f)
{
  char text[NCU_FINDING_TEXT + 60];
  const char *type = f->type;
  if (*f->scope)
    snprintf(text, sizeof text, "Est. %s Speedup: %.2f%%. %s", *f->scope == 'g' ? "Global" : "Local", f->speedup,
             f->text);
  else
    snprintf(text, sizeof text, "%s", f->text);
  for (char *s = text; *s;) {
    size_t n = strlen(s);
    if (n > TEXT_COLUMN) {
      n = TEXT_COLUMN;
      while (n && s[n] != ' ') n--;
      if (!n) n = strcspn(s, " ");
    }
    fprintf(p->f, "    %-5s %.*s\n", type, (int)n, s);
    type = "";
    s += n;
    s += strspn(s, " ");
  }
  fputc('\n', p->f);
}

static void table_kernel(const struct page *p)
{
  const struct ncu_action *a = p->a;
  const struct ncu_action *before = p->id ? &p->r->action[p->id - 1] : NULL;
  if (!before || before->pid != a->pid) fprintf(p->f, "[%llu] %s@" HOST "\n", (unsigned long long)a->pid, a->process);
  fprintf(p->f, "  %s (%u, %u, %u)x(%u, %u, %u), Context %llu, Stream %llu, Device 0, CC %u.%u\n", p->kernel,
          a->grid[0], a->grid[1], a->grid[2], a->block[0], a->block[1], a->block[2], (unsigned long long)a->context,
          (unsigned long long)a->stream, a->cc / 10, a->cc % 10);
}

static void table_raw(const struct page *p, const struct ncu_metric *m, size_t n)
{
  table_begin(p, command_line);
  for (size_t i = 0; i < n; i++) {
    const struct ncu_number v = number_of(p, &m[i]);
    table_metric(p, command_line, m[i].name, &v);
  }
  table_end(p);
}

/* --- pages -------------------------------------------------------------------------------------- */

static void write_launch(const struct page *p, const struct ncu_metric *all, size_t n)
{
  static const struct writer csv = {csv_begin, csv_metric, csv_end, csv_finding};
  static const struct writer table = {table_begin, table_metric, table_end, table_finding};
  const bool is_csv = p->how->csv;
  if (p->how->page == NCU_PAGE_SOURCE) {
    ncu_source_page(p->f, p->how, p->a, p->kernel);
    return;
  }
  if (!is_csv) table_kernel(p);
  if (p->how->page == NCU_PAGE_DETAILS)
    write_details(p, is_csv ? &csv : &table);
  else if (is_csv)
    csv_raw(p, all, n);
  else
    table_raw(p, all, n);
}

void ncu_page_write(FILE *f, const struct ncu_layout *how, const struct ncu_report *r)
{
  struct page p = {.f = f, .how = how, .r = r};
  size_t n;
  unsigned targets = r->n ? 0 : ALL;
  for (size_t i = 0; i < r->n; i++) targets |= ncu_target_of(r->action[i].cc);
  struct ncu_metric *all = ncu_choice_all(&r->choice, targets, &n);
  if (how->csv && how->page == NCU_PAGE_DETAILS) csv_details_header(&p);
  if (how->csv && how->page == NCU_PAGE_RAW) csv_raw_header(&p, all, n);
  for (p.id = 0; p.id < r->n; p.id++) {
    p.a = &r->action[p.id];
    p.kernel = ncu_kernel_name(p.a->kernel, how->kernel);
    write_launch(&p, all, n);
    free(p.kernel);
  }
  free(all);
}
