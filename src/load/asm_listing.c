/* A module as an assembler file. Everything comes from the sections as they are in the file, before
 * relocation, so that assembling gives the same bytes. */
#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "isa/sass/asm.h"
#include "load/asm_source.h"
#include "load/load_internal.h"

enum { LINE_TEXT = 512, REGCOUNT = 0x2f, FRAME_SIZE = 0x11, MIN_STACK = 0x12 };

struct listing {
  const struct module *m;
  FILE *out;
  struct err *e;
};

static struct word128 word_at(const struct elf_section *s, uint64_t at)
{
  return (struct word128){elf_u64(s->data + at), elf_u64(s->data + at + 8)};
}

/* Number that .nv.info states for a function: attribute -> false when it does not. */
static bool function_number(const struct listing *l, uint32_t symbol, unsigned attribute,
                            uint32_t *v)
{
  const struct elf_section *s = NULL;
  for (uint32_t i = 1; i < l->m->elf.n_sections; i++)
    if (strcmp(l->m->elf.section[i].name, ".nv.info") == 0) s = &l->m->elf.section[i];
  if (!s || !s->data) return false;
  for (uint64_t at = 0; at + 4 <= s->size;) {
    const uint8_t *p = s->data + at;
    uint16_t n = p[0] == 4 ? elf_u16(p + 2) : 0;
    if (n == 8 && at + 12 <= s->size && p[1] == attribute && elf_u32(p + 4) == symbol) {
      *v = elf_u32(p + 8);
      return true;
    }
    at += 4 + ((n + 3u) & ~3u);
  }
  return false;
}

static void put_function_numbers(const struct listing *l, uint32_t symbol)
{
  uint32_t v;
  if (function_number(l, symbol, REGCOUNT, &v)) fprintf(l->out, ".regs %u\n", v);
  if (function_number(l, symbol, FRAME_SIZE, &v)) fprintf(l->out, ".frame %u\n", v);
  if (function_number(l, symbol, MIN_STACK, &v) && v != UINT32_MAX)
    fprintf(l->out, ".stack %u\n", v);
}

static void put_triple(const struct listing *l, const char *name, const uint32_t v[3])
{
  if (v[0]) fprintf(l->out, ".%s %u, %u, %u\n", name, v[0], v[1], v[2]);
}

static const char *bind_name(const struct elf_symbol *y)
{
  return y->bind == STB_LOCAL ? "local" : y->bind == STB_WEAK ? "weak" : "global";
}

static void put_kernel(const struct listing *l, const struct module_kernel *k, uint32_t symbol)
{
  fprintf(l->out, "\n.kernel %s\n", k->name);
  put_function_numbers(l, symbol);
  for (unsigned i = 0; i < k->n_params; i++)
    fprintf(l->out, ".param %u, 0x%x\n", k->param[i].bytes, k->param[i].offset);
  uint32_t shared = k->shared_reserved + k->shared_static;
  if (shared) fprintf(l->out, ".shared %u\n", shared);
  if (k->barriers) fprintf(l->out, ".barriers %u\n", k->barriers);
  put_triple(l, "maxntid", k->max_threads);
  put_triple(l, "reqntid", k->req_threads);
  put_triple(l, "cluster", k->cluster);
  if (k->explicit_cluster) fprintf(l->out, ".explicit_cluster\n");
  if (k->tile) fprintf(l->out, ".tile\n");
}

static void put_relocs(const struct listing *l, uint32_t section, uint64_t from, uint64_t to)
{
  for (unsigned i = 0; i < l->m->n_relocs; i++) {
    const struct module_reloc *r = &l->m->reloc[i];
    if (r->section != section || r->offset < from || r->offset >= to) continue;
    fprintf(l->out, "  .reloc %u, %s", r->row->type, l->m->elf.symbol[r->symbol].name);
    if (r->addend) fprintf(l->out, ", 0x%" PRIx64, (uint64_t)r->addend);
    fprintf(l->out, "\n");
  }
}

/* Symbols that start here; a kernel's own was written as .kernel. */
static void put_symbols(const struct listing *l, uint32_t section, uint64_t at)
{
  for (uint32_t i = 1; i < l->m->elf.n_symbols; i++) {
    const struct elf_symbol *y = &l->m->elf.symbol[i];
    if (y->section != section || y->value != at) continue;
    if (y->type == STT_OBJECT) {
      fprintf(l->out, ".object %s, %" PRIu64 ", %s\n", y->name, y->size, bind_name(y));
    } else if (y->type == STT_FUNC && !(y->other & 0x10)) {
      fprintf(l->out, ".function %s, %" PRIu64 ", %s\n", y->name, y->size, bind_name(y));
      put_function_numbers(l, i);
    }
  }
}

/* ---- code ---- */

/* Which instructions are targets; labels are named by their offset. */
static bool *find_targets(const struct listing *l, struct arena *a, const struct elf_section *s)
{
  bool *is_target = ARENA_ARRAY(a, bool, s->size / INST_BYTES + 1);
  for (uint64_t pc = 0; pc < s->size; pc += INST_BYTES) {
    uint64_t target;
    if (sass_branch_target(l->m->elf.sm, word_at(s, pc), pc, &target) && target < s->size &&
        target % INST_BYTES == 0)
      is_target[target / INST_BYTES] = true;
  }
  return is_target;
}

static bool put_code_lines(const struct listing *l, uint32_t section, const bool *is_target)
{
  const struct elf_section *s = &l->m->elf.section[section];
  for (uint64_t pc = 0; pc < s->size; pc += INST_BYTES) {
    char text[LINE_TEXT], label[32];
    uint64_t target;
    struct err why = {0};
    struct word128 w = word_at(s, pc);
    bool branch = sass_branch_target(l->m->elf.sm, w, pc, &target) && target < s->size &&
                  target % INST_BYTES == 0;
    snprintf(label, sizeof label, "L_%04" PRIx64, branch ? target : 0);
    put_symbols(l, section, pc);
    if (is_target[pc / INST_BYTES]) fprintf(l->out, "L_%04" PRIx64 ":\n", pc);
    put_relocs(l, section, pc, pc + INST_BYTES);
    if (!sass_print_exact(l->m->elf.sm, w, pc, branch ? label : NULL, text, sizeof text, &why))
      return err_set(l->e, "%s: %.100s+0x%" PRIx64 ": %.300s", l->m->name, s->name, pc, why.msg);
    fprintf(l->out, "  %s\n", text);
  }
  return true;
}

static bool put_code(const struct listing *l, uint32_t section)
{
  const struct elf_section *s = &l->m->elf.section[section];
  struct arena a = {0};
  int32_t k = module_kernel_of_text(l->m, section);
  for (uint32_t i = 1; k != ALL_KERNELS && i < l->m->elf.n_symbols; i++) {
    const struct elf_symbol *y = &l->m->elf.symbol[i];
    if (y->section == section && y->type == STT_FUNC && y->other & 0x10)
      put_kernel(l, &l->m->kernel[k], i);
  }
  if (k == ALL_KERNELS)
    fprintf(l->out, "\n.section %s, align %" PRIu64 "\n", s->name, s->align);
  bool ok = put_code_lines(l, section, find_targets(l, &a, s));
  arena_free(&a);
  return ok;
}

/* ---- data ---- */

static uint64_t next_stop(const struct listing *l, uint32_t section, uint64_t at, uint64_t end)
{
  for (uint32_t i = 1; i < l->m->elf.n_symbols; i++) {
    const struct elf_symbol *y = &l->m->elf.symbol[i];
    if (y->section == section && y->value > at && y->value < end) end = y->value;
  }
  for (unsigned i = 0; i < l->m->n_relocs; i++) {
    const struct module_reloc *r = &l->m->reloc[i];
    if (r->section == section && r->offset > at && r->offset < end) end = r->offset;
  }
  return end;
}

static void put_bytes(const struct listing *l, const uint8_t *p, uint64_t n)
{
  unsigned unit = n % 4 ? 1 : 4;
  for (uint64_t i = 0; i < n; i += unit) {
    bool first = i % (unit == 4 ? 16 : 12) == 0;
    if (first) fprintf(l->out, "%s  .%s ", i ? "\n" : "", unit == 4 ? "word" : "byte");
    else fprintf(l->out, ", ");
    fprintf(l->out, unit == 4 ? "0x%08x" : "0x%02x", unit == 4 ? elf_u32(p + i) : p[i]);
  }
  fprintf(l->out, "\n");
}

static void put_data(const struct listing *l, uint32_t section)
{
  const struct elf_section *s = &l->m->elf.section[section];
  fprintf(l->out, "\n.section %s, align %" PRIu64 "%s\n", s->name, s->align,
          s->data ? "" : ", nobits");
  for (uint64_t at = 0; at < s->size;) {
    uint64_t end = next_stop(l, section, at, s->size);
    put_symbols(l, section, at);
    put_relocs(l, section, at, at + 1);
    if (s->data) put_bytes(l, s->data + at, end - at);
    else fprintf(l->out, "  .zero %" PRIu64 "\n", end - at);
    at = end;
  }
}

bool asm_source_write(const struct module *m, FILE *out, struct err *e)
{
  struct listing l = {m, out, e};
  if (m->elf.relocatable)
    return err_set(e, "%s: an object that is not linked has no assembler form; link it first",
                   m->name);
  fprintf(out, ".target sm_%u\n", m->elf.sm);
  for (uint32_t i = 1; i < m->elf.n_sections; i++)
    if (m->place[i].kind == PLACE_TEXT) TRY(put_code(&l, i));
  for (uint32_t i = 1; i < m->elf.n_sections; i++)
    if (m->place[i].kind == PLACE_BANK || m->place[i].kind == PLACE_GLOBAL) put_data(&l, i);
  return true;
}
