#include "view/listing.h"

#include <string.h>

#include "base/host_memory.h"
#include "base/text.h"
#include "time/gpu/gpu.h"
#include "view/inst_cost.h"
#include "view/source_text.h"

/* A page shows no more of them, and a viewer bears no more: instructions; lines of source around one that ran; bytes of
 * such a line; calls that led to an inlined instruction. */
enum { MAX_INSTS = 20000, CONTEXT = 8, TEXT_BYTES = 400, MAX_CALLS = 16 };

struct listing {
  const struct report *r;
  const struct line_table *lines;
  const struct gpu_inst_profile *p;
  const struct code_view *code;
  struct live_count *live; /* of each instruction; NULL: not told */
  struct shown_file {
    struct source_text source;
    uint8_t *line; /* of each line, whether it is shown; NULL: nothing of the file */
  } *file;
};

static void put(struct json_out *j, const char *key, uint64_t v)
{
  if (v) json_out_u64(j, key, v);
}

/* --- sources ------------------------------------------------------------------------------------ */

static void show_line(const struct listing *l, uint32_t file, uint32_t line)
{
  struct shown_file *f = &l->file[file];
  if (!f->line) {
    f->source = source_text_read(l->lines->file[file].folder, l->lines->file[file].name);
    f->line = mem_zeroed(f->source.n_lines + 1, 1);
  }
  uint32_t from = line > CONTEXT ? line - CONTEXT : 1;
  for (uint32_t i = from; i <= f->source.n_lines && i - from <= 2 * CONTEXT; i++) f->line[i - 1] = 1;
}

static void put_lines(struct json_out *j, const struct shown_file *f)
{
  char safe[TEXT_BYTES];
  json_out_array(j, "lines");
  for (uint32_t i = 0; f->line && i < f->source.n_lines; i++) {
    if (!f->line[i]) continue;
    json_out_object(j, NULL);
    put(j, "line", i + 1);
    json_out_text(j, "text", text_safe(f->source.line[i], safe, sizeof safe));
    json_out_end(j);
  }
  json_out_end(j);
}

/* All of the table, so that instructions name them by number; lines only of those where something ran. */
static void put_files(struct json_out *j, const struct listing *l)
{
  json_out_array(j, "files");
  for (uint32_t i = 0; i < l->lines->n_files; i++) {
    json_out_object(j, NULL);
    json_out_text(j, "name", l->lines->file[i].name);
    json_out_text(j, "folder", l->lines->file[i].folder);
    put_lines(j, &l->file[i]);
    json_out_end(j);
  }
  json_out_end(j);
}

/* --- instructions ------------------------------------------------------------------------------- */

static void put_row(struct json_out *j, const struct listing *l, const struct line_row *row)
{
  show_line(l, row->file, row->line);
  json_out_u64(j, "file", row->file);
  put(j, "line", row->line);
}

/* Where what was inlined was called, from the inside out. A hostile table may have a circle of calls. */
static void put_calls(struct json_out *j, const struct listing *l, const struct line_row *row)
{
  json_out_array(j, "called");
  for (unsigned depth = 0; row->call != LINE_NONE && depth < MAX_CALLS; depth++) {
    const char *function = row->function;
    row = &l->lines->row[row->call];
    if (!line_row_names(row)) break;
    json_out_object(j, NULL);
    if (function) json_out_text(j, "function", function);
    put_row(j, l, row);
    json_out_end(j);
  }
  json_out_end(j);
}

static void put_place(struct json_out *j, const struct listing *l, uint64_t pc)
{
  const struct line_row *row = line_table_find(l->lines, pc);
  if (!line_row_names(row)) return;
  put_row(j, l, row);
  if (row->call != LINE_NONE) put_calls(j, l, row);
}

static void put_cost(struct json_out *j, const struct listing *l, uint64_t i)
{
  struct inst_cost c = {0};
  inst_cost_add(&c, l->p, i);
  put(j, "issued", c.issued);
  put(j, "threads", c.threads);
  put(j, "cycles", c.cycles);
  put(j, "sectors", c.sectors);
  put(j, "passes", c.passes);
  put(j, "conflicts", c.conflicts);
  json_out_object(j, "warp_state");
  for (unsigned k = 0; k < l->p->n_states; k++) put(j, l->p->state_name[k], c.state[k]);
  json_out_end(j);
}

static void put_live(struct json_out *j, const struct listing *l, uint64_t i)
{
  static const char *const name[LIVE_FILES] = {
    [LIVE_R] = "registers", [LIVE_UR] = "uniform", [LIVE_P] = "predicates", [LIVE_UP] = "uniform_predicates"};
  if (!l->live) return;
  json_out_object(j, "live");
  for (unsigned k = 0; k < LIVE_FILES; k++) put(j, name[k], l->live[i].of[k]);
  json_out_end(j);
}

/* Addresses and branch targets count from the start of the section, as in disasm. */
static void put_instruction(struct json_out *j, const struct listing *l, uint64_t i)
{
  struct inst here = l->code->inst[i];
  uint64_t pc = code_pc(l->code, i);
  char text[256], where[256];
  module_where(l->r->module, pc, where, sizeof where);
  where[strcspn(where, "+")] = '\0';
  here.pc -= module_section_start(l->r->module, here.pc);
  code_print(l->code, i, &here, text, sizeof text);
  json_out_object(j, NULL);
  json_out_text(j, "section", where);
  json_out_u64(j, "at", here.pc);
  json_out_text(j, "text", text);
  put_place(j, l, pc);
  put_cost(j, l, i);
  put_live(j, l, i);
  json_out_end(j);
}

static void put_instructions(struct json_out *j, const struct listing *l)
{
  uint64_t shown = 0, left_out = 0;
  json_out_array(j, "instructions");
  for (uint64_t i = 0; i < l->p->n_insts; i++) {
    if (!l->p->issued[i]) continue;
    if (shown < MAX_INSTS) put_instruction(j, l, i), shown++;
    else left_out++;
  }
  json_out_end(j);
  json_out_u64(j, "left_out", left_out);
}

void view_listing_json(struct json_out *j, const char *key, const struct report *r, const struct line_table *lines)
{
  struct listing l = {.r = r, .lines = lines, .p = r->profile, .code = &r->launch->params.code,
                      .live = inst_live_new(r), .file = mem_zeroed(lines->n_files + 1u, sizeof *l.file)};
  code_want_all(l.code);
  json_out_object(j, key);
  put_instructions(j, &l);
  put_files(j, &l);
  json_out_end(j);
  for (uint32_t i = 0; i < lines->n_files; i++) {
    source_text_free(&l.file[i].source);
    mem_free(l.file[i].line);
  }
  mem_free(l.file);
  mem_free(l.live);
}
