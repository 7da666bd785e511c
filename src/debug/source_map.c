#include "debug/source_map.h"

#include <stdio.h>
#include <string.h>

#include "base/host_memory.h"
#include "load/plain_name.h"

/* "$kernel$function" is a function in a kernel's section. */
static const char *own_name(const char *symbol)
{
  const char *inner = symbol[0] == '$' ? strchr(symbol + 1, '$') : NULL;
  return inner && inner[1] ? inner + 1 : symbol;
}

/* "kernel+0x120" up to the '+'. */
static void symbol_at(const struct module *m, uint64_t pc, char out[SOURCE_NAME])
{
  module_where(m, pc, out, SOURCE_NAME);
  char *plus = strrchr(out, '+');
  if (plus) *plus = '\0';
}

/* Where names change: the module knows no lengths. */
static void list_functions(struct source_map *s, const struct code_view *c)
{
  char name[SOURCE_NAME], last[SOURCE_NAME] = "";
  size_t room = 0;
  struct source_function *list = NULL;
  for (uint64_t pc = c->base; pc < c->end; pc = code_next(c, pc)) {
    symbol_at(s->module, pc, name);
    if (s->n_functions) list[s->n_functions - 1].end = pc;
    if (strcmp(name, last) == 0) continue;
    memcpy(last, name, sizeof last);
    if (s->n_functions == room) list = mem_resize(list, room = room ? 2 * room : 16, sizeof *list);
    list[s->n_functions++] = (struct source_function){arena_strdup(&s->arena, own_name(name)), pc, c->end};
  }
  if (s->n_functions) list[s->n_functions - 1].end = c->end;
  s->function = list;
}

bool source_map_open(struct source_map *s, const struct module *m, const struct code_view *c, struct err *e)
{
  *s = (struct source_map){.module = m};
  list_functions(s, c);
  if (!line_table_read(m, &s->lines, e)) return false;
  s->text = mem_zeroed(s->lines.n_files, sizeof *s->text);
  s->asked = mem_zeroed(s->lines.n_files, sizeof *s->asked);
  return true;
}

void source_map_close(struct source_map *s)
{
  for (uint32_t i = 0; s->text && i < s->lines.n_files; i++) source_text_free(&s->text[i]);
  mem_free(s->text);
  mem_free(s->asked);
  mem_free(s->function);
  arena_free(&s->arena);
  line_table_free(&s->lines);
  *s = (struct source_map){0};
}

static void put_name(char out[SOURCE_NAME], const char *symbol)
{
  size_t n;
  const char *plain = plain_name(symbol, &n);
  snprintf(out, SOURCE_NAME, "%.*s", (int)(n < SOURCE_NAME ? n : SOURCE_NAME - 1), plain);
}

const struct source_function *source_map_function_at(const struct source_map *s, uint64_t pc)
{
  size_t low = 0, high = s->n_functions;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (s->function[middle].pc <= pc)
      low = middle;
    else
      high = middle;
  }
  return s->n_functions && pc >= s->function[low].pc && pc < s->function[low].end ? &s->function[low] : NULL;
}

/* Name of the function whose code it is. */
static void code_function(const struct source_map *s, uint64_t pc, char out[SOURCE_NAME])
{
  const struct source_function *f = source_map_function_at(s, pc);
  put_name(out, f ? f->symbol : "?");
}

unsigned source_map_frames(const struct source_map *s, uint64_t pc, struct source_frame out[SOURCE_FRAMES])
{
  const struct line_row *row = line_table_find(&s->lines, pc);
  unsigned n = 0;
  for (; row && row->call < s->lines.n_rows && n + 1 < SOURCE_FRAMES; row = &s->lines.row[row->call], n++) {
    out[n] = (struct source_frame){.row = row, .inlined = true};
    put_name(out[n].function, row->function ? row->function : "?");
  }
  out[n] = (struct source_frame){.row = row};
  code_function(s, pc, out[n].function);
  return n + 1;
}

static const char *last_part(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

const char *source_map_file(const struct source_map *s, const struct line_row *row)
{
  return row && row->file < s->lines.n_files ? last_part(s->lines.file[row->file].name) : NULL;
}

void source_map_place(const struct source_map *s, const struct line_row *row, char *buf, size_t size)
{
  const char *file = source_map_file(s, row);
  if (size) buf[0] = '\0';
  if (file && row->line) snprintf(buf, size, "%s:%u", file, row->line);
}

const char *source_map_text(struct source_map *s, const struct line_row *row, uint32_t line)
{
  if (!row || row->file >= s->lines.n_files) return "";
  const uint32_t i = row->file;
  if (!s->asked[i]) s->text[i] = source_text_read(s->lines.file[i].folder, s->lines.file[i].name);
  s->asked[i] = true;
  return source_text_line(&s->text[i], line);
}

/* Whether a path ends with what the user wrote, at the start of a component. */
static bool names_file(const struct line_file *f, const char *asked)
{
  char whole[4096];
  snprintf(whole, sizeof whole, "%s/%s", f->folder, f->name);
  const size_t n = strlen(whole), k = strlen(asked);
  return k && k <= n && strcmp(whole + n - k, asked) == 0 && (k == n || asked[0] == '/' || whole[n - k - 1] == '/');
}

static bool in_file(const struct source_map *s, const struct line_row *r, const char *file)
{
  return !r->ends && r->line && r->file < s->lines.n_files && (!file || names_file(&s->lines.file[r->file], file));
}

/* The line, or the next one that has code. 0: none. */
static uint32_t line_with_code(const struct source_map *s, const char *file, uint32_t line)
{
  uint32_t best = 0;
  for (uint32_t i = 0; i < s->lines.n_rows; i++) {
    const struct line_row *r = &s->lines.row[i];
    if (r->line >= line && (!best || r->line < best) && in_file(s, r, file)) best = r->line;
  }
  return best;
}

/* Whether the row in front, by pc, is code of the same line and the same place of inlining. */
static bool goes_on(const struct source_map *s, uint32_t k, const struct line_row *r)
{
  for (; k > 0; k--) {
    const struct line_row *before = &s->lines.row[s->lines.by_pc[k - 1]];
    if (before->pc == r->pc) continue;
    return !before->ends && before->line == r->line && before->file == r->file && before->call == r->call;
  }
  return false;
}

struct found {
  const struct source_map *map;
  uint64_t *pc, *section; /* of each, the start of its code section */
  uint32_t *call;
  size_t n, most;
  bool every;
};

/* Of one function, and one place of inlining, the first address alone. */
static void note(struct found *f, const struct line_row *r)
{
  const uint64_t section = module_section_start(f->map->module, r->pc);
  const size_t kept = f->n < f->most ? f->n : f->most;
  for (size_t i = 0; i < kept; i++) {
    if (f->pc[i] == r->pc) return;
    if (!f->every && f->section[i] == section && f->call[i] == r->call) return;
  }
  if (f->n < f->most) f->pc[f->n] = r->pc, f->section[f->n] = section, f->call[f->n] = r->call;
  f->n++;
}

size_t source_map_find(const struct source_map *s, const char *file, uint32_t *line, bool every, uint64_t *pc,
                       size_t most)
{
  const uint32_t wanted = line_with_code(s, file, *line);
  struct found f = {.map = s, .pc = pc, .most = most, .every = every};
  if (!wanted) return 0;
  f.section = mem_zeroed(most, sizeof *f.section);
  f.call = mem_zeroed(most, sizeof *f.call);
  for (uint32_t k = 0; k < s->lines.n_rows; k++) {
    const struct line_row *r = &s->lines.row[s->lines.by_pc[k]];
    if (r->line == wanted && in_file(s, r, file) && !goes_on(s, k, r)) note(&f, r);
  }
  mem_free(f.section);
  mem_free(f.call);
  *line = wanted;
  return f.n;
}

uint64_t source_map_function(const struct source_map *s, const char *name)
{
  const struct module_kernel *k = module_kernel(s->module, name, NULL);
  if (k) return k->entry_pc;
  for (size_t i = 0; i < s->n_functions; i++) {
    size_t n;
    const char *symbol = s->function[i].symbol, *plain = plain_name(symbol, &n);
    if (strcmp(symbol, name) == 0 || (strlen(name) == n && memcmp(plain, name, n) == 0)) return s->function[i].pc;
  }
  return 0;
}
