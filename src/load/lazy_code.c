#include "load/lazy_code.h"

#include <elf.h>
#include <pthread.h>
#include <string.h>

#include "base/host_memory.h"
#include "isa/sass/constant_fields.h"
#include "isa/sass/sass.h"
#include "isa/sass/sass_isa.h"

enum { INST_SHIFT = 4, BANK0_WORDS = (64 << 10) / 4, SERVICE_SPANS = 2 /* before all parts, behind them */ };
_Static_assert(1 << INST_SHIFT == INST_BYTES, "size of an instruction");

/* How code names a word of bank 0: as an operand, as the offset of a load, as a number that it moves to a register. */
enum { NAMED_OPERAND, NAMED_LOAD, NAMED_NUMBER, NAMED__N };

/* Instructions [first, first + n) of a code section; up to `end` there are none. */
struct code_part {
  uint64_t first, n, end;
  int32_t kernel; /* whose it is, or ALL_KERNELS */
  bool there;     /* decoded */
};

/* A function of the device runtime in the file. */
struct replaced {
  uint64_t index;
  unsigned service;
};

struct kernel_code {
  struct code_part *part;
  bool known, moves_stack; /* known: its part has been looked at */
  uint16_t most_regs;
};

struct lazy_code {
  struct code_rest rest; /* first */
  pthread_mutex_t lock;
  const struct module *module;
  struct sass_decoder *decoder;
  const uint8_t *text;
  struct code_view view;
  struct inst *inst;     /* pc 0: not decoded */
  struct sass_inst *sass;
  struct code_part *part; /* in order of address */
  uint32_t n_parts, n_replaced, n_shared;
  struct replaced *replaced;
  struct code_span *shared;   /* services, then parts that are no kernel's */
  struct kernel_code *kernel;
  bool shared_there, shared_moves_stack, all_there, searched;
  uint64_t bank0[NAMED__N][BANK0_WORDS / 64]; /* bit w: word w of bank 0 is named so */
};

/* Instructions ----------------------------------------------------------------------------- */

static const struct inst no_inst = {
  .ctrl = { .stall = 1, .write_sb = SB_NONE, .read_sb = SB_NONE },
  .pipe = PIPE_BRANCH, .lat = LAT_BRANCH, .guard = SASS_PT, .bytes = INST_BYTES, .next = INST_BYTES,
};

static const struct sass_inst no_sass = {
  .dst = SASS_RZ, .udst = SASS_URZ, .ua = SASS_URZ, .pu = SASS_PT, .pv = SASS_PT,
  .guard = { .index = SASS_PT }, .pp = { .index = SASS_PT }, .pq = { .index = SASS_PT },
  .pr = { .index = SASS_PT },
};

static uint64_t pc_of(uint64_t i)
{
  return MODULE_CODE_BASE + (i << INST_SHIFT);
}

static uint64_t index_of(uint64_t pc)
{
  return (pc - MODULE_CODE_BASE) >> INST_SHIFT;
}

static void make_service(uint64_t i, unsigned number, struct sass_inst *s, struct inst *t)
{
  *t = no_inst;
  t->pc = pc_of(i);
  t->flags = INST_SYSCALL | INST_BRANCH; /* returns to its caller */
  *s = no_sass;
  s->sem = SEM_SYSCALL;
  s->src[0] = (struct sass_src){ .kind = SRC_IMM, .index = SASS_RZ, .imm = number };
}

static void make_gap(uint64_t i, struct sass_inst *s, struct inst *t)
{
  *t = no_inst;
  t->pc = pc_of(i);
  t->flags = INST_UNDECODED;
  *s = no_sass;
}

static struct word128 word_of(const struct lazy_code *z, uint64_t i)
{
  struct word128 w;
  memcpy(&w, z->text + (i << INST_SHIFT), sizeof w);
  return w;
}

/* A word without a row is an error when it is executed, not before. */
static void make_decoded(const struct lazy_code *z, uint64_t i, struct sass_inst *s, struct inst *t)
{
  const struct word128 w = word_of(z, i);
  if (sass_decoder_decode(z->decoder, w, pc_of(i), s, t, NULL)) return;
  t->pc = pc_of(i);
  t->flags |= INST_UNDECODED;
  s->row = NULL;
  s->word = w;
}

/* The service in the place of the file's function; NULL: there is none. Of several names the last counts. */
static const struct replaced *replacement(const struct lazy_code *z, uint64_t i)
{
  for (uint32_t k = z->n_replaced; k--;)
    if (z->replaced[k].index == i) return &z->replaced[k];
  return NULL;
}

static void make(const struct lazy_code *z, const struct code_part *p, uint64_t i, struct sass_inst *s, struct inst *t)
{
  const struct replaced *r = replacement(z, i);
  if (r) make_service(i, r->service, s, t);
  else if (i < p->first + p->n) make_decoded(z, i, s, t);
  else make_gap(i, s, t);
}

/* Parts ------------------------------------------------------------------------------------ */

/* Who finds the pc finds everything else, without the lock. */
static void publish(const struct lazy_code *z, uint64_t i, const struct sass_inst *s, const struct inst *t)
{
  struct inst *const to = &z->inst[i];
  _Static_assert(offsetof(struct inst, pc) == 0, "what is written first lies behind the pc");
  z->sass[i] = *s;
  memcpy((uint8_t *)to + sizeof to->pc, (const uint8_t *)t + sizeof t->pc, sizeof *t - sizeof t->pc);
  __atomic_store_n(&to->pc, t->pc, __ATOMIC_RELEASE);
}

static void decode_part(struct lazy_code *z, struct code_part *p)
{
  struct sass_inst s;
  struct inst t;
  for (uint64_t i = p->first; i < p->end && !p->there; i++) {
    make(z, p, i, &s, &t);
    publish(z, i, &s, &t);
  }
  p->there = true;
}

static bool adjusts_r1(const struct inst *t)
{
  bool to = false, from = false;
  for (unsigned i = 0; i < t->n_dst; i++) to |= t->dst[i].file == FILE_R && t->dst[i].index == 1;
  for (unsigned i = 0; i < t->n_src; i++) from |= t->src[i].file == FILE_R && t->src[i].index == 1;
  return to && from && t->mem.space == MEM_NONE;
}

static bool part_moves_stack(const struct lazy_code *z, const struct code_part *p)
{
  for (uint64_t i = p->first; i < p->first + p->n; i++)
    if (adjusts_r1(&z->inst[i])) return true;
  return false;
}

/* Parts that any kernel may call. */
static void want_shared(struct lazy_code *z)
{
  if (z->shared_there) return;
  for (uint32_t k = 0; k < z->n_parts; k++) {
    if (z->part[k].kernel != ALL_KERNELS) continue;
    decode_part(z, &z->part[k]);
    z->shared_moves_stack |= part_moves_stack(z, &z->part[k]);
  }
  z->shared_there = true;
}

/* A kernel, decoded and looked at, with what it may call. */
static const struct kernel_code *want_kernel(struct lazy_code *z, unsigned kernel)
{
  struct kernel_code *k = &z->kernel[kernel];
  want_shared(z);
  if (k->known) return k;
  decode_part(z, k->part);
  k->moves_stack = z->shared_moves_stack || part_moves_stack(z, k->part);
  k->most_regs = (uint16_t)z->module->kernel[kernel].regs;
  for (uint64_t i = k->part->first; i < k->part->first + k->part->n; i++) {
    const unsigned asks = sass_asks_registers(&z->sass[i]);
    if (asks > k->most_regs) k->most_regs = (uint16_t)asks;
  }
  k->known = true;
  return k;
}

/* The part that holds instruction i, which is no service's. */
static struct code_part *part_at(const struct lazy_code *z, uint64_t i)
{
  uint32_t lo = 0, hi = z->n_parts;
  while (hi - lo > 1) {
    const uint32_t mid = (lo + hi) / 2;
    if (z->part[mid].first <= i) lo = mid;
    else hi = mid;
  }
  return &z->part[lo];
}

/* All of the code -------------------------------------------------------------------------- */

static uint64_t mix_part(const struct lazy_code *z, const struct code_part *p, uint64_t hash)
{
  struct sass_inst s;
  struct inst t;
  for (uint64_t i = p->first; i < p->end; i++) {
    if (!p->there) make(z, p, i, &s, &t);
    hash = code_place_mix(hash, p->there ? &z->inst[i] : &t);
  }
  return hash;
}

/* code_place() of all code, of which some is not decoded. */
static void want_place(struct lazy_code *z)
{
  uint64_t hash = CODE_PLACE_START, at = 0;
  const uint64_t n = code_count(&z->view);
  if (z->view.place) return;
  for (uint32_t k = 0; k < z->n_parts; k++) {
    for (; at < z->part[k].first; at++) hash = code_place_mix(hash, &z->inst[at]);
    hash = mix_part(z, &z->part[k], hash);
    at = z->part[k].end;
  }
  for (; at < n; at++) hash = code_place_mix(hash, &z->inst[at]);
  z->view.place = code_place_of(hash);
}

static void note_name(struct lazy_code *z, unsigned how, uint32_t at)
{
  if (at % 4 == 0 && at / 4 < BANK0_WORDS) z->bank0[how][at / 256] |= UINT64_C(1) << at / 4 % 64;
}

static bool is_named(const struct lazy_code *z, unsigned how, uint32_t at)
{
  return at % 4 == 0 && at / 4 < BANK0_WORDS && z->bank0[how][at / 256] >> at / 4 % 64 & 1;
}

static void note_names(struct lazy_code *z, const struct sass_inst *s)
{
  const bool moves = s->sem == SEM_MOV || s->sem == SEM_UMOV;
  for (unsigned k = 0; k < 3; k++) {
    if (s->src[k].kind == SRC_CONST && s->src[k].bank == 0) note_name(z, NAMED_OPERAND, s->src[k].imm);
    if (s->src[k].kind == SRC_IMM && moves) note_name(z, NAMED_NUMBER, s->src[k].imm);
  }
  if (s->sem == SEM_LDC || s->sem == SEM_ULDC) note_name(z, NAMED_LOAD, (uint16_t)s->offset);
}

static bool is_new(const struct lazy_code *z, unsigned how, uint64_t at)
{
  return at % 4 == 0 && at / 4 < BANK0_WORDS && !is_named(z, how, (uint32_t)at);
}

/* Whether the word, if it decodes, may name what no other has named. */
static bool names_more(const struct lazy_code *z, const struct sass_constant_fields *f, struct word128 w)
{
  if (f->operand && !sass_word_field(w, FLD_CBANK) &&
      is_new(z, NAMED_OPERAND, 4 * sass_word_field(w, f->operand)))
    return true;
  if (f->number && is_new(z, NAMED_NUMBER, sass_word_field(w, f->number))) return true;
  if (!f->load) return false;
  const uint64_t at = sass_word_field(w, f->load);
  return is_new(z, NAMED_LOAD, (uint16_t)at) ||
         (!sass_word_field(w, FLD_CBANK_LDC) && is_new(z, NAMED_OPERAND, at));
}

static void search_part(struct lazy_code *z, const struct code_part *p, const struct sass_constant_fields *of)
{
  struct sass_inst s;
  struct inst t;
  for (uint64_t i = p->first; i < p->first + p->n; i++) {
    const struct word128 w = word_of(z, i);
    if (!names_more(z, &of[sass_opcode(w)], w)) continue;
    make(z, p, i, &s, &t);
    note_names(z, &s);
  }
}

static void search_names(struct lazy_code *z)
{
  struct sass_constant_fields *of = mem_zeroed(SASS_OPCODES, sizeof *of); /* before the lock: it may not return */
  sass_constant_fields(z->module->elf.sm, of);
  pthread_mutex_lock(&z->lock);
  for (uint32_t k = 0; k < z->n_parts && !z->searched; k++) search_part(z, &z->part[k], of);
  for (unsigned k = 0; k < SERVICE_SPANS; k++)
    for (uint64_t i = 0; i < z->shared[k].n; i++) note_names(z, &z->sass[z->shared[k].first + i]);
  __atomic_store_n(&z->searched, true, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&z->lock);
  mem_free(of);
}

/* Everything is there ---------------------------------------------------------------------- */

static void want_all(struct lazy_code *z)
{
  if (z->all_there) return;
  for (uint32_t k = 0; k < z->n_parts; k++) decode_part(z, &z->part[k]);
  want_place(z);
  z->all_there = true;
}

static void rest_one(struct code_rest *rest, uint64_t i)
{
  struct lazy_code *z = (struct lazy_code *)rest;
  pthread_mutex_lock(&z->lock);
  if (z->n_parts) decode_part(z, part_at(z, i));
  pthread_mutex_unlock(&z->lock);
}

static void rest_all(struct code_rest *rest)
{
  (void)lazy_code_all((struct lazy_code *)rest);
}

/* Construction ----------------------------------------------------------------------------- */

static void list_parts(struct lazy_code *z, struct arena *a)
{
  const struct module *m = z->module;
  uint32_t n = 0;
  for (uint32_t i = 1; i < m->elf.n_sections; i++) n += m->place[i].kind == PLACE_TEXT;
  z->part = ARENA_ARRAY(a, struct code_part, n + 1u);
  z->kernel = ARENA_ARRAY(a, struct kernel_code, m->n_kernels + 1u);
  for (uint32_t i = 1; i < m->elf.n_sections; i++) {
    if (m->place[i].kind != PLACE_TEXT) continue;
    struct code_part *p = &z->part[z->n_parts++];
    *p = (struct code_part){ index_of(m->place[i].offset), m->elf.section[i].size >> INST_SHIFT, 0, m->text_kernel[i],
                             false };
    p->end = p->first + p->n;
    if (z->n_parts > 1) p[-1].end = p->first;
    if (p->kernel != ALL_KERNELS) z->kernel[p->kernel].part = p;
  }
}

/* Services surround the parts. */
static void list_shared(struct lazy_code *z, struct arena *a)
{
  const uint64_t n = code_count(&z->view), head = z->n_parts ? z->part[0].first : n;
  const uint64_t tail = z->n_parts ? z->part[z->n_parts - 1].end : n;
  z->shared = ARENA_ARRAY(a, struct code_span, z->n_parts + SERVICE_SPANS);
  z->shared[0] = (struct code_span){ 0, head };
  z->shared[1] = (struct code_span){ tail, n - tail };
  z->n_shared = SERVICE_SPANS;
  for (uint32_t k = 0; k < z->n_parts; k++) {
    const struct code_part *p = &z->part[k];
    if (p->kernel == ALL_KERNELS) z->shared[z->n_shared++] = (struct code_span){ p->first, p->end - p->first };
  }
}

/* The copy itself is an instruction of the target, as in the driver's function. */
static void put_service(struct lazy_code *z, unsigned number)
{
  const uint64_t pc = load_service_pc(z->module, number), i = index_of(pc);
  if (!pc) return;
  make_service(i, number, &z->sass[i], &z->inst[i]);
  if (number < SYSCALL_COPY || (number - SYSCALL_COPY) % COPY_WORDS != COPY_ITSELF) return;
  const struct word128 w = copy_service_word((number - SYSCALL_COPY) / COPY_WORDS);
  if (!sass_decoder_decode(z->decoder, w, pc, &z->sass[i], &z->inst[i], NULL))
    make_service(i, SYSCALL_DRIVER_PRIVATE, &z->sass[i], &z->inst[i]);
}

static void put_services(struct lazy_code *z)
{
  for (unsigned k = 0; k < SERVICE_SPANS; k++)
    for (uint64_t i = z->shared[k].first; i < z->shared[k].first + z->shared[k].n; i++)
      make_gap(i, &z->sass[i], &z->inst[i]);
  for (unsigned number = 0; number < SYSCALL__N; number++) put_service(z, number);
}

/* What the file's own functions of the device runtime would do is the driver's business: where code is to
 * run, their first instruction is the service. */
static bool is_replaced(const struct module *m, const struct elf_symbol *y, unsigned *number)
{
  return y->type == STT_FUNC && y->section < m->elf.n_sections && m->place[y->section].kind == PLACE_TEXT &&
         y->value < m->elf.section[y->section].size && y->value % INST_BYTES == 0 &&
         load_device_runtime(y->name, number);
}

static void list_replaced(struct lazy_code *z, struct arena *a)
{
  const struct module *m = z->module;
  uint32_t room = 0;
  unsigned number;
  for (uint32_t i = 0; m->device_runtime && i < m->elf.n_symbols; i++) {
    const struct elf_symbol *y = &m->elf.symbol[i];
    if (!is_replaced(m, y, &number)) continue;
    z->replaced = arena_more(a, z->replaced, z->n_replaced, &room, sizeof *z->replaced);
    z->replaced[z->n_replaced++] = (struct replaced){ index_of(m->place[y->section].offset + y->value), number };
  }
}

struct lazy_code *lazy_code_new(struct arena *a, const struct module *m, const uint8_t *text, bool runs)
{
  const uint64_t n = (m->code_end - MODULE_CODE_BASE) >> INST_SHIFT;
  struct lazy_code *z = ARENA_NEW(a, struct lazy_code);
  z->rest = (struct code_rest){ rest_one, rest_all };
  z->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  z->module = m;
  z->text = text;
  z->decoder = sass_decoder_new(a, m->elf.sm);
  z->inst = ARENA_ARRAY(a, struct inst, n); /* zeros, and no memory of the host where nobody writes */
  z->sass = ARENA_ARRAY(a, struct sass_inst, n);
  z->view = (struct code_view){ .base = MODULE_CODE_BASE, .end = m->code_end, .shift = INST_SHIFT, .inst = z->inst,
                                .isa = module_isa(m->elf.sm), .decoded = z->sass, .rest = &z->rest };
  list_parts(z, a);
  list_shared(z, a);
  put_services(z);
  if (runs) list_replaced(z, a);
  return z;
}

/* Questions -------------------------------------------------------------------------------- */

const struct code_view *lazy_code_all(struct lazy_code *z)
{
  pthread_mutex_lock(&z->lock);
  want_all(z);
  pthread_mutex_unlock(&z->lock);
  return &z->view;
}

struct code_view lazy_code_launch(struct lazy_code *z, unsigned kernel, bool timed, struct code_reach *reach)
{
  pthread_mutex_lock(&z->lock);
  const struct code_part *own = want_kernel(z, kernel)->part;
  if (timed) want_place(z);
  const struct code_view view = z->view;
  pthread_mutex_unlock(&z->lock);
  *reach = (struct code_reach){ { own->first, own->end - own->first }, z->shared, z->n_shared };
  return view;
}

const struct sass_inst *lazy_code_sass(const struct lazy_code *z)
{
  return z->sass;
}

static struct kernel_code ask_kernel(struct lazy_code *z, unsigned kernel)
{
  pthread_mutex_lock(&z->lock);
  const struct kernel_code k = *want_kernel(z, kernel);
  pthread_mutex_unlock(&z->lock);
  return k;
}

bool lazy_code_moves_stack(struct lazy_code *z, unsigned kernel)
{
  return ask_kernel(z, kernel).moves_stack;
}

unsigned lazy_code_most_registers(struct lazy_code *z, unsigned kernel)
{
  return ask_kernel(z, kernel).most_regs;
}

bool lazy_code_names_bank0(struct lazy_code *z, bool load, uint32_t at)
{
  if (!__atomic_load_n(&z->searched, __ATOMIC_ACQUIRE)) search_names(z);
  if (!load) return is_named(z, NAMED_OPERAND, at);
  /* As in code that is not optimised: a load whose whole offset is in a register. */
  return is_named(z, NAMED_LOAD, at) || (is_named(z, NAMED_LOAD, 0) && is_named(z, NAMED_NUMBER, at));
}
