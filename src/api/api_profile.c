/* What each instruction of a launch cost, copied out of its books. */
#include <string.h>

#include "api/api_internal.h"
#include "load/line_table.h"
#include "time/gpu/gpu.h"
#include "view/inst_cost.h"

static uint64_t cycles_of(const struct gpu_inst_profile *p, uint64_t i)
{
  uint64_t sum = 0;

  for (unsigned k = 0; k < p->n_states; k++) sum += p->by_inst[i * p->n_states + k];
  return sum;
}

static bool has_run(const struct gpu_inst_profile *p, uint64_t i)
{
  return p->issued[i] || cycles_of(p, i);
}

/* Names of source files as one string each. */
static const char **file_names(struct arena *a, const struct line_table *t)
{
  const char **name = ARENA_ARRAY(a, const char *, t->n_files + 1);

  for (uint32_t i = 0; i < t->n_files; i++) {
    const struct line_file *f = &t->file[i];
    size_t n = strlen(f->folder) + strlen(f->name) + 2;
    char *text = arena_alloc(a, n, 1);
    snprintf(text, n, "%s%s%s", f->folder, *f->folder ? "/" : "", f->name);
    name[i] = text;
  }
  return name;
}

static const char *copied(struct arena *a, const char *text)
{
  return arena_strdup(a, text);
}

static struct ws_profile_row row_of(struct arena *a, const struct report *rep, uint64_t i, const struct line_row *line,
                                    const char **file)
{
  const struct gpu_inst_profile *p = rep->profile;
  const uint64_t pc = code_pc(&rep->launch->params.code, i);
  char where[256], text[256];

  module_where(rep->module, pc, where, sizeof where);
  report_inst_text(rep, pc, text, sizeof text);
  return (struct ws_profile_row){
    .size = sizeof(struct ws_profile_row), .where = copied(a, where), .instruction = copied(a, text),
    .file = line && line->file != LINE_NONE ? file[line->file] : "", .line = line ? line->line : 0, .pc = pc,
    .issued = p->issued[i], .threads = p->threads[i], .warp_cycles = cycles_of(p, i), .sectors = p->sectors[i],
    .passes = p->passes[i], .conflicts = p->conflicts[i],
  };
}

static void put_live(struct ws_profile_row *row, const struct live_count *live)
{
  row->live_registers = live->of[LIVE_R];
  row->live_uniform = live->of[LIVE_UR];
  row->live_predicates = live->of[LIVE_P];
  row->live_uniform_predicates = live->of[LIVE_UP];
}

/* Malformed line tables are none: the launch has run. */
void profile_rows_copy(struct profile_rows *rows, struct arena *a, const struct report *rep)
{
  const struct gpu_inst_profile *p = rep->profile;
  struct line_table lines;
  struct err ignored = {0};
  uint64_t n = 0;

  if (!p) return;
  for (uint64_t i = 0; i < p->n_insts; i++) n += has_run(p, i);
  const bool known = line_table_read(rep->module, &lines, &ignored);
  const char **file = known ? file_names(a, &lines) : NULL;
  struct live_count *live = inst_live_new(rep);
  *rows = (struct profile_rows){.n_states = p->n_states,
                                .name = p->state_name,
                                .row = ARENA_ARRAY(a, struct ws_profile_row, n + 1),
                                .state = ARENA_ARRAY(a, uint64_t, n * p->n_states + 1)};
  for (uint64_t i = 0; i < p->n_insts; i++) {
    if (!has_run(p, i)) continue;
    const struct line_row *line = known ? line_table_find(&lines, code_pc(&rep->launch->params.code, i)) : NULL;
    memcpy(&rows->state[rows->n * p->n_states], &p->by_inst[i * p->n_states], p->n_states * sizeof *rows->state);
    rows->row[rows->n] = row_of(a, rep, i, line, file);
    if (live) put_live(&rows->row[rows->n], &live[i]);
    rows->n++;
  }
  mem_free(live);
  line_table_free(&lines);
}
