/* What an editor shows: threads, frames, memory, instructions; what it asks for by an expression. A frame's number is
 * that of its thread times DAP_FRAMES plus its own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "debug/console.h"
#include "debug/dap_private.h"
#include "isa/hazard_role.h"

enum { MAX_THREADS = 4096 };

bool dap_threads(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  struct debug_target *t = &p->d->target;
  json_t *list = json_array();
  (void)a, (void)e;
  for (unsigned i = 0; i < t->n_slots; i++)
    for (unsigned k = 0; t->slot[i] && k < t->slot[i]->n_warps && json_array_size(list) < MAX_THREADS; k++) {
      const struct lane_view v = {t, i, k, 0};
      const struct view_place at = view_place_of(&v);
      char name[80];
      if (!t->slot[i]->warp[k]->paths.n) continue;
      snprintf(name, sizeof name, "cta (%u,%u,%u) warp %u", at.cta[0], at.cta[1], at.cta[2], k);
      json_array_append_new(list, json_pack("{s:I, s:s}", "id", (json_int_t)debugger_thread(p->d, &v), "name", name));
    }
  *body = json_pack("{s:o}", "threads", list);
  return true;
}

static json_t *frame_of(struct dap *p, const struct debug_frame *f, uint64_t thread, unsigned k)
{
  char pc[32];
  const struct line_row *row = f->source.row;
  snprintf(pc, sizeof pc, "0x%" PRIx64, f->pc);
  json_t *j = json_pack("{s:I, s:s, s:i, s:i, s:s}", "id", (json_int_t)(thread * DAP_FRAMES + k), "name",
                        f->source.function, "line", row ? (int)row->line : 0, "column", row && row->line ? 1 : 0,
                        "instructionPointerReference", pc);
  NO_MEMORY_IF(!j);
  if (row && row->file < p->d->map.lines.n_files) {
    const struct line_file *file = &p->d->map.lines.file[row->file];
    char path[4096];
    snprintf(path, sizeof path, "%s%s%s", file->folder, *file->folder ? "/" : "", file->name);
    json_t *source = json_pack("{s:s, s:s}", "name", source_map_file(&p->d->map, row), "path", path);
    if (source) json_object_set_new(j, "source", source); /* not UTF-8: none */
  }
  return j;
}

bool dap_stack(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  const uint64_t thread = (uint64_t)dap_number(a, "threadId");
  if (!dap_thread_there(p, thread, e)) return false;
  struct debug_frame *frame = mem_alloc(DAP_FRAMES * sizeof *frame);
  const unsigned n = debugger_backtrace(p->d, frame, DAP_FRAMES);
  json_t *list = json_array();
  for (unsigned k = 0; k < n; k++) json_array_append_new(list, frame_of(p, &frame[k], thread, k));
  mem_free(frame);
  *body = json_pack("{s:o, s:i}", "stackFrames", list, "totalFrames", (int)n);
  return true;
}

/* An expression; at the editor's prompt else a command of the console that looks. */
bool dap_evaluate(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  const char *text = dap_text(a, "expression");
  const bool prompt = strcmp(dap_text(a, "context"), "repl") == 0;
  struct debug_value v;
  const int64_t frame = dap_number(a, "frameId");
  char *said;
  size_t n;
  if (frame && !dap_frame_there(p, frame, e)) return false;
  const bool here = p->d->target.slot[p->d->focus.slot] != NULL;
  if (here && expression_evaluate(text, &p->d->focus, &p->d->names, &v, e)) {
    char *value = dap_value_text(p, &v);
    const json_int_t parts = dap_parts_of(p, frame, text, &v);
    *body = json_pack("{s:s, s:I}", "result", value, "variablesReference", parts);
    free(value);
    return *body ? true : err_set(e, "the answer is no UTF-8");
  }
  if (!prompt) return here ? false : err_set(e, "the launch has ended");
  FILE *f = open_memstream(&said, &n);
  NO_MEMORY_IF(!f);
  console_look(p->session, p->d, text, f);
  fclose(f);
  *body = json_pack("{s:s, s:i}", "result", said, "variablesReference", 0);
  free(said);
  return *body ? true : err_set(e, "the answer is no UTF-8");
}

static void base64(const uint8_t *data, size_t n, char *out)
{
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < n; i += 3) {
    const uint32_t left = (uint32_t)(n - i);
    const uint32_t w =
        (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) | (left > 2 ? data[i + 2] : 0);
    *out++ = digit[w >> 18];
    *out++ = digit[w >> 12 & 63];
    *out++ = left > 1 ? digit[w >> 6 & 63] : '=';
    *out++ = left > 2 ? digit[w & 63] : '=';
  }
  *out = '\0';
}

bool dap_memory(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  enum { MOST = 4096 };
  uint8_t data[MOST];
  char text[4 * (MOST / 3 + 1) + 1], name[32];
  const uint64_t at = strtoull(dap_text(a, "memoryReference"), NULL, 0) + (uint64_t)dap_number(a, "offset");
  const int64_t n = dap_number(a, "count");
  if (n < 0 || n > MOST) return err_set(e, "%" PRId64 " bytes; at most %d at once", n, MOST);
  if (!p->d->target.slot[p->d->focus.slot]) return err_set(e, "the launch has ended");
  if (!view_read(&p->d->focus, VIEW_GENERIC, at, data, (size_t)n, e)) return false;
  base64(data, (size_t)n, text);
  snprintf(name, sizeof name, "0x%" PRIx64, at);
  *body = json_pack("{s:s, s:s}", "address", name, "data", text);
  return true;
}

static json_t *instruction_at(struct dap *p, uint64_t pc)
{
  char name[32], text[256];
  const struct line_row *row = line_table_find(&p->d->map.lines, pc);
  snprintf(name, sizeof name, "0x%" PRIx64, pc);
  debugger_instruction(p->d, pc, text, sizeof text);
  json_t *j = json_pack("{s:s, s:s}", "address", name, "instruction", *text ? text : "(none)");
  NO_MEMORY_IF(!j);
  if (row && row->line) json_object_set_new(j, "line", json_integer(row->line));
  return j;
}

bool dap_disassemble(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  enum { MOST = 1000 };
  const struct code_view *code = &p->d->target.params.code;
  const uint64_t step = UINT64_C(1) << code->shift;
  const int64_t n = dap_number(a, "instructionCount"), skip = dap_number(a, "instructionOffset");
  uint64_t pc = strtoull(dap_text(a, "memoryReference"), NULL, 0) + (uint64_t)dap_number(a, "offset");
  if (n < 0 || n > MOST || skip > INT32_MAX || skip < INT32_MIN)
    return err_set(e, "%" PRId64 " instructions; at most %d at once", n, MOST);
  json_t *list = json_array();
  pc += (uint64_t)skip * step;
  for (int64_t i = 0; i < n; i++, pc += step) json_array_append_new(list, instruction_at(p, pc));
  *body = json_pack("{s:o}", "instructions", list);
  return true;
}
