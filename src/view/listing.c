#include "view/listing.h"

#include <string.h>

#include <jansson.h>

#include "base/host_memory.h"
#include "base/text.h"
#include "time/gpu/gpu.h"
#include "view/inst_cost.h"
#include "view/json.h"
#include "view/source_text.h"

/* A page shows no more of them, and a viewer bears no more: instructions; lines of source around one that ran; bytes of
 * such a line; calls that led to an inlined instruction. */
enum { MAX_INSTS = 20000, CONTEXT = 8, LINE_BYTES = 400, MAX_CALLS = 16 };

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

static void put(json_t *j, const char *key, uint64_t v)
{
  if (v) json_object_set_new(j, key, json_integer((json_int_t)v));
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

static json_t *lines_json(const struct shown_file *f)
{
  json_t *all = json_array();
  char safe[LINE_BYTES];
  for (uint32_t i = 0; f->line && i < f->source.n_lines; i++) {
    if (!f->line[i]) continue;
    json_t *j = json_object();
    put(j, "line", i + 1);
    json_object_set_new(j, "text", json_string(text_safe(f->source.line[i], safe, sizeof safe)));
    json_array_append_new(all, j);
  }
  return all;
}

/* All of the table, so that instructions name them by number; lines only of those where something ran. */
static json_t *files_json(const struct listing *l)
{
  json_t *all = json_array();
  for (uint32_t i = 0; i < l->lines->n_files; i++) {
    json_t *j = json_object();
    json_object_set_new(j, "name", view_json_text(l->lines->file[i].name));
    json_object_set_new(j, "folder", view_json_text(l->lines->file[i].folder));
    json_object_set_new(j, "lines", lines_json(&l->file[i]));
    json_array_append_new(all, j);
  }
  return all;
}

/* --- instructions ------------------------------------------------------------------------------- */

static json_t *place_json(const struct listing *l, const struct line_row *row, const char *function)
{
  json_t *j = json_object();
  show_line(l, row->file, row->line);
  if (function) json_object_set_new(j, "function", view_json_text(function));
  json_object_set_new(j, "file", json_integer(row->file));
  put(j, "line", row->line);
  return j;
}

/* Where what was inlined was called, from the inside out. A hostile table may have a circle of calls. */
static json_t *calls_json(const struct listing *l, const struct line_row *row)
{
  json_t *all = json_array();
  for (unsigned depth = 0; row->call != LINE_NONE && depth < MAX_CALLS; depth++) {
    const char *function = row->function;
    row = &l->lines->row[row->call];
    if (!line_row_names(row)) break;
    json_array_append_new(all, place_json(l, row, function));
  }
  return all;
}

static void put_place(const struct listing *l, json_t *j, uint64_t pc)
{
  const struct line_row *row = line_table_find(l->lines, pc);
  if (!line_row_names(row)) return;
  show_line(l, row->file, row->line);
  json_object_set_new(j, "file", json_integer(row->file));
  put(j, "line", row->line);
  if (row->call != LINE_NONE) json_object_set_new(j, "called", calls_json(l, row));
}

static void put_cost(const struct listing *l, json_t *j, uint64_t i)
{
  struct inst_cost c = {0};
  json_t *state = json_object();
  inst_cost_add(&c, l->p, i);
  put(j, "issued", c.issued);
  put(j, "threads", c.threads);
  put(j, "cycles", c.cycles);
  put(j, "sectors", c.sectors);
  put(j, "passes", c.passes);
  put(j, "conflicts", c.conflicts);
  for (unsigned k = 0; k < l->p->n_states; k++) put(state, l->p->state_name[k], c.state[k]);
  json_object_set_new(j, "warp_state", state);
}

static void put_live(const struct listing *l, json_t *j, uint64_t i)
{
  static const char *const name[LIVE_FILES] = {
    [LIVE_R] = "registers", [LIVE_UR] = "uniform", [LIVE_P] = "predicates", [LIVE_UP] = "uniform_predicates"};
  if (!l->live) return;
  json_t *live = json_object();
  for (unsigned k = 0; k < LIVE_FILES; k++) put(live, name[k], l->live[i].of[k]);
  json_object_set_new(j, "live", live);
}

/* Addresses and branch targets count from the start of the section, as in disasm. */
static json_t *instruction_json(const struct listing *l, uint64_t i)
{
  struct inst here = l->code->inst[i];
  uint64_t pc = code_pc(l->code, i);
  char text[256], where[256];
  json_t *j = json_object();
  module_where(l->r->module, pc, where, sizeof where);
  where[strcspn(where, "+")] = '\0';
  here.pc -= module_section_start(l->r->module, here.pc);
  code_print(l->code, i, &here, text, sizeof text);
  json_object_set_new(j, "section", view_json_text(where));
  json_object_set_new(j, "at", json_integer((json_int_t)here.pc));
  json_object_set_new(j, "text", view_json_text(text));
  put_place(l, j, pc);
  put_cost(l, j, i);
  put_live(l, j, i);
  return j;
}

static json_t *instructions_json(const struct listing *l, uint64_t *left_out)
{
  json_t *all = json_array();
  for (uint64_t i = 0; i < l->p->n_insts; i++) {
    if (!l->p->issued[i]) continue;
    if (json_array_size(all) < MAX_INSTS)
      json_array_append_new(all, instruction_json(l, i));
    else
      ++*left_out;
  }
  return all;
}

json_t *view_listing_json(const struct report *r, const struct line_table *lines)
{
  struct listing l = {.r = r, .lines = lines, .p = r->profile, .code = &r->launch->params.code,
                      .live = inst_live_new(r), .file = mem_zeroed(lines->n_files + 1u, sizeof *l.file)};
  uint64_t left_out = 0;
  json_t *j = json_object(), *instructions = instructions_json(&l, &left_out);
  json_object_set_new(j, "instructions", instructions);
  json_object_set_new(j, "left_out", json_integer((json_int_t)left_out));
  json_object_set_new(j, "files", files_json(&l));
  for (uint32_t i = 0; i < lines->n_files; i++) {
    source_text_free(&l.file[i].source);
    mem_free(l.file[i].line);
  }
  mem_free(l.file);
  mem_free(l.live);
  return j;
}
