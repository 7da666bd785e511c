#include "sanitize/finding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/text.h"
#include "load/plain_name.h"

enum { MAX_FINDINGS = 1 << 12 }; /* of a launch: each has its own pair of instructions */

void findings_free(struct findings *fs)
{
  free(fs->kept.item);
  free(fs->left.item);
  *fs = (struct findings){0};
}

static bool is_same(const struct finding *x, const struct finding *y)
{
  return x->kind == y->kind && x->a.pc == y->a.pc && x->b.pc == y->b.pc && x->a.space == y->a.space &&
         x->level == y->level && strcmp(x->what, y->what) == 0;
}

static uint32_t *recent_of(struct finding_list *l, const struct finding *like)
{
  const uint64_t key = (like->a.pc >> 4) * 31 + (like->b.pc >> 4) * 7 + like->kind;
  return &l->recent[key % (sizeof l->recent / sizeof *l->recent)];
}

static struct finding *find(struct finding_list *l, const struct finding *like)
{
  uint32_t *recent = recent_of(l, like);
  if (*recent && is_same(&l->item[*recent - 1], like)) return &l->item[*recent - 1];
  for (uint32_t i = l->n; i-- > 0;) {
    if (!is_same(&l->item[i], like)) continue;
    *recent = i + 1;
    return &l->item[i];
  }
  return NULL;
}

/* Below MAX_FINDINGS. */
static struct finding *add(struct finding_list *l, const struct finding *like)
{
  if (l->n == l->cap) {
    l->cap = l->cap ? 2 * l->cap : 64;
    l->item = realloc(l->item, l->cap * sizeof *l->item);
    NO_MEMORY_IF(!l->item);
  }
  l->item[l->n] = *like;
  *recent_of(l, like) = ++l->n;
  return &l->item[l->n - 1];
}

static void forget(struct finding_list *l)
{
  l->n = 0;
  memset(l->recent, 0, sizeof l->recent);
}

/* Of a race that is only counted each report is one: which are of one pair of instructions nobody knows. */
static void count(struct findings *fs, const struct finding *f, uint64_t n)
{
  const bool race = f->kind == FINDING_RACE;
  if (f->level == LEVEL_ERROR) fs->errors += race ? 1 : n;
  if (f->level == LEVEL_WARNING) fs->warnings += race ? 1 : n;
}

static struct finding *count_only(struct findings *fs, const struct finding *f, uint64_t n)
{
  fs->beyond++;
  count(fs, f, n);
  return NULL;
}

static struct finding *leave_out(struct findings *fs, const struct finding *like)
{
  if (find(&fs->left, like) || fs->left.n == MAX_FINDINGS) return NULL;
  add(&fs->left, like);
  fs->left_out[like->level]++;
  return NULL;
}

struct finding *finding_note(struct findings *fs, const struct finding *like, uint64_t threads, bool *fresh)
{
  *fresh = false;
  if (like->level < fs->least) return leave_out(fs, like);
  struct finding *f = find(&fs->kept, like);
  if (f) {
    f->count += threads;
    return f;
  }
  if (fs->kept.n == MAX_FINDINGS) return count_only(fs, like, threads);
  *fresh = true;
  f = add(&fs->kept, like);
  f->count = threads;
  return f;
}

/* --- printing ------------------------------------------------------------------------------------ */

struct printer {
  FILE *out;
  const struct module *module;
  const struct line_table *lines;
};

static void line(const struct printer *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void line(const struct printer *p, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  fputs("========= ", p->out);
  vfprintf(p->out, fmt, args);
  fputc('\n', p->out);
  va_end(args);
}

/* "kernel+0x100": what the function is called in its source. */
static const char *function_of(const struct printer *p, uint64_t pc, char *buf, size_t size)
{
  char where[256], safe[256];
  size_t n;
  module_where(p->module, pc, where, sizeof where);
  char *plus = strrchr(where, '+');
  if (!plus) return text_safe(where, buf, size);
  *plus = '\0';
  const char *plain = plain_name(where, &n);
  char name[256];
  snprintf(name, sizeof name, "%.*s", (int)n, plain);
  snprintf(buf, size, "%s+%s", text_safe(name, safe, sizeof safe), plus + 1);
  return buf;
}

static const struct line_row *row_of(const struct printer *p, uint64_t pc)
{
  return p->lines && p->lines->n_rows ? line_table_find(p->lines, pc) : NULL;
}

/* "kernel+0x100 in file.cu:34". */
static const char *place_of(const struct printer *p, uint64_t pc, char *buf, size_t size)
{
  char function[300], source[200];
  snprintf(buf, size, "%s%s", function_of(p, pc, function, sizeof function),
           line_row_source(p->lines, row_of(p, pc), source, sizeof source));
  return buf;
}

/* The callers into which the instruction was inlined. */
static void print_frames(const struct printer *p, uint64_t pc)
{
  enum { MAX_FRAMES = 32 };
  char function[300], source[200];
  const struct line_row *row = row_of(p, pc);
  for (unsigned i = 0; row && row->call != LINE_NONE && i < MAX_FRAMES; i++) {
    const struct line_row *caller = &p->lines->row[row->call];
    const char *name = caller->function;
    size_t n = 0;
    const char *plain = name ? plain_name(name, &n) : NULL;
    if (plain) snprintf(function, sizeof function, "%.*s", (int)n, plain);
    else function_of(p, pc, function, sizeof function);
    line_row_source(p->lines, caller, source, sizeof source);
    if (*source) line(p, "    Device Frame: %s%s", function, source);
    row = caller;
  }
}

static const char *space_name(unsigned space)
{
  switch (space) {
  case MEM_SHARED: case MEM_CLUSTER: return "__shared__";
  case MEM_LOCAL: return "__local__";
  default: return "__global__";
  }
}

static const char *op_name(unsigned op)
{
  switch (op) {
  case MEM_STORE: return "write";
  case MEM_ATOMIC: case MEM_RED: return "atomic";
  default: return "read";
  }
}

static const char *race_op(unsigned op)
{
  switch (op) {
  case MEM_STORE: return "Write";
  case MEM_ATOMIC: case MEM_RED: return "Atomic";
  case MEM_LDGSTS: return "Asynchronous copy";
  default: return "Read";
  }
}

static void print_thread(const struct printer *p, const struct finding *f)
{
  const struct func_place *t = &f->a.at;
  line(p, "    by thread (%u,%u,%u) in block (%u,%u,%u)", (unsigned)t->thread[0], (unsigned)t->thread[1],
       (unsigned)t->thread[2], (unsigned)t->cta[0], (unsigned)t->cta[1], (unsigned)t->cta[2]);
}

static void print_details(const struct printer *p, const struct finding *f)
{
  for (unsigned i = 0; i < 2; i++)
    if (f->detail[i][0]) line(p, "    %s", f->detail[i]);
}

static void print_head(const struct printer *p, const struct finding *f)
{
  const char *space = space_name(f->a.space);
  unsigned bytes = f->a.bytes;
  if (f->kind == FINDING_ACCESS) line(p, "Invalid %s %s of size %u bytes", space, op_name(f->a.op), bytes);
  else if (f->kind == FINDING_UNINIT) line(p, "Uninitialized %s memory read of size %u bytes", space, bytes);
  else line(p, "%s", f->what);
}

/* A mistake of threads, each for itself. */
static void print_threads(const struct printer *p, const struct finding *f)
{
  char where[512];
  print_head(p, f);
  if (f->a.pc) line(p, "    at %s", place_of(p, f->a.pc, where, sizeof where));
  print_thread(p, f);
  if (f->kind == FINDING_UNINIT) line(p, "    Address 0x%" PRIx64, f->addr);
  print_details(p, f);
  if (f->count > 1)
    line(p, "    and by %" PRIu64 " more thread%s at this instruction", f->count - 1, f->count > 2 ? "s" : "");
  print_frames(p, f->a.pc);
}

static void print_party(const struct printer *p, const struct finding_access *a)
{
  const struct func_place *t = &a->at;
  line(p, "        %s by thread (%u,%u,%u) in block (%u,%u,%u)", race_op(a->op), (unsigned)t->thread[0],
       (unsigned)t->thread[1], (unsigned)t->thread[2], (unsigned)t->cta[0], (unsigned)t->cta[1], (unsigned)t->cta[2]);
}

static void print_race(const struct printer *p, const struct finding *f)
{
  static const char *const level[] = {"Info", "Warning", "Error"};
  char where[512];
  line(p, "%s: %sRace reported between %s access at %s", level[f->level], f->what, race_op(f->a.op),
       place_of(p, f->a.pc, where, sizeof where));
  print_frames(p, f->a.pc);
  line(p, "    and %s access at %s [%" PRIu64 " hazards]", race_op(f->b.op), place_of(p, f->b.pc, where, sizeof where),
       f->count);
  print_frames(p, f->b.pc);
  line(p, "    at %s 0x%" PRIx64 ":", space_name(f->a.space), f->addr);
  print_party(p, &f->b);
  print_party(p, &f->a);
  print_details(p, f);
}

void findings_flush(struct findings *fs, const struct module *m, const struct line_table *lines)
{
  const struct printer p = {.out = fs->out, .module = m, .lines = lines};
  for (uint32_t i = 0; i < fs->kept.n; i++) {
    const struct finding *f = &fs->kept.item[i];
    count(fs, f, f->count);
    fs->races += f->kind == FINDING_RACE;
    if (fs->printed == fs->limit) {
      fs->hidden++;
      continue;
    }
    fs->printed++;
    if (f->kind == FINDING_RACE) print_race(&p, f);
    else print_threads(&p, f);
    fputs("=========\n", fs->out);
  }
  if (fs->beyond)
    line(&p, "%" PRIu64 " more findings of this launch, beyond %d different ones, are only counted", fs->beyond,
         MAX_FINDINGS);
  fs->beyond = 0;
  forget(&fs->kept);
  forget(&fs->left);
  fflush(fs->out);
}
