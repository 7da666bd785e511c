#include "view/annotate.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/text.h"
#include "view/columns.h"
#include "view/inst_cost.h"
#include "view/source_text.h"

enum { HOTTEST_LINES = 20, MOSTLY_BYTES = 64 };

struct listing {
  FILE *f;
  const struct report *r;
  const struct line_table *lines;
  const struct gpu_inst_profile *p;
  const struct code_view *code;
  struct source_text *source; /* of each file of the table */
  struct live_count *live;    /* of each instruction; NULL: not told */
  uint64_t cycles;            /* of the launch */
};

static uint64_t pc_of(const struct listing *l, uint64_t i)
{
  return code_pc(l->code, i);
}

static unsigned live_at(const struct listing *l, uint64_t i)
{
  return l->live ? l->live[i].of[LIVE_R] : 0;
}

/* --- columns ------------------------------------------------------------------------------------- */

static void heading(FILE *f, const char *last)
{
  fprintf(f, "%14s %6s %12s %6s %8s %9s %4s  %-*s  %s\n", "warp-cycles", "%", "issued", "lanes", "sect/rq", "conflicts",
          "live", MOSTLY_BYTES - 22, "mostly", last);
}

/* The two states with the most cycles, but for the cycle of the issue itself. */
static const char *mostly(const struct listing *l, const struct inst_cost *c, char *buf, size_t size)
{
  size_t n = 0;
  buf[0] = '\0';
  for (unsigned round = 0, before = INST_COST_MAX_STATES; round < 2; round++) {
    unsigned most = INST_COST_MAX_STATES;
    for (unsigned k = 0; k < l->p->n_states; k++)
      if (k != before && strcmp(l->p->state_name[k], "selected") &&
          (most == INST_COST_MAX_STATES || c->state[k] > c->state[most]))
        most = k;
    if (most == INST_COST_MAX_STATES || c->state[most] * 20 < c->cycles || !c->state[most]) break;
    n += (size_t)snprintf(buf + n, size - n, "%s%s %.0f %%", n ? ", " : "", l->p->state_name[most],
                          percent(c->state[most], c->cycles));
    if (n >= size) break;
    before = most;
  }
  return buf;
}

/* A number that may mean nothing here. */
static void ratio(FILE *f, int width, uint64_t a, uint64_t b)
{
  if (a && b)
    fprintf(f, " %*.1f", width, (double)a / (double)b);
  else
    fprintf(f, " %*s", width, "");
}

/* live: most registers at one of the instructions; 0: not told. */
static void columns(const struct listing *l, const struct inst_cost *c, unsigned live)
{
  char cycles[28], issued[28], conflicts[28], registers[12] = "", why[MOSTLY_BYTES];
  if (live) snprintf(registers, sizeof registers, "%u", live);
  fprintf(l->f, "%14s %6.1f %12s", with_commas(c->cycles, cycles), percent(c->cycles, l->cycles),
          with_commas(c->issued, issued));
  ratio(l->f, 6, c->threads, c->issued);
  ratio(l->f, 8, c->sectors, c->requests);
  fprintf(l->f, " %9s %4s  %-*s  ", c->passes ? with_commas(c->conflicts, conflicts) : "", registers,
          MOSTLY_BYTES - 22, mostly(l, c, why, sizeof why));
}

/* --- source lines -------------------------------------------------------------------------------- */

struct source_line {
  uint32_t file, line;
  unsigned live; /* registers, where there are most */
  struct inst_cost cost;
};

static int by_place(const void *a, const void *b)
{
  const struct source_line *x = a, *y = b;
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  return (x->line > y->line) - (x->line < y->line);
}

static int by_cycles(const void *a, const void *b)
{
  const struct source_line *x = a, *y = b;
  if (x->cost.cycles != y->cost.cycles) return x->cost.cycles < y->cost.cycles ? 1 : -1;
  return by_place(a, b);
}

/* Name of a file without its folder. */
static const char *file_name(const struct listing *l, uint32_t file)
{
  const char *name = l->lines->file[file].name, *base = strrchr(name, '/');
  return base ? base + 1 : name;
}

/* "k.cu:14  float a = in[i];" */
static void print_place(const struct listing *l, uint32_t file, uint32_t line)
{
  fprintf(l->f, "%s:%u", file_name(l, file), line);
  char text[101]; /* no more of a line */
  text_safe(source_text_line(&l->source[file], line), text, sizeof text);
  if (*text) fprintf(l->f, "  %s", text);
}

/* Sums up lines that are equal, of n; returns how many are left. */
static size_t merge_lines(struct source_line *s, size_t n, unsigned n_states)
{
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (!kept || by_place(&s[kept - 1], &s[i])) {
      s[kept++] = s[i];
      continue;
    }
    inst_cost_add_all(&s[kept - 1].cost, &s[i].cost, n_states);
    if (s[kept - 1].live < s[i].live) s[kept - 1].live = s[i].live;
  }
  return kept;
}

static void write_source_lines(const struct listing *l)
{
  struct source_line *s;
  size_t n = 0, most = 1;
  for (uint64_t i = 0; i < l->p->n_insts; i++) most += l->p->issued[i] != 0;
  s = calloc(most, sizeof *s);
  NO_MEMORY_IF(!s);
  for (uint64_t i = 0; i < l->p->n_insts; i++) {
    const struct line_row *row = line_table_find(l->lines, pc_of(l, i));
    if (!l->p->issued[i] || !line_row_names(row)) continue;
    s[n] = (struct source_line){.file = row->file, .line = row->line, .live = live_at(l, i)};
    inst_cost_add(&s[n++].cost, l->p, i);
  }
  qsort(s, n, sizeof *s, by_place);
  n = merge_lines(s, n, l->p->n_states);
  qsort(s, n, sizeof *s, by_cycles);
  fprintf(l->f, "\nSource lines, the most expensive first\n");
  heading(l->f, "line");
  for (size_t i = 0; i < n && i < HOTTEST_LINES; i++) {
    columns(l, &s[i].cost, s[i].live);
    print_place(l, s[i].file, s[i].line);
    fputc('\n', l->f);
  }
  if (n > HOTTEST_LINES) fprintf(l->f, "%14s and %zu more lines\n", "…", n - HOTTEST_LINES);
  free(s);
}

/* --- instructions -------------------------------------------------------------------------------- */

/* The line, and where what was inlined there was called. A hostile table may have a circle of calls. */
static void print_line(const struct listing *l, const struct line_row *row)
{
  enum { DEEPEST = 16 };
  fputs("; ", l->f);
  print_place(l, row->file, row->line);
  for (unsigned depth = 0; row->call != LINE_NONE && depth < DEEPEST; depth++) {
    if (row->function) fprintf(l->f, "%s%s", depth ? " in " : "  — in ", row->function);
    row = &l->lines->row[row->call];
    if (!line_row_names(row)) break;
    fprintf(l->f, ", called at %s:%u", file_name(l, row->file), row->line);
  }
  fputc('\n', l->f);
}

/* Addresses and branch targets count from the start of the section, as in disasm. */
static void write_instruction(const struct listing *l, uint64_t i)
{
  struct inst here = l->code->inst[i];
  struct inst_cost c = {0};
  char text[256];
  here.pc -= module_section_start(l->r->module, here.pc);
  inst_cost_add(&c, l->p, i);
  columns(l, &c, live_at(l, i));
  code_print(l->code, i, &here, text, sizeof text);
  fprintf(l->f, "0x%04llx  %s\n", (unsigned long long)here.pc, text);
}

/* A heading where code of another section begins. */
static void write_section(const struct listing *l, uint64_t pc)
{
  char where[256];
  module_where(l->r->module, pc, where, sizeof where);
  where[strcspn(where, "+")] = '\0';
  fprintf(l->f, "\nInstructions of %s that ran\n", where);
  heading(l->f, "at      instruction");
}

static bool same_line(const struct line_row *a, const struct line_row *b)
{
  return a && b && a->file == b->file && a->line == b->line && a->call == b->call;
}

static void write_instructions(const struct listing *l)
{
  const struct line_row *last = NULL;
  uint64_t section = UINT64_MAX;
  for (uint64_t i = 0; i < l->p->n_insts; i++) {
    if (!l->p->issued[i]) continue;
    uint64_t pc = pc_of(l, i), start = module_section_start(l->r->module, pc);
    const struct line_row *row = line_table_find(l->lines, pc);
    if (start != section) write_section(l, pc);
    if (line_row_names(row) && (start != section || !same_line(last, row))) print_line(l, row);
    if (line_row_names(row)) last = row;
    section = start;
    write_instruction(l, i);
  }
}

/* Warps that have ended stay until their CTA does: cycles of no instruction. */
static void write_rest(const struct listing *l)
{
  struct inst_cost all = {0};
  char cycles[28];
  for (uint64_t i = 0; i < l->p->n_insts; i++) inst_cost_add(&all, l->p, i);
  if (l->cycles > all.cycles)
    fprintf(l->f, "%14s %6.1f %s\n", with_commas(l->cycles - all.cycles, cycles),
            percent(l->cycles - all.cycles, l->cycles), "of warps that had ended and waited for others of their CTA");
}

void view_annotate_write(FILE *f, const struct report *r, const struct line_table *lines)
{
  struct listing l = {.f = f, .r = r, .lines = lines, .p = r->profile, .code = &r->launch->params.code,
                      .source = calloc(lines->n_files + 1, sizeof *l.source), .live = inst_live_new(r),
                      .cycles = report_u64(r, "warp_cycles")};
  NO_MEMORY_IF(!l.source);
  code_want_all(l.code);
  for (uint32_t i = 0; i < lines->n_files; i++)
    l.source[i] = source_text_read(lines->file[i].folder, lines->file[i].name);
  if (lines->n_rows) write_source_lines(&l);
  write_instructions(&l);
  write_rest(&l);
  for (uint32_t i = 0; i < lines->n_files; i++) source_text_free(&l.source[i]);
  free(l.source);
  mem_free(l.live);
}
