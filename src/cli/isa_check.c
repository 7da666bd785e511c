#include "cli/isa_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "func/sass/prepare.h"
#include "isa/sass/asm.h"
#include "load/file.h"
#include "load/module.h"

enum { MAX_TARGETS = 32, OPCODES = 1 << 13, INST_BYTES = 16, TEXT = 512, PLACE = 300 };

/* Words that share a failing; where the first was seen. */
struct gap {
  uint64_t words;
  struct word128 sample;
  char *where;
};

/* What was found out about a word, control information but for the reuse bits set aside. */
struct verdict {
  struct word128 word;
  bool known, decoded, same, executable, timed;
  unsigned mnemonic;
};

/* Open addressing; programs repeat most of their words. */
struct verdicts {
  struct verdict *slot;
  size_t n, room; /* room: a power of two */
};

/* Instruction forms seen: mnemonics with all modifiers and kinds of operands, by hash. Open addressing. */
struct forms {
  uint64_t *slot; /* 0: free */
  size_t n, room; /* room: a power of two */
};

struct target_tally {
  unsigned sm, images;
  uint64_t words, decoded, same, executable, timed;
  struct gap undecoded[OPCODES]; /* by opcode */
  struct gap changed[OPCODES];
  struct gap *not_executable; /* by mnemonic */
  struct verdicts seen;
  struct forms forms;
};

struct check {
  struct arena arena;
  unsigned n_targets, failed_files;
  struct target_tally *target[MAX_TARGETS];
};

static struct target_tally *tally_of(struct check *c, unsigned sm)
{
  for (unsigned i = 0; i < c->n_targets; i++)
    if (c->target[i]->sm == sm) return c->target[i];
  if (c->n_targets == MAX_TARGETS) return NULL;
  struct target_tally *t = c->target[c->n_targets++] = ARENA_NEW(&c->arena, struct target_tally);
  t->sm = sm;
  t->not_executable = ARENA_ARRAY(&c->arena, struct gap, sass_mnemonic_count() + 1u);
  return t;
}

static void count_gap(struct check *c, struct gap *g, struct word128 w, const char *file,
                      const struct module_text *text, uint64_t at)
{
  if (g->words++) return;
  char where[PLACE];
  snprintf(where, sizeof where, "%s %s+0x%" PRIx64, file, text->name, at);
  g->sample = w;
  g->where = arena_strdup(&c->arena, where);
}

static bool comes_back(unsigned sm, struct word128 w, uint64_t pc)
{
  char text[TEXT];
  struct err e = {0};
  struct word128 back;
  size_t column;
  const struct sass_asm at = {.sm = sm, .pc = pc};

  return sass_print_exact(sm, w, pc, NULL, text, sizeof text, &e) &&
         sass_assemble(&at, text, &back, &column, &e) && back.lo == w.lo && back.hi == w.hi;
}

static uint64_t *find_form(const struct forms *all, uint64_t hash)
{
  size_t i = (size_t)(hash >> 20);
  while (all->slot[i & (all->room - 1)] && all->slot[i & (all->room - 1)] != hash) i++;
  return &all->slot[i & (all->room - 1)];
}

static void grow_forms(struct arena *a, struct forms *all)
{
  struct forms old = *all;
  if (2 * all->n < all->room) return;
  all->room = old.room ? 2 * old.room : 1 << 8;
  all->slot = ARENA_ARRAY(a, uint64_t, all->room);
  for (size_t i = 0; i < old.room; i++)
    if (old.slot[i]) *find_form(all, old.slot[i]) = old.slot[i];
}

static void count_form(struct arena *a, struct forms *all, const struct sass_inst *s)
{
  char text[TEXT];
  uint64_t hash =
      UINT64_C(0xcbf29ce484222325) ^ (bits_get(s->word, 9, 3) | bits_get(s->word, 91, 1) << 3);

  sass_print_mnemonic(s, text, sizeof text);
  for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  hash = (hash ^ hash >> 32) * UINT64_C(0xff51afd7ed558ccd) | 1;
  grow_forms(a, all);
  uint64_t *slot = find_form(all, hash);
  all->n += !*slot;
  *slot = hash;
}

static struct verdict judge(struct check *c, struct target_tally *t, struct word128 w, uint64_t pc)
{
  struct sass_inst s;
  struct inst timing;
  struct err e = {0};
  struct verdict v = {.known = true};

  v.decoded = sass_decode(t->sm, w, pc, &s, &timing, &e);
  if (!v.decoded) return v;
  v.mnemonic = timing.mnemonic;
  v.executable = func_executes(&s, &timing);
  v.timed = v.executable && sass_is_timed(s.row);
  v.same = comes_back(t->sm, w, pc);
  count_form(&c->arena, &t->forms, &s);
  return v;
}

static struct verdict *find_slot(const struct verdicts *all, struct word128 key)
{
  uint64_t hash = (key.lo ^ (key.hi * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd);
  for (size_t i = (size_t)(hash >> 20);; i++) {
    struct verdict *v = &all->slot[i & (all->room - 1)];
    if (!v->known || (v->word.lo == key.lo && v->word.hi == key.hi)) return v;
  }
}

static void grow(struct arena *a, struct verdicts *all)
{
  struct verdicts old = *all;
  if (2 * all->n < all->room) return;
  all->room = old.room ? 2 * old.room : 1 << 12;
  all->slot = ARENA_ARRAY(a, struct verdict, all->room);
  for (size_t i = 0; i < old.room; i++)
    if (old.slot[i].known) *find_slot(all, old.slot[i].word) = old.slot[i];
}

static struct verdict verdict_on(struct check *c, struct target_tally *t, struct word128 w,
                                 uint64_t pc)
{
  struct word128 key = w;
  key.hi &= ~(bits_ones(17) << (105 - 64)); /* stall, yield, counters */
  grow(&c->arena, &t->seen);
  struct verdict *v = find_slot(&t->seen, key);
  if (v->known) return *v;
  *v = judge(c, t, w, pc);
  v->word = key;
  t->seen.n++;
  return *v;
}

static void check_word(struct check *c, struct target_tally *t, const char *file,
                       const struct module_text *text, uint64_t at)
{
  struct word128 w;

  memcpy(&w, text->data + at, sizeof w);
  unsigned opcode = (unsigned)(bits_get(w, 0, 12) | bits_get(w, 91, 1) << 12);
  struct verdict v = verdict_on(c, t, w, at);
  t->words++;
  t->decoded += v.decoded;
  t->same += v.same;
  t->executable += v.executable;
  t->timed += v.timed;
  if (!v.decoded) {
    count_gap(c, &t->undecoded[opcode], w, file, text, at);
    return;
  }
  if (!v.executable) count_gap(c, &t->not_executable[v.mnemonic], w, file, text, at);
  if (!v.same) count_gap(c, &t->changed[opcode], w, file, text, at);
}

static bool check_image(struct check *c, const struct code_file *f, unsigned i, const char *file,
                        struct err *e)
{
  struct module *m = code_file_load_image(f, i, e);
  if (!m) return false;
  struct target_tally *t = tally_of(c, module_sm(m));
  struct module_text text;
  uint32_t cursor = 0;
  if (t) t->images++;
  while (t && module_next_text(m, &cursor, &text))
    for (uint64_t at = 0; at < text.bytes; at += INST_BYTES) check_word(c, t, file, &text, at);
  struct module_instance *in = module_instantiate(m, NULL, e);
  module_instance_free(in);
  module_free(m);
  return in != NULL;
}

static void check_file(struct check *c, const char *file)
{
  struct err e = {0};
  struct code_file *f = code_file_open(file, &e);
  bool ok = f != NULL;
  for (unsigned i = 0; f && i < code_file_count(f); i++)
    if (!code_file_image(f, i)->ptx && !check_image(c, f, i, file, &e)) ok = false;
  code_file_free(f);
  if (ok) return;
  c->failed_files++;
  printf("does not load: %s\n", e.msg);
}

/* Rounded down, so that 100 means all. */
static void print_share(const char *what, uint64_t part, uint64_t all)
{
  uint64_t e4 = all ? part * 1000000 / all : 1000000;
  printf("  %" PRIu64 ".%04" PRIu64 " %% %s", e4 / 10000, e4 % 10000, what);
}

static void print_gap(const char *what, const char *name, const struct gap *g, const char *why)
{
  if (g->words)
    printf("  %s %s: %" PRIu64 " words, first %016" PRIx64 "%016" PRIx64 " %s%s%s\n", what, name,
           g->words, g->sample.hi, g->sample.lo, g->where, why ? ": " : "", why ? why : "");
}

static void print_target(const struct target_tally *t)
{
  printf("sm_%u: %u images, %" PRIu64 " words, %zu of them different, %zu forms\n", t->sm,
         t->images, t->words, t->seen.n, t->forms.n);
  print_share("decoded", t->decoded, t->words);
  print_share("identical through text", t->same, t->words);
  print_share("executable", t->executable, t->words);
  print_share("timed\n", t->timed, t->words);
  for (unsigned i = 0; i < OPCODES; i++) {
    char opcode[16];
    snprintf(opcode, sizeof opcode, "0x%04x", i);
    print_gap("not decoded", opcode, &t->undecoded[i], NULL);
    print_gap("changed by text", opcode, &t->changed[i], NULL);
  }
  for (unsigned i = 0; i < sass_mnemonic_count(); i++)
    print_gap("not executable", sass_mnemonic(i), &t->not_executable[i],
              sass_why_not_executed(sass_mnemonic(i)));
}

static int by_sm(const void *a, const void *b)
{
  const struct target_tally *const *x = a, *const *y = b;
  return (*x)->sm < (*y)->sm ? -1 : (*x)->sm > (*y)->sm;
}

int isa_check(int n, char **files)
{
  struct check c = {0};
  bool perfect = true;

  for (int i = 0; i < n; i++) check_file(&c, files[i]);
  qsort(c.target, c.n_targets, sizeof c.target[0], by_sm);
  for (unsigned i = 0; i < c.n_targets; i++) {
    const struct target_tally *t = c.target[i];
    print_target(t);
    perfect = perfect && t->decoded == t->words && t->same == t->words;
  }
  perfect = perfect && c.failed_files == 0;
  arena_free(&c.arena);
  return perfect ? CLI_OK : CLI_MISMATCH;
}
