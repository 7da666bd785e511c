#include "load/live_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "load/load_internal.h"

/* .nv.info records (nvinfo.c). The payload of this one: for each branch through a register its offset in the code
 * section, four bytes 0, the number of targets, their offsets (compiler output, CUDA 13.0). */
enum { ATTR_INDIRECT_BRANCH_TARGETS = 0x34, FORMAT_SIZED = 4, RECORD_BYTES = 4, WORD = 4, HEAD_WORDS = 3 };

struct table {
  uint64_t pc;
  struct live_list to;
};

struct tables {
  struct arena *arena;
  struct table *list;
  uint32_t n, room;
};

/* ---- branches through registers ---- */

static void put_table(struct tables *t, uint64_t base, const uint8_t *p, uint32_t n)
{
  uint64_t *to = ARENA_ARRAY(t->arena, uint64_t, n + 1);
  for (uint32_t i = 0; i < n; i++) to[i] = base + elf_u32(p + (HEAD_WORDS + i) * WORD);
  t->list = arena_more(t->arena, t->list, t->n, &t->room, sizeof *t->list);
  t->list[t->n++] = (struct table){base + elf_u32(p), {to, n}};
}

static void read_payload(struct tables *t, uint64_t base, const uint8_t *p, uint32_t bytes)
{
  while (bytes >= HEAD_WORDS * WORD) {
    uint32_t n = elf_u32(p + 2 * WORD), left = bytes / WORD - HEAD_WORDS;
    if (n > left) return;
    put_table(t, base, p, n);
    p += (HEAD_WORDS + n) * WORD;
    bytes -= (HEAD_WORDS + n) * WORD;
  }
}

/* The loader has checked the records of kernels, not those of functions: what is cut off is left out. */
static void read_records(struct tables *t, const struct elf_section *s, uint64_t base)
{
  for (uint64_t at = 0; s->data && s->size - at >= RECORD_BYTES;) {
    const uint8_t *p = s->data + at;
    uint32_t bytes = elf_u16(p + 2), padded = (bytes + 3) & ~3u;
    at += RECORD_BYTES;
    if (p[0] != FORMAT_SIZED) continue;
    if (s->size - at < padded) return;
    if (p[1] == ATTR_INDIRECT_BRANCH_TARGETS) read_payload(t, base, p + RECORD_BYTES, bytes);
    at += padded;
  }
}

static int by_pc(const void *a, const void *b)
{
  const struct table *x = a, *y = b;
  return (x->pc > y->pc) - (x->pc < y->pc);
}

static void read_tables(const struct module *m, struct tables *t)
{
  static const char prefix[] = ".nv.info.";
  for (uint32_t i = 1; i < m->elf.n_sections; i++) {
    const struct elf_section *s = &m->elf.section[i];
    if (strncmp(s->name, prefix, sizeof prefix - 1) || s->info >= m->elf.n_sections ||
        m->place[s->info].kind != PLACE_TEXT)
      continue;
    read_records(t, s, m->place[s->info].offset);
  }
  if (t->n) qsort(t->list, t->n, sizeof *t->list, by_pc);
}

static struct live_list targets(const void *context, uint64_t pc)
{
  const struct tables *t = context;
  struct table key = {.pc = pc}, *found = t->n ? bsearch(&key, t->list, t->n, sizeof key, by_pc) : NULL;
  return found ? found->to : (struct live_list){0};
}

/* ---- functions whose address is taken ---- */

/* Addresses of places inside functions are those that calls return to. */
static bool starts_function(const struct module *m, uint64_t pc)
{
  unsigned lo = 0, hi = m->n_functions;
  while (lo < hi) {
    unsigned mid = (lo + hi) / 2;
    if (m->function[mid].pc < pc) lo = mid + 1;
    else hi = mid;
  }
  return lo < m->n_functions && m->function[lo].pc == pc;
}

/* Targets of calls, and kernels that are to be launched (reloc.c). */
static bool is_no_pointer(const struct reloc_row *r)
{
  return strstr(r->what, "call target") || strstr(r->what, "descriptor");
}

static struct live_list taken_functions(const struct module *m, struct arena *a)
{
  uint64_t *pc = ARENA_ARRAY(a, uint64_t, m->n_relocs + 1);
  struct live_list l = {.pc = pc};
  for (unsigned i = 0; i < m->n_relocs; i++) {
    const struct module_reloc *r = &m->reloc[i];
    const struct elf_symbol *y = &m->elf.symbol[r->symbol];
    if (r->row->value != RELOC_ADDRESS || is_no_pointer(r->row) || y->section >= m->elf.n_sections ||
        m->place[y->section].kind != PLACE_TEXT)
      continue;
    uint64_t at = m->place[y->section].offset + y->value + (uint64_t)r->addend;
    if (starts_function(m, at) && (!l.n || pc[l.n - 1] != at)) pc[l.n++] = at;
  }
  return l;
}

bool module_live_registers(const struct module *m, const struct code_view *code, struct live_count *count)
{
  struct arena a = {0};
  struct tables t = {.arena = &a};
  code_want_all(code);
  read_tables(m, &t);
  struct live_program p = {.taken = taken_functions(m, &a), .targets = targets, .context = &t};
  bool known = live_registers(code, &p, count);
  arena_free(&a);
  return known;
}
