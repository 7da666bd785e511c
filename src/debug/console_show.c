/* Commands that print and change values, source and code. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "debug/console_commands.h"
#include "debug/source_value.h"
#include "isa/hazard_role.h"

static bool here(const struct console *c, struct err *e)
{
  return c->d->target.slot[c->d->focus.slot] ? true : err_set(e, "the launch has ended; go back to look at a lane");
}

bool command_print(struct console *c, char *args, struct err *e)
{
  struct debug_value v;
  if (!here(c, e) || !expression_evaluate(args, &c->d->focus, &c->d->names, &v, e)) return false;
  source_value_print(c->d, &c->d->focus, &v, c->out);
  fputc('\n', c->out);
  return true;
}

/* ---- memory ---- */

/* "[TYPE] SPACE[ADDRESS]", cut up. */
struct memory_place {
  struct debug_type type;
  enum view_space space;
  uint64_t addr;
};

static bool read_place(struct console *c, char *text, struct memory_place *m, struct err *e)
{
  char *open = strchr(text, '['), *close = strrchr(text, ']');
  m->type = (struct debug_type){DEBUG_INT, 4, false};
  if (!open || !close || close < open || close[1])
    return err_set(e, "which memory? [TYPE] SPACE[ADDRESS], as f32 shared[16]");
  *open = *close = '\0';
  const char *word = console_word(&text);
  if (debug_type_find(word, &m->type)) word = console_word(&text);
  const int space = view_space_find(word);
  if (space < 0) return err_set(e, "'%.40s' is not global, shared, local, const, code or generic", word);
  m->space = (enum view_space)space;
  return console_number(c, open + 1, &m->addr, e);
}

static void print_values(struct console *c, const struct memory_place *m, const uint8_t *data, uint64_t n)
{
  enum { ROW = 16 };
  char text[96];
  const unsigned per_row = ROW / m->type.bytes;
  for (uint64_t i = 0; i < n; i++) {
    if (i % per_row == 0)
      fprintf(c->out, "%s%s[0x%" PRIx64 "]:", i ? "\n" : "", view_space_name[m->space], m->addr + i * m->type.bytes);
    const struct debug_value v = debug_value_from(&m->type, data + i * m->type.bytes);
    debug_value_text(&v, text, sizeof text);
    text[strcspn(text, " ")] = '\0'; /* decimal alone */
    fprintf(c->out, " %s", text);
  }
  fputc('\n', c->out);
}

bool command_examine(struct console *c, char *args, struct err *e)
{
  enum { MOST = 256 };
  struct memory_place m;
  uint8_t data[MOST * 8];
  uint64_t n = 1;
  if (!here(c, e)) return false;
  if (*args >= '0' && *args <= '9' && !console_number(c, console_word(&args), &n, e)) return false;
  if (n == 0 || n > MOST) return err_set(e, "%" PRIu64 " values; choose 1 to %d", n, MOST);
  if (!read_place(c, args, &m, e) || !view_read(&c->d->focus, m.space, m.addr, data, n * m.type.bytes, e)) return false;
  print_values(c, &m, data, n);
  return true;
}

/* ---- changes ---- */

static bool set_register(struct console *c, const char *name, unsigned reg, const struct debug_value *v, struct err *e)
{
  const struct debug_type t = {v->kind, 4, true};
  const struct lane_view *f = &c->d->focus;
  struct target_edit x = {.kind = EDIT_REGISTER,
                          .addr = reg,
                          .cta = view_cta(f)->id,
                          .warp = f->warp,
                          .lanes = (lane_mask)1 << f->lane,
                          .bytes = 4};
  debug_value_store(&t, v, x.data);
  if ((reg >= HAZARD_UR && reg < HAZARD_P) || reg >= HAZARD_UP) x.lanes = view_lanes(f);
  return target_edit(&c->d->target, &x) || err_set(e, "the kernel has no register %s", name);
}

static void trim_end(char *s)
{
  size_t n = strlen(s);
  while (n && s[n - 1] == ' ') s[--n] = '\0';
}

static bool set_memory(struct console *c, char *place, const struct debug_value *v, struct err *e)
{
  struct memory_place m;
  uint8_t data[8];
  if (!read_place(c, place, &m, e)) return false;
  return view_write(&c->d->focus, m.space, m.addr, data, debug_value_store(&m.type, v, data), e);
}

bool command_set(struct console *c, char *args, struct err *e)
{
  struct debug_value v;
  bool fixed;
  uint32_t unused;
  char *equals = strchr(args, '=');
  if (!equals) return err_set(e, "set what? REGISTER = EXPR, or [TYPE] SPACE[ADDRESS] = EXPR");
  *equals = '\0';
  trim_end(args);
  if (!here(c, e) || !expression_evaluate(equals + 1, &c->d->focus, &c->d->names, &v, e)) return false;
  if (v.kind == DEBUG_OBJECT) return err_set(e, "a structure is no number");
  const int reg = view_register_number(args, &fixed, &unused);
  if (reg >= 0 && fixed) return err_set(e, "%s always reads the same", args);
  const bool ok = reg >= 0 ? set_register(c, args, (unsigned)reg, &v, e) : set_memory(c, args, &v, e);
  if (ok) points_look(c->d->points, &c->d->target);
  return ok;
}

/* ---- source and code ---- */

static void print_frame(struct console *c, unsigned number, const struct debug_frame *f)
{
  char line[300];
  source_map_place(&c->d->map, f->source.row, line, sizeof line);
  fprintf(c->out, "#%u  0x%" PRIx64 " in %s%s%s%s\n", number, f->pc, f->source.function, *line ? " at " : "", line,
          f->source.inlined ? " (inlined)" : "");
}

bool command_backtrace(struct console *c, char *args, struct err *e)
{
  (void)args;
  if (!here(c, e)) return false;
  struct debug_frame *frame = mem_alloc(BACKTRACE_MOST * sizeof *frame);
  const unsigned n = debugger_backtrace(c->d, frame, BACKTRACE_MOST);
  for (unsigned i = 0; i < n; i++) print_frame(c, i, &frame[i]);
  mem_free(frame);
  return n ? true : err_set(e, "the lane has exited");
}

static bool choose_frame(struct console *c, uint64_t number, struct err *e)
{
  struct debug_frame f;
  unsigned is;
  if (!debugger_choose_frame(c->d, number, e) || !debugger_frame(c->d, &f, &is)) return false;
  c->list_row = NULL;
  print_frame(c, is, &f);
  return true;
}

bool command_frame(struct console *c, char *args, struct err *e)
{
  struct debug_frame f;
  unsigned is;
  uint64_t number;
  if (!here(c, e)) return false;
  if (!debugger_frame(c->d, &f, &is)) return err_set(e, "the lane has exited");
  number = is;
  if (*args && !console_number(c, args, &number, e)) return false;
  return choose_frame(c, number, e);
}

bool command_up(struct console *c, char *args, struct err *e)
{
  struct debug_frame f;
  unsigned is;
  (void)args;
  if (!here(c, e)) return false;
  if (!debugger_frame(c->d, &f, &is)) return err_set(e, "the lane has exited");
  return choose_frame(c, is + 1u, e);
}

bool command_down(struct console *c, char *args, struct err *e)
{
  struct debug_frame f;
  unsigned is;
  (void)args;
  if (!here(c, e)) return false;
  if (!debugger_frame(c->d, &f, &is)) return err_set(e, "the lane has exited");
  return is ? choose_frame(c, is - 1u, e) : err_set(e, "this is the innermost frame");
}

bool command_list(struct console *c, char *args, struct err *e)
{
  enum { LINES = 11 };
  struct debug_frame frame = {.pc = 0};
  unsigned number;
  uint64_t line = 0;
  if (!here(c, e)) return false;
  if (*args && !console_number(c, args, &line, e)) return false;
  debugger_frame(c->d, &frame, &number);
  const struct line_row *row = frame.source.row;
  if (!row || !row->line) return err_set(e, "no source line is known here; compile with -lineinfo or -G");
  if (c->list_row != row || line)
    c->list_row = row, c->list_line = (line ? line : row->line) > LINES / 2 ? (line ? line : row->line) - LINES / 2 : 1;
  for (unsigned k = 0; k < LINES; k++, c->list_line++) {
    const char *text = source_map_text(&c->d->map, row, (uint32_t)c->list_line);
    fprintf(c->out, "%s%" PRIu64 "  %s\n", c->list_line == row->line ? "=> " : "   ", c->list_line, text);
  }
  return true;
}

static void print_code(struct console *c, uint64_t pc, uint64_t n)
{
  struct debugger *d = c->d;
  const struct code_view *code = &d->target.params.code;
  const uint64_t here_pc = d->target.slot[d->focus.slot] ? view_pc(&d->focus) : 0;
  char text[256], where[200], line[300], last[300] = "";
  for (; n && code_at(code, pc); n--, pc = code_next(code, pc)) {
    struct source_frame frame[SOURCE_FRAMES];
    source_map_frames(&d->map, pc, frame);
    source_map_place(&d->map, frame[0].row, line, sizeof line);
    if (*line && strcmp(line, last) != 0)
      fprintf(c->out, "%s  %s\n", line, source_map_text(&d->map, frame[0].row, frame[0].row->line));
    memcpy(last, line, sizeof last);
    module_where(d->map.module, pc, where, sizeof where);
    debugger_instruction(d, pc, text, sizeof text);
    fprintf(c->out, "%s0x%" PRIx64 " <%s>  %s\n", pc == here_pc ? "=> " : "   ", pc, where, text);
  }
}

bool command_disassemble(struct console *c, char *args, struct err *e)
{
  enum { AROUND = 9, MOST = 4096 };
  struct debugger *d = c->d;
  const struct code_view *code = &d->target.params.code;
  const bool place = *args != '\0';
  uint64_t n = AROUND, pc;
  const char *spec = console_word(&args);
  if (!place && !here(c, e)) return false;
  if (place && !point_resolve(&d->map, code, spec, NULL, false, &pc, 1, e)) return false;
  if (*args && !console_number(c, args, &n, e)) return false;
  if (!place) {
    pc = view_pc(&d->focus);
    const uint64_t first = module_section_start(d->map.module, pc);
    for (unsigned k = 0; k < AROUND / 2 && pc > first; k++) pc = code_previous(code, pc);
  }
  print_code(c, pc, n < MOST ? n : MOST);
  return true;
}
