#include "trace/export.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/bits.h"
#include "base/host_memory.h"
#include "base/output.h"
#include "isa/isa.h"
#include "trace/writer.h"

enum { LINE = 1024, LANES = 32, PATH = 4096 };

/* What all lines of an instruction have in common. */
struct line_parts {
  const char *pc, *body; /* "0010 ", " 1 R4 LDG.E 1 R2 4" */
  uint64_t immediate;
  bool memory; /* has addresses */
};

/* Blocks that ended before one with a lower id: kept until it ends. */
struct finished {
  struct trace_block **block;
  size_t n, cap;
};

/* Traces that are written, but not yet in their place. */
struct sealed_traces {
  struct output **file;
  size_t n, cap;
};

struct trace_export {
  char dir[PATH];
  enum trace_form form;
  unsigned version, n_kernels;
  FILE *list, *stats;
  struct output list_file, stats_file;
  struct sealed_traces sealed;
  bool failed; /* a trace could not be written: nothing is */
  /* of the kernel that runs */
  struct trace_header header;
  struct trace_writer *writer;
  struct arena arena;
  const struct code_view *code;
  uint64_t entry, n_ctas, next_block;
  struct line_parts *parts; /* by index in the code space; pc NULL: not made yet */
  struct trace_block **live; /* by CTA: of those that run; grows with the ids seen */
  size_t live_cap;
  struct finished finished;
  uint64_t insts;
};

/* ---- lines ---- */

static bool has_addresses(const struct inst *t)
{
  return t->mem.space != MEM_NONE && t->mem.space != MEM_CONST && t->mem.space != MEM_TEXTURE &&
         !t->mem.image;
}

/* The one immediate that a line has: DEPBAR's threshold, else the last immediate operand. */
static uint64_t immediate(const struct code_view *c, uint64_t i, const struct inst *t)
{
  if (t->flags & INST_DEPBAR) return t->limit[0].at_most;
  return c->isa->immediate(c->decoded, i);
}

static int registers(const struct operand *o, unsigned n, unsigned max, char *buf, size_t size)
{
  unsigned count = 0;
  int at = 0;
  char list[64] = "";
  for (unsigned i = 0; i < n && count < max; i++) {
    if (o[i].file != FILE_R) continue;
    at += snprintf(list + at, sizeof list - (size_t)at, " R%u", o[i].index);
    count++;
  }
  return snprintf(buf, size, " %u%s", count, list);
}

static struct line_parts make_parts(struct trace_export *x, uint64_t i, uint64_t pc, const struct inst *t)
{
  char text[256], mnemonic[128];
  size_t n = 0;
  bool memory = has_addresses(t);
  x->code->isa->form(x->code->decoded, i, mnemonic, sizeof mnemonic);
  n += (size_t)registers(t->dst, t->n_dst, 1, text, sizeof text);
  n += (size_t)snprintf(text + n, sizeof text - n, " %s", mnemonic);
  n += (size_t)registers(t->src, t->n_src, TRACE_MAX_SOURCES, text + n, sizeof text - n);
  snprintf(text + n, sizeof text - n, " %u", memory ? t->mem.bytes : 0u);
  struct line_parts p = {.body = arena_strdup(&x->arena, text), .immediate = immediate(x->code, i, t),
                         .memory = memory};
  snprintf(text, sizeof text, "%04" PRIx32 " ", (uint32_t)(pc - x->entry));
  p.pc = arena_strdup(&x->arena, text);
  return p;
}

/* Active lanes are neighbours, two at least, at a constant distance. */
static bool is_strided(const uint64_t *addr, uint32_t lanes)
{
  unsigned first = bits_first(lanes), n = bits_count(lanes);
  if (n < 2 || lanes >> first != bits_ones(n)) return false;
  int64_t step = (int64_t)(addr[first + 1] - addr[first]);
  if (step < INT_MIN || step > INT_MAX) return false;
  for (unsigned i = first + 1; i < first + n; i++)
    if ((int64_t)(addr[i] - addr[i - 1]) != step) return false;
  return true;
}

static size_t addresses(const uint64_t *addr, uint32_t lanes, char *to)
{
  if (!lanes) return (size_t)sprintf(to, " %d 0x0 0", TRACE_STRIDE);
  unsigned first = bits_first(lanes);
  if (is_strided(addr, lanes))
    return (size_t)sprintf(to, " %d 0x%016" PRIx64 " %" PRId64, TRACE_STRIDE, addr[first],
                           (int64_t)(addr[first + 1] - addr[first]));
  size_t n = (size_t)sprintf(to, " %d 0x%016" PRIx64, TRACE_DELTAS, addr[first]);
  uint64_t last = addr[first];
  for (uint32_t m = lanes & (lanes - 1); m; m &= m - 1) {
    uint64_t a = addr[bits_first(m)];
    n += (size_t)sprintf(to + n, " %" PRId64, (int64_t)(a - last));
    last = a;
  }
  return n;
}

static size_t put_line(const struct trace_export *x, const struct line_parts *p,
                       const struct effect *e, char *to)
{
  uint32_t lanes = (uint32_t)e->exec;
  size_t n = strlen(p->pc);
  memcpy(to, p->pc, n);
  n += (size_t)sprintf(to + n, "%08" PRIx32 "%s", lanes, p->body);
  if (p->memory) n += addresses(e->mem->addr, e->flags & EFF_MEM ? lanes : 0, to + n);
  if (x->version >= TRACE_VERSION_IMMEDIATE)
    n += (size_t)sprintf(to + n, " %" PRIu64, p->immediate);
  to[n++] = ' ';
  to[n++] = '\n';
  return n;
}

/* ---- the tap ---- */

static struct trace_block *block_of(struct trace_export *x, const struct step_cta *c)
{
  if (c->id >= x->live_cap) {
    size_t old = x->live_cap;
    x->live_cap = 2 * (c->id + 1);
    x->live = realloc(x->live, x->live_cap * sizeof *x->live);
    NO_MEMORY_IF(!x->live);
    memset(x->live + old, 0, (x->live_cap - old) * sizeof *x->live);
  }
  if (!x->live[c->id]) x->live[c->id] = trace_block_new(c->id, c->n_warps);
  return x->live[c->id];
}

static void on_step(void *ctx, const struct step_cta *c, unsigned warp, const struct effect *e)
{
  struct trace_export *x = ctx;
  const struct inst *t = e->inst;
  if (t->flags & INST_SYSCALL) return;
  size_t i = (size_t)code_index(x->code, e->pc);
  struct line_parts *p = &x->parts[i];
  if (!p->pc) *p = make_parts(x, i, e->pc, t);
  struct trace_warp *w = &block_of(x, c)->warp[warp];
  w->bytes += put_line(x, p, e, trace_warp_room(w, LINE));
  w->n++;
  x->insts++;
}

static void write_finished(struct trace_export *x)
{
  for (size_t i = 0; i < x->finished.n;) {
    struct trace_block *b = x->finished.block[i];
    if (b->id != x->next_block) {
      i++;
      continue;
    }
    trace_writer_block(x->writer, b);
    trace_block_free(b);
    x->finished.block[i] = x->finished.block[--x->finished.n];
    x->next_block++;
    i = 0;
  }
}

static void on_cta_end(void *ctx, const struct step_cta *c)
{
  struct trace_export *x = ctx;
  struct finished *f = &x->finished;
  struct trace_block *b = block_of(x, c);
  if (f->n == f->cap) {
    f->cap = f->cap ? 2 * f->cap : 16;
    f->block = realloc(f->block, f->cap * sizeof(struct trace_block *));
    NO_MEMORY_IF(!f->block);
  }
  f->block[f->n++] = b;
  x->live[c->id] = NULL;
  write_finished(x);
}

/* ---- files ---- */

static FILE *open_list(const struct trace_export *x, struct output *out, const char *name, struct err *e)
{
  char path[PATH + 32];
  snprintf(path, sizeof path, "%s/%s", x->dir, name);
  return output_open(out, path, e);
}

struct trace_export *trace_export_new(const char *dir, enum trace_form form, unsigned version,
                                      struct err *e)
{
  if (strlen(dir) >= PATH) return err_fill(e, "%.80s…: the path is too long", dir), NULL;
  if (mkdir(dir, 0777) != 0 && errno != EEXIST)
    return err_fill(e, "%s: %s", dir, host_error()), NULL;
  struct trace_export *x = calloc(1, sizeof *x);
  NO_MEMORY_IF(!x);
  strcpy(x->dir, dir);
  x->form = form;
  x->version = version;
  if (!(x->list = open_list(x, &x->list_file, "kernelslist.g", e)) ||
      !(x->stats = open_list(x, &x->stats_file, "stats.csv", e))) {
    struct err ignored;
    trace_export_free(x, false, &ignored);
    return NULL;
  }
  fprintf(x->stats, "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, "
                    "block_dimX, block_dimY, block_dimZ, #threads, total_insts, "
                    "total_reported_insts\n");
  return x;
}

bool trace_export_copy(struct trace_export *x, uint64_t address, uint64_t bytes, struct err *e)
{
  int n = fprintf(x->list, "MemcpyHtoD,0x%016" PRIx64 ",%" PRIu64 "\n", address, bytes);
  if (n > 0) return true;
  x->failed = true;
  return err_set(e, "%s/kernelslist.g: cannot write: %s", x->dir, host_error());
}

static void end_kernel(struct trace_export *x)
{
  for (size_t i = 0; i < x->live_cap; i++) trace_block_free(x->live[i]);
  for (size_t i = 0; i < x->finished.n; i++) trace_block_free(x->finished.block[i]);
  free(x->live);
  x->live = NULL;
  x->live_cap = x->finished.n = 0;
  arena_free(&x->arena);
  x->arena = (struct arena){0};
}

bool trace_export_begin(struct trace_export *x, const struct trace_launch *l, struct step_tap *tap,
                        struct err *e)
{
  struct trace_header h = {
    .id = ++x->n_kernels, .shared = l->shared, .regs = l->kernel->regs,
    .sm = module_sm(module_of(l->code)), .stream = l->stream, .shared_base = l->shared_window,
    .local_base = l->local_window, .version = x->version,
  };
  memcpy(h.grid, l->grid, sizeof h.grid);
  memcpy(h.block, l->block, sizeof h.block);
  h.name = arena_strdup(&x->arena, l->kernel->name);
  x->header = h;
  x->code = module_code(l->code);
  x->entry = l->kernel->entry_pc;
  x->n_ctas = (uint64_t)h.grid[0] * h.grid[1] * h.grid[2];
  x->next_block = x->insts = 0;
  size_t n = (size_t)code_count(x->code);
  x->parts = ARENA_ARRAY(&x->arena, struct line_parts, n);
  if (!(x->writer = trace_writer_new(x->dir, &x->header, x->form, e))) {
    end_kernel(x);
    x->failed = true;
    return false;
  }
  *tap = (struct step_tap){.ctx = x, .step = on_step, .cta_end = on_cta_end};
  return true;
}

/* Where the next trace is kept until all are written. */
static struct output *sealed_new(struct sealed_traces *s)
{
  if (s->n == s->cap) {
    s->cap = s->cap ? 2 * s->cap : 16;
    s->file = realloc(s->file, s->cap * sizeof *s->file);
    NO_MEMORY_IF(!s->file);
  }
  struct output *o = malloc(sizeof *o);
  NO_MEMORY_IF(!o);
  return s->file[s->n++] = o;
}

bool trace_export_end(struct trace_export *x, struct err *e)
{
  const struct trace_header *h = &x->header;
  fprintf(x->list, "%s\n", trace_writer_name(x->writer));
  fprintf(x->stats, "%s, %s, %u, %u, %u, %" PRIu64 ", %u, %u, %u, %u, %" PRIu64 ",%" PRIu64 "\n",
          trace_writer_name(x->writer), h->name, h->grid[0], h->grid[1], h->grid[2], x->n_ctas,
          h->block[0], h->block[1], h->block[2], h->block[0] * h->block[1] * h->block[2], x->insts,
          x->insts);
  bool ok = trace_writer_finish(x->writer, sealed_new(&x->sealed), e);
  x->failed |= !ok;
  x->writer = NULL;
  end_kernel(x);
  return ok;
}

static bool place(struct output *o, bool ok, struct err *e)
{
  if (ok) return output_place(o, e);
  output_drop(o);
  return false;
}

bool trace_export_free(struct trace_export *x, bool ok, struct err *e)
{
  if (!x) return ok;
  ok = (!x->writer || trace_export_end(x, e)) && ok && !x->failed;
  ok = ok && output_seal(&x->stats_file, true, e) && output_seal(&x->list_file, true, e);
  for (size_t i = 0; i < x->sealed.n; i++) {
    ok = place(x->sealed.file[i], ok, e);
    free(x->sealed.file[i]);
  }
  if (x->stats) ok = place(&x->stats_file, ok, e);
  if (x->list) ok = place(&x->list_file, ok, e); /* last: it says that the rest is there */
  free(x->sealed.file);
  free(x->finished.block);
  free(x);
  return ok;
}
