/* Every symbol that is not local becomes an entry of one list, sorted by name and best definition
 * first: the first of a name is what all others of it mean. */
#include "load/link.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/load_internal.h"

enum { NAME_LIMIT = 120 }; /* characters of file names in an error line */

enum rank { STRONG, WEAK, NEEDED, WANTED }; /* definitions, then uses (weak uses may stay open) */

struct name {
  const char *name;
  uint32_t object, symbol;
  enum rank rank;
};

/* What becomes of one object. */
struct joined_part {
  uint32_t *section;          /* per section: number in out, 0 when dropped */
  bool *dropped;              /* per section */
  uint32_t *symbol;           /* per symbol: number in out, 0 when dropped */
  uint32_t *own;              /* the same; 0 for what another object defines better, too */
  struct elf_numbers numbers, own_numbers; /* for its sections */
};

struct linker {
  struct elf_file *out;
  struct arena *arena;
  const struct link_object *object;
  unsigned n;
  struct joined_part *part;
  struct name *name;
  size_t n_names;
  struct err *e;
};

static const struct elf_symbol *symbol_of(const struct linker *l, const struct name *n)
{
  return &l->object[n->object].elf.symbol[n->symbol];
}

static const char *file_of(const struct linker *l, const struct name *n)
{
  return l->object[n->object].name;
}

/* Names ----------------------------------------------------------------------------------- */

static enum rank rank_of(const struct elf_symbol *y)
{
  if (y->section == SHN_UNDEF) return y->bind == STB_WEAK ? WANTED : NEEDED;
  return y->bind == STB_WEAK ? WEAK : STRONG;
}

static int by_name(const void *a, const void *b)
{
  const struct name *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  if (order) return order;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  if (x->object != y->object) return x->object < y->object ? -1 : 1;
  return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

static void list_names(struct linker *l)
{
  size_t n = 0;
  for (unsigned o = 0; o < l->n; o++) n += l->object[o].elf.n_symbols;
  l->name = ARENA_ARRAY(l->arena, struct name, n + 1);
  for (uint32_t o = 0; o < l->n; o++)
    for (uint32_t i = 1; i < l->object[o].elf.n_symbols; i++) {
      const struct elf_symbol *y = &l->object[o].elf.symbol[i];
      if (y->bind != STB_LOCAL)
        l->name[l->n_names++] = (struct name){ y->name, o, i, rank_of(y) };
    }
  qsort(l->name, l->n_names, sizeof l->name[0], by_name);
}

/* What a name stands for; NULL: the use does not say. */
static const char *kind_of(const struct elf_symbol *y)
{
  if (y->type == STT_FUNC) return "function";
  return object_is_variable(y) ? object_memory(y) : NULL;
}

/* What else the files say of a name agrees with its best definition `first`. */
static bool check_same(const struct linker *l, const struct name *first, const struct name *n)
{
  const struct elf_symbol *a = symbol_of(l, first), *b = symbol_of(l, n);
  const char *ka = kind_of(a), *kb = kind_of(b);
  if (first->rank == STRONG && n->rank == STRONG)
    return err_set(l->e, "%.100s: '%.150s' is defined in %.100s, too; remove one of them",
                   file_of(l, n), n->name, file_of(l, first));
  if (ka && kb && strcmp(ka, kb) != 0)
    return err_set(l->e, "%.100s: '%.100s' is a %s, and a %s in %.100s; declare it alike",
                   file_of(l, n), n->name, kb, ka, file_of(l, first));
  if (object_is_variable(a) && object_is_variable(b) && !object_is_shared(a) && a->size &&
      b->size && a->size != b->size)
    return err_set(l->e, "%.100s: '%.100s' has %llu bytes, and %llu in %.100s; declare it alike",
                   file_of(l, n), n->name, (unsigned long long)b->size,
                   (unsigned long long)a->size, file_of(l, first));
  return true;
}

static bool may_stay_open(const struct linker *l, const struct name *n)
{
  unsigned service;
  return n->rank == WANTED || object_is_shared(symbol_of(l, n)) || load_service(n->name, &service);
}

static bool check_defined(const struct linker *l, const struct name *first)
{
  if (first->rank <= WEAK || may_stay_open(l, first)) return true;
  return err_set(l->e, "%.150s: needs '%.200s', which no object has; give the object that has it, "
                 "too", file_of(l, first), first->name);
}

/* Code of a function that another definition replaces. */
static void drop_code(struct linker *l, const struct name *n)
{
  const struct elf_symbol *y = symbol_of(l, n);
  const struct elf_file *f = &l->object[n->object].elf;
  if (n->rank != WEAK || y->type != STT_FUNC || y->section >= f->n_sections) return;
  l->part[n->object].dropped[y->section] = true;
}

static bool check_names(struct linker *l)
{
  const struct name *first = NULL;
  for (size_t i = 0; i < l->n_names; i++) {
    const struct name *n = &l->name[i];
    if (!first || strcmp(first->name, n->name) != 0) {
      first = n;
      TRY(check_defined(l, first));
    } else {
      TRY(check_same(l, first, n));
      drop_code(l, n);
    }
  }
  return true;
}

/* Sections and symbols ---------------------------------------------------------------------- */

/* sh_info of code holds registers, of all others that are loaded the section they belong to. */
static bool is_code(const struct elf_section *s)
{
  return strncmp(s->name, ".text.", 6) == 0;
}

/* With a function go its constants and information, and the relocations of those. */
static void drop_belongings(const struct linker *l, unsigned o)
{
  const struct elf_file *f = &l->object[o].elf;
  struct joined_part *p = &l->part[o];
  for (unsigned step = 0; step < 2; step++)
    for (uint32_t i = 1; i < f->n_sections; i++) {
      const struct elf_section *s = &f->section[i];
      if (!is_code(s) && s->info && s->info < f->n_sections && p->dropped[s->info])
        p->dropped[i] = true;
    }
}

static void join_sections(struct linker *l, unsigned o)
{
  const struct elf_file *f = &l->object[o].elf;
  struct joined_part *p = &l->part[o];
  uint32_t first = l->out->n_sections;
  for (uint32_t i = 1; i < f->n_sections; i++) {
    if (p->dropped[i]) continue;
    p->section[i] = l->out->n_sections;
    l->out->section[l->out->n_sections] = f->section[i];
    /* What .nv.info says of a function that was dropped is not true of the other one. */
    bool info = strcmp(f->section[i].name, ".nv.info") == 0;
    l->out->section[l->out->n_sections++].numbers = info ? &p->own_numbers : &p->numbers;
  }
  for (uint32_t i = first; i < l->out->n_sections; i++) {
    struct elf_section *s = &l->out->section[i];
    if (!is_code(s)) s->info = s->info < f->n_sections ? p->section[s->info] : 0;
    s->link = s->link < f->n_sections ? p->section[s->link] : 0;
  }
}

static uint32_t add_symbol(struct linker *l, unsigned o, uint32_t i)
{
  const struct elf_file *f = &l->object[o].elf;
  struct elf_symbol y = f->symbol[i];
  if (y.section && y.section < f->n_sections) {
    y.section = l->part[o].section[y.section];
    if (y.section == 0) return 0;
  }
  l->out->symbol[l->out->n_symbols] = y;
  return l->out->n_symbols++;
}

static void join_symbols(struct linker *l)
{
  for (unsigned o = 0; o < l->n; o++)
    for (uint32_t i = 1; i < l->object[o].elf.n_symbols; i++)
      if (l->object[o].elf.symbol[i].bind == STB_LOCAL)
        l->part[o].own[i] = l->part[o].symbol[i] = add_symbol(l, o, i);
  const struct name *first = NULL;
  uint32_t number = 0;
  for (size_t i = 0; i < l->n_names; i++) {
    const struct name *n = &l->name[i];
    if (!first || strcmp(first->name, n->name) != 0) {
      first = n;
      number = add_symbol(l, n->object, n->symbol);
    }
    l->part[n->object].symbol[n->symbol] = number;
    l->part[n->object].own[n->symbol] = n == first ? number : 0;
  }
}

static void make_parts(struct linker *l)
{
  uint64_t sections = 1, symbols = 1;
  l->part = ARENA_ARRAY(l->arena, struct joined_part, l->n);
  for (unsigned o = 0; o < l->n; o++) {
    const struct elf_file *f = &l->object[o].elf;
    struct joined_part *p = &l->part[o];
    p->section = ARENA_ARRAY(l->arena, uint32_t, f->n_sections);
    p->dropped = ARENA_ARRAY(l->arena, bool, f->n_sections);
    p->symbol = ARENA_ARRAY(l->arena, uint32_t, f->n_symbols);
    p->own = ARENA_ARRAY(l->arena, uint32_t, f->n_symbols);
    p->numbers = (struct elf_numbers){ f->n_symbols, p->symbol };
    p->own_numbers = (struct elf_numbers){ f->n_symbols, p->own };
    sections += f->n_sections;
    symbols += f->n_symbols;
  }
  l->out->section = ARENA_ARRAY(l->arena, struct elf_section, sections);
  l->out->symbol = ARENA_ARRAY(l->arena, struct elf_symbol, symbols);
  l->out->section[0] = l->object[0].elf.section[0];
  l->out->symbol[0] = (struct elf_symbol){ .name = "" };
  l->out->n_sections = l->out->n_symbols = 1;
}

/* Interface --------------------------------------------------------------------------------- */

static bool check_objects(const struct linker *l)
{
  uint64_t sections = 1;
  for (unsigned o = 0; o < l->n; o++) {
    const struct elf_file *f = &l->object[o].elf;
    if (!f->relocatable)
      return err_set(l->e, "%.200s: is linked already; give it alone, or compile it with nvcc "
                     "-rdc=true", l->object[o].name);
    if (f->sm != l->object[0].elf.sm)
      return err_set(l->e, "%.200s: compiled for sm_%u, and %.100s for sm_%u; compile all for one "
                     "target", l->object[o].name, f->sm, l->object[0].name, l->object[0].elf.sm);
    sections += f->n_sections;
  }
  /* Larger numbers mean absolute, common … in symbols. */
  return sections < SHN_LORESERVE ||
         err_set(l->e, "%.200s …: more than %d sections; link fewer objects", l->object[0].name,
                 SHN_LORESERVE);
}

bool link_objects(struct elf_file *out, struct arena *a, const struct link_object *object, unsigned n,
                  struct err *e)
{
  struct linker l = { .out = out, .arena = a, .object = object, .n = n, .e = e };
  if (n == 1) {
    *out = object[0].elf;
    return true;
  }
  TRY(check_objects(&l));
  *out = (struct elf_file){ .sm = object[0].elf.sm, .relocatable = true };
  make_parts(&l);
  list_names(&l);
  TRY(check_names(&l));
  for (unsigned o = 0; o < n; o++) {
    drop_belongings(&l, o);
    join_sections(&l, o);
  }
  join_symbols(&l);
  return true;
}

const char *link_name(struct arena *a, const struct link_object *object, unsigned n)
{
  size_t size = strlen(object[0].name) + NAME_LIMIT, used = 0;
  char *name = arena_alloc(a, size, 1);
  for (unsigned i = 0; i < n; i++) {
    size_t more = strlen(object[i].name) + 2;
    if (i && used + more + 24 > NAME_LIMIT) {
      snprintf(name + used, size - used, " and %u more", n - i);
      break;
    }
    used += (size_t)snprintf(name + used, size - used, "%s%s", i ? ", " : "", object[i].name);
  }
  return name;
}
