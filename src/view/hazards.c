#include "view/hazards.h"

#include <inttypes.h>
#include <stdlib.h>

#include "time/sm/hazard.h"

static const char *const kind_name[] = {"RAW", "WAW", "WAR"};
static const char *const file_prefix[FILE__N] = {
    [FILE_R] = "R", [FILE_UR] = "UR", [FILE_P] = "P", [FILE_UP] = "UP"};

static void print_inst(FILE *f, const struct report *r, const char *label, uint64_t pc)
{
  char where[128], text[256];
  module_where(r->module, pc, where, sizeof where);
  report_inst_text(r, pc, text, sizeof text);
  fprintf(f, "    %-8s %s  %s\n", label, where, text);
}

static void print_finding(FILE *f, const struct report *r, const struct hazard_finding *h)
{
  if (h->file == FILE_NONE)
    fprintf(f, "  %s shared memory 0x%" PRIx32 ": ", kind_name[h->kind], h->address);
  else
    fprintf(f, "  %s %s%u: ", kind_name[h->kind], file_prefix[h->file], h->index);
  if (h->file == FILE_NONE)
    fputs("LDGSTS not waited for", f);
  else if (h->counter)
    fputs("no dependence counter waited for", f);
  else
    fprintf(f, "%" PRIu32 " cycle%s too early", h->missing, h->missing == 1 ? "" : "s");
  fprintf(f, ", %" PRIu64 " times\n", h->count);
  print_inst(f, r, h->kind == HAZARD_WAR ? "reads" : "writes", h->first_pc);
  print_inst(f, r, h->kind == HAZARD_RAW ? "reads" : "writes", h->second_pc);
}

/* Distances below this are shown with their instructions: closer than a stall count can put them. */
enum { NEAR = 16 };

static int by_count(const void *a, const void *b)
{
  const struct hazard_finding *x = a, *y = b;
  if (x->count != y->count) return x->count > y->count ? -1 : 1;
  if (x->second_pc != y->second_pc) return x->second_pc < y->second_pc ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static void print_distances(FILE *f, const struct report *r)
{
  const struct params *p = &r->preset->params;
  const uint32_t *gap[ROLE__N] = {p->gap_same, p->gap_cross, p->gap_queued, p->gap_addr,
                                  p->gap_guard, p->gap_pred};
  fprintf(f, "  smallest distance seen / gap   ");
  for (unsigned k = 0; k < ROLE__N; k++) fprintf(f, " %11s", hazard_role_name[k]);
  fputc('\n', f);
  for (unsigned c = 0; c < LAT__N; c++) {
    const struct hazard_least *least = r->hazards->least[c];
    bool any = false;
    for (unsigned k = 0; k < ROLE__N; k++) any |= least[k].cycles != 0;
    if (!any) continue;
    fprintf(f, "    %-28s", hazard_lat_name[c]);
    for (unsigned k = 0; k < ROLE__N; k++) {
      if (least[k].cycles)
        fprintf(f, " %6" PRIu32 " /%3" PRIu32, least[k].cycles, gap[k][c]);
      else
        fprintf(f, " %6s /%3" PRIu32, "-", gap[k][c]);
    }
    fputc('\n', f);
    for (unsigned k = 0; k < ROLE__N; k++) {
      if (!least[k].cycles || least[k].cycles >= NEAR) continue;
      fprintf(f, "    %s, %" PRIu32 ":\n", hazard_role_name[k], least[k].cycles);
      print_inst(f, r, "writes", least[k].first_pc);
      print_inst(f, r, "reads", least[k].second_pc);
    }
  }
}

void view_hazards_write(FILE *f, const struct report *r, bool with_distances)
{
  const struct hazard *h = r->hazards;
  fprintf(f, "Hazards        %u found%s\n", h->n_findings,
          h->lost ? " (and more: the table is full)" : "");
  struct hazard_finding *sorted = calloc(h->n_findings + 1, sizeof *sorted);
  if (!sorted) return;
  for (unsigned i = 0; i < h->n_findings; i++) sorted[i] = h->finding[i];
  qsort(sorted, h->n_findings, sizeof *sorted, by_count);
  for (unsigned i = 0; i < h->n_findings; i++) print_finding(f, r, &sorted[i]);
  free(sorted);
  if (with_distances) print_distances(f, r);
}
