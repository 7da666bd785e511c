#include "time/cpu/cpu_core.h"

#include <inttypes.h>
#include <string.h>

#include "base/arith.h"

/* Numbers of operations at the cache: loads have those of their places. */
enum { ID_STORE = CPU_MAX_LOADS, ID_SOLO, ID_FETCH };
enum { WALK_LEVELS = 3, LEVEL_BITS = 9 };
enum { NOTHING_RESERVED = 1 }; /* no address of an LR */

/* What came of an attempt to issue. */
enum cpu_issue {
  ISSUED, /* or something else has happened: on at c->at */
  WAITS,  /* for a reply, or for the cache */
};

void cpu_core_init(struct cpu_core *c, const struct cpu_params *p, const struct cpu_step_ops *ops, void *hart,
                   struct arena *a)
{
  enum { WAYS = 4 };
  *c = (struct cpu_core){.params = p, .ops = ops, .hart = hart, .period = 1000000 / p->clock_mhz};
  cpu_branch_init(&c->branch, p->branch_entries, p->return_entries, a);
  cpu_tags_init(&c->l1i, p->l1i_sets, p->l1i_ways, a);
  cpu_tags_init(&c->l1d, p->l1d_sets, p->l1d_ways, a);
  cpu_tags_init(&c->tlb, 1, p->tlb_entries, a);
  cpu_tags_init(&c->tlb_l2, (uint32_t)div_up(p->tlb_l2_entries + 1, WAYS), p->tlb_l2_entries ? WAYS : 0, a);
  cpu_tags_init(&c->walks, 1, p->walk_cache_entries, a);
}

static picos cycles(const struct cpu_core *c, uint32_t n)
{
  return n * c->period;
}

/* --- asking ------------------------------------------------------------------------------------- */

static bool drained(const struct cpu_core *c)
{
  return !c->n_loads && !c->n_stores && !c->solo.active && !c->fetch_out;
}

/* When all that was begun is done. */
static enum cpu_issue ask(struct cpu_core *c, enum cpu_ask what, uint64_t address)
{
  if (!drained(c)) return WAITS;
  c->state = CPU_ASKS;
  c->ask = what;
  c->address = address;
  c->stats.traps += what != CPU_ASK_STOP;
  return WAITS;
}

void cpu_core_run(struct cpu_core *c, uint64_t pc, picos at)
{
  if (c->state == CPU_IDLE) c->started = at;
  c->state = CPU_RUNS;
  c->reserved = NOTHING_RESERVED;
  c->pc = pc;
  c->at = later(c->at, at);
  c->stop = false;
}

void cpu_core_idle(struct cpu_core *c, picos now)
{
  if (c->state != CPU_IDLE && now > c->started) c->stats.cycles += (now - c->started) / c->period;
  c->state = CPU_IDLE;
  c->stop = false;
}

void cpu_core_allow(struct cpu_core *c, uint64_t addr, bool reads, bool writes)
{
  const uint64_t page = addr >> CPU_PAGE_SHIFT;
  struct cpu_rights *r = &c->rights[page % CPU_RIGHTS];
  if (r->page != page + 1) *r = (struct cpu_rights){.page = page + 1};
  r->reads |= reads;
  r->writes |= writes;
}

void cpu_core_forget_pages(struct cpu_core *c)
{
  memset(c->rights, 0, sizeof c->rights);
  cpu_tags_clear(&c->tlb);
  cpu_tags_clear(&c->tlb_l2);
  cpu_tags_clear(&c->walks);
}

void cpu_core_forget_code(struct cpu_core *c)
{
  cpu_tags_clear(&c->l1i);
  c->code_here = false;
}

/* --- operations at the cache -------------------------------------------------------------------- */

static uint64_t line_of(uint64_t addr)
{
  return addr / COH_LINE_BYTES;
}

static unsigned offset_of(uint64_t addr)
{
  return addr % COH_LINE_BYTES;
}

/* Bytes of an access that lie in its first line. */
static unsigned in_line(uint64_t addr, unsigned bytes)
{
  const unsigned room = COH_LINE_BYTES - offset_of(addr);
  return bytes < room ? bytes : room;
}

static struct coh_msg message(enum coh_type type, uint64_t addr, uint32_t id)
{
  return (struct coh_msg){.line = line_of(addr), .from = COH_NO_NODE, .type = (uint8_t)type, .id = id};
}

static struct coh_msg store_message(uint64_t addr, unsigned bytes, uint64_t value, uint32_t id)
{
  struct coh_msg m = message(COH_STORE, addr, id);
  const uint64_t ones = ((uint64_t)1 << bytes) - 1;
  m.mask = ones << offset_of(addr);
  memcpy(m.data + offset_of(addr), &value, bytes);
  return m;
}

/* Cycles of a load of a line that is here; it is in L1 afterwards. */
static uint32_t hit_cycles(struct cpu_core *c, uint64_t line)
{
  if (cpu_tags_find(&c->l1d, line)) {
    c->stats.l1d_hits++;
    return c->params->l1d_cycles;
  }
  c->stats.l1d_misses++;
  cpu_tags_fill(&c->l1d, line);
  return c->params->l1d_cycles + c->params->l2_cycles;
}

static void missed(struct cpu_core *c, uint64_t line)
{
  c->stats.l1d_misses++;
  c->stats.l2_misses++;
  if (!cpu_tags_find(&c->l1d, line)) cpu_tags_fill(&c->l1d, line);
}

/* --- stores ------------------------------------------------------------------------------------- */

static struct cpu_store *store_at(struct cpu_core *c, uint32_t i)
{
  return &c->store[(c->first_store + i) % CPU_MAX_STORES];
}

static void store_gone(struct cpu_core *c)
{
  c->first_store = (c->first_store + 1) % CPU_MAX_STORES;
  c->n_stores--;
  c->store_out = false;
}

/* The first store of the buffer, at `at`. True: it is performed, or at the cache. */
static bool drain(struct cpu_core *c, struct coh_cache *cache, picos at)
{
  if (!c->n_stores || c->store_out) return false;
  const struct cpu_store *s = store_at(c, 0);
  uint8_t *bytes = coh_cache_touch(cache, line_of(s->addr), COH_STORE);
  if (bytes) {
    memcpy(bytes + offset_of(s->addr), &s->value, s->bytes);
    store_gone(c);
    return true;
  }
  const struct coh_msg m = store_message(s->addr, s->bytes, s->value, ID_STORE);
  return c->store_out = coh_cache_offer(cache, &m, at);
}

enum forward { FORWARD_NONE, FORWARD_ALL, FORWARD_PART };

/* What the store buffer says of an access within a line: the youngest store that has some of its bytes. */
static enum forward forward(struct cpu_core *c, uint64_t addr, unsigned bytes, uint64_t *value)
{
  for (uint32_t i = c->n_stores; i-- > 0;) {
    const struct cpu_store *s = store_at(c, i);
    if (addr + bytes <= s->addr || s->addr + s->bytes <= addr) continue;
    if (addr < s->addr || addr + bytes > s->addr + s->bytes) return FORWARD_PART;
    *value = s->value >> 8 * (addr - s->addr);
    return FORWARD_ALL;
  }
  return FORWARD_NONE;
}

static enum cpu_issue store(struct cpu_core *c, const struct cpu_access *a, picos at)
{
  const unsigned first = in_line(a->addr, a->bytes);
  const uint32_t needs = first < a->bytes ? 2 : 1;
  if (c->n_stores + needs > c->params->stores) return WAITS;
  *store_at(c, c->n_stores++) = (struct cpu_store){a->addr, a->value, (uint8_t)first};
  if (needs == 2)
    *store_at(c, c->n_stores++) =
      (struct cpu_store){a->addr + first, a->value >> 8 * first, (uint8_t)(a->bytes - first)};
  c->stats.stores++;
  c->at = at + c->period;
  return ISSUED;
}

/* --- loads -------------------------------------------------------------------------------------- */

static void finish_load(struct cpu_core *c, const struct cpu_access *a, unsigned dst, uint64_t value, picos ready)
{
  c->ops->finish(c->hart, a, value);
  if (dst) c->ready[dst] = ready;
}

static struct cpu_load *free_load(struct cpu_core *c)
{
  for (uint32_t i = 0; i < c->params->loads; i++)
    if (!c->load[i].used) return &c->load[i];
  return NULL;
}

/* Not here: the cache brings it. */
static enum cpu_issue load_missing(struct cpu_core *c, struct coh_cache *cache, const struct cpu_inst *in,
                               const struct cpu_access *a, picos at)
{
  struct cpu_load *l = free_load(c);
  if (!l) return WAITS;
  const struct coh_msg m = message(COH_LOAD, a->addr, (uint32_t)(l - c->load));
  if (!coh_cache_offer(cache, &m, at)) return WAITS;
  *l = (struct cpu_load){true, in->dst, *a};
  c->n_loads++;
  if (in->dst) c->pending |= (uint64_t)1 << in->dst;
  missed(c, line_of(a->addr));
  c->at = at + c->period;
  return ISSUED;
}

static enum cpu_issue load(struct cpu_core *c, struct coh_cache *cache, const struct cpu_inst *in,
                       const struct cpu_access *a, picos at)
{
  uint64_t value = 0;
  const enum forward f = c->n_stores ? forward(c, a->addr, a->bytes, &value) : FORWARD_NONE;
  if (f == FORWARD_PART) return WAITS;
  if (f == FORWARD_ALL) {
    c->stats.forwarded++;
    finish_load(c, a, in->dst, value, at + cycles(c, c->params->l1d_cycles));
  } else {
    const uint8_t *bytes = coh_cache_touch(cache, line_of(a->addr), COH_LOAD);
    if (!bytes) return load_missing(c, cache, in, a, at);
    memcpy(&value, bytes + offset_of(a->addr), a->bytes);
    finish_load(c, a, in->dst, value, at + cycles(c, hit_cycles(c, line_of(a->addr))));
  }
  c->at = at + c->period;
  return ISSUED;
}

/* --- alone in the pipeline ---------------------------------------------------------------------- */

static void solo_done(struct cpu_core *c, uint64_t value, picos ready)
{
  c->solo.active = c->solo.out = false;
  finish_load(c, &c->solo.access, c->solo.dst, value, ready);
}

/* The next piece of a load from two lines has come, in the bytes of its line. True: it was the last one. */
static bool solo_piece(struct cpu_solo *s, const uint8_t *bytes)
{
  const uint64_t addr = s->access.addr + s->done;
  const unsigned n = in_line(addr, s->access.bytes - s->done);
  uint64_t piece = 0;
  memcpy(&piece, bytes + offset_of(addr), n);
  s->value |= piece << 8 * s->done;
  s->done = (uint8_t)(s->done + n);
  return s->done == s->access.bytes;
}

static uint64_t performed(struct cpu_core *c, struct coh_cache *cache, uint8_t *at, picos now)
{
  const struct cpu_access *a = &c->solo.access;
  uint64_t before = 0;
  if (c->solo.class == CPU_CONDITIONAL) {
    if (!coh_cache_unreserve(cache, line_of(a->addr))) return 1;
    memcpy(at, &a->value, a->bytes);
    return 0;
  }
  memcpy(&before, at, a->bytes);
  if (c->solo.class == CPU_RESERVE) {
    coh_cache_reserve(cache, line_of(a->addr), now);
    return before;
  }
  const uint64_t after = c->ops->atomic(a->op, a->bytes, before, a->value, 0);
  memcpy(at, &after, a->bytes);
  return before;
}

static enum coh_type solo_type(const struct cpu_core *c)
{
  return c->solo.class == CPU_ATOMIC ? COH_ATOMIC : c->solo.class == CPU_CONDITIONAL ? COH_STORE : COH_LOAD;
}

static struct coh_msg solo_message(const struct cpu_core *c)
{
  const struct cpu_solo *s = &c->solo;
  const struct cpu_access *a = &s->access;
  struct coh_msg m = message(solo_type(c), a->addr + s->done, ID_SOLO);
  if (s->class == CPU_CONDITIONAL) {
    m = store_message(a->addr, a->bytes, a->value, ID_SOLO);
    m.flags = COH_CONDITIONAL;
  }
  if (s->class == CPU_RESERVE) m.flags = COH_RESERVE;
  m.operand = a->value;
  m.op = a->op;
  m.offset = (uint8_t)offset_of(a->addr);
  m.bytes = a->bytes;
  return m;
}

static enum cpu_issue solo_go(struct cpu_core *c, struct coh_cache *cache, picos at)
{
  struct cpu_solo *s = &c->solo;
  if (s->out) return WAITS;
  const uint64_t line = line_of(s->access.addr + s->done);
  c->at = at + c->period;
  if (s->class == CPU_CONDITIONAL && !coh_cache_reserved(cache, line)) return solo_done(c, 1, c->at), ISSUED;
  uint8_t *bytes = coh_cache_touch(cache, line, solo_type(c));
  if (!bytes) {
    const struct coh_msg m = solo_message(c);
    s->out = coh_cache_offer(cache, &m, at);
    if (s->out) missed(c, line);
    return WAITS;
  }
  const picos ready = at + cycles(c, hit_cycles(c, line));
  if (s->class != CPU_LOAD) solo_done(c, performed(c, cache, bytes + offset_of(s->access.addr), at), ready);
  else if (solo_piece(s, bytes)) solo_done(c, s->value, ready);
  return ISSUED;
}

static void solo_reply(struct cpu_core *c, const struct coh_msg *m, picos now)
{
  struct cpu_solo *s = &c->solo;
  const picos ready = now + cycles(c, c->params->l1d_cycles);
  uint64_t value = m->operand;
  s->out = false;
  c->at = later(c->at, now);
  if (s->class == CPU_RESERVE) memcpy(&value, m->data + offset_of(s->access.addr), s->access.bytes);
  if (s->class != CPU_LOAD) solo_done(c, value, ready);
  else if (solo_piece(s, m->data)) solo_done(c, s->value, ready);
}

/* --- translation -------------------------------------------------------------------------------- */

static bool allowed(const struct cpu_core *c, uint64_t addr, bool writes)
{
  const uint64_t page = addr >> CPU_PAGE_SHIFT;
  const struct cpu_rights *r = &c->rights[page % CPU_RIGHTS];
  return r->page == page + 1 && (writes ? r->writes : r->reads);
}

/* Levels of the page tables that a walk has to read. */
static uint32_t walk_levels(struct cpu_core *c, uint64_t page)
{
  uint32_t levels = 1;
  for (; levels < WALK_LEVELS; levels++)
    if (cpu_tags_find(&c->walks, page >> LEVEL_BITS * levels << 2 | levels)) break;
  for (uint32_t i = levels; i-- > 1;) cpu_tags_fill(&c->walks, page >> LEVEL_BITS * i << 2 | i);
  return levels;
}

/* Cycles that the translation of an address takes; it is in the TLB afterwards. */
static uint32_t translation(struct cpu_core *c, uint64_t addr)
{
  const uint64_t page = addr >> CPU_PAGE_SHIFT;
  const struct cpu_params *p = c->params;
  if (cpu_tags_find(&c->tlb, page)) return 0;
  cpu_tags_fill(&c->tlb, page);
  c->stats.tlb_misses++;
  const uint32_t second = p->tlb_l2_entries ? p->tlb_l2_cycles : 0;
  if (cpu_tags_find(&c->tlb_l2, page)) return second;
  cpu_tags_fill(&c->tlb_l2, page);
  c->stats.walks++;
  return second + walk_levels(c, page) * (p->l1d_cycles + p->l2_cycles);
}

/* --- issue -------------------------------------------------------------------------------------- */

static enum cpu_issue access(struct cpu_core *c, struct coh_cache *cache, const struct cpu_inst *in,
                         const struct cpu_access *a, picos at)
{
  const bool writes = in->class != CPU_LOAD && in->class != CPU_RESERVE;
  const uint64_t last = a->addr + (a->bytes - 1);
  c->writes = writes;
  if (!allowed(c, a->addr, writes)) return ask(c, CPU_ASK_PAGE, a->addr);
  if (last >> CPU_PAGE_SHIFT != a->addr >> CPU_PAGE_SHIFT && !allowed(c, last, writes))
    return ask(c, CPU_ASK_PAGE, last & ~(((uint64_t)1 << CPU_PAGE_SHIFT) - 1));
  const uint32_t more = translation(c, a->addr);
  if (more) {
    c->at = at + cycles(c, more);
    return ISSUED;
  }
  const bool split = in_line(a->addr, a->bytes) < a->bytes;
  enum cpu_issue r;
  if (in->class == CPU_STORE) r = store(c, a, at);
  else if (in->class == CPU_LOAD && !split) r = load(c, cache, in, a, at);
  else {
    if (!drained(c)) return WAITS;
    c->solo = (struct cpu_solo){.active = true, .class = in->class, .dst = in->dst, .access = *a};
    if (in->class == CPU_RESERVE) c->reserved = a->addr;
    if (in->class == CPU_CONDITIONAL && c->reserved != a->addr) coh_cache_unreserve(cache, line_of(a->addr));
    c->stats.atomics += in->class != CPU_LOAD;
    r = ISSUED;
    c->at = at;
  }
  if (r != ISSUED) return r;
  c->stats.loads += in->class == CPU_LOAD;
  c->stats.insts++;
  c->pc += in->bytes;
  return r;
}

/* Cycles until what it computes can be read. */
static uint32_t latency(const struct cpu_params *p, enum cpu_class class)
{
  switch (class) {
  case CPU_MUL: return p->mul_cycles;
  case CPU_DIV: return p->div_cycles;
  case CPU_DIV_WORD: return p->divw_cycles;
  case CPU_FP_ADD: return p->fp_add_cycles;
  case CPU_FP_MUL: return p->fp_mul_cycles;
  case CPU_FP_FMA: return p->fp_fma_cycles;
  case CPU_FP_MOVE: return p->fp_move_cycles;
  case CPU_FP_DIV_SINGLE: return p->fp_div_single_cycles;
  case CPU_FP_DIV_DOUBLE: return p->fp_div_double_cycles;
  case CPU_CONTROL: return p->csr_cycles;
  default: return 1;
  }
}

/* The unit that an instruction keeps; NULL: none. */
static picos *unit_of(struct cpu_core *c, enum cpu_class class)
{
  if (class == CPU_DIV || class == CPU_DIV_WORD) return &c->divider;
  return class == CPU_FP_DIV_SINGLE || class == CPU_FP_DIV_DOUBLE ? &c->fp_divider : NULL;
}

static picos operands_at(struct cpu_core *c, const struct cpu_inst *in)
{
  picos t = c->ready[in->dst];
  for (unsigned i = 0; i < 3; i++) t = later(t, c->ready[in->src[i]]);
  const picos *unit = unit_of(c, in->class);
  return unit ? later(t, *unit) : t;
}

static bool waits_for_load(const struct cpu_core *c, const struct cpu_inst *in)
{
  const uint64_t uses = (uint64_t)1 << in->dst | (uint64_t)1 << in->src[0] | (uint64_t)1 << in->src[1] |
                        (uint64_t)1 << in->src[2];
  return c->pending & uses & ~(uint64_t)1;
}

/* An instruction of the pipeline alone has been executed. */
static void executed(struct cpu_core *c, const struct cpu_inst *in, uint64_t next, picos at)
{
  const picos ready = at + cycles(c, latency(c->params, in->class));
  picos *unit = unit_of(c, in->class);
  if (in->dst) c->ready[in->dst] = ready;
  if (unit) *unit = ready;
  c->at = in->class == CPU_CONTROL ? ready : at + c->period;
  if (in->class == CPU_BRANCH || in->class == CPU_JUMP || in->class == CPU_INDIRECT) {
    c->stats.branches++;
    if (!cpu_branch_foresaw(&c->branch, in, c->pc, next)) {
      c->stats.mispredicted++;
      c->at += cycles(c, c->params->branch_penalty);
    }
  }
  c->stats.insts++;
  c->pc = next;
}

/* The line of code at pc, into L1I. True: it is there. */
static bool fetched(struct cpu_core *c, struct coh_cache *cache, picos at)
{
  const uint64_t line = line_of(c->pc);
  if (c->code_here && c->code_line == line) return true;
  c->code_line = line;
  c->code_here = cpu_tags_find(&c->l1i, line);
  c->at = at;
  if (c->code_here) {
    c->stats.l1i_hits++;
    return true;
  }
  c->stats.l1i_misses++;
  if (coh_cache_touch(cache, line, COH_LOAD)) {
    cpu_tags_fill(&c->l1i, line);
    c->code_here = true;
    c->at = at + cycles(c, c->params->l2_cycles);
    return false;
  }
  const struct coh_msg m = message(COH_LOAD, c->pc, ID_FETCH);
  c->fetch_out = coh_cache_offer(cache, &m, at);
  c->stats.l1i_misses -= !c->fetch_out;
  c->fetching = line;
  return false;
}

static enum cpu_issue step(struct cpu_core *c, struct coh_cache *cache, const struct cpu_inst *in, picos at)
{
  const struct cpu_clocks clocks = {at / c->period, at / 1000, c->stats.insts};
  const bool fence = in->class == CPU_FENCE || in->class == CPU_CODE_FENCE || in->class == CPU_CONTROL;
  struct cpu_access a;
  uint64_t next;
  if (fence && !drained(c)) return WAITS;
  switch (c->ops->step(c->hart, c->pc, &clocks, &next, &a)) {
  case CPU_STEP_ACCESS: return access(c, cache, in, &a, at);
  case CPU_STEP_TRAP: return ask(c, CPU_ASK_TRAP, c->pc);
  case CPU_STEP_DONE: break;
  }
  executed(c, in, next, at);
  if (in->class == CPU_CODE_FENCE) return ask(c, CPU_ASK_FENCE, c->pc);
  return ISSUED;
}

static enum cpu_issue issue(struct cpu_core *c, struct coh_cache *cache, picos at)
{
  struct cpu_inst in;
  if (c->solo.active) return solo_go(c, cache, at);
  if (c->fetch_out) return WAITS;
  if (c->stop) return ask(c, CPU_ASK_STOP, 0);
  if (!c->ops->look(c->hart, c->pc, &in)) return ask(c, CPU_ASK_CODE, c->pc);
  if (!fetched(c, cache, at)) return c->at > at ? ISSUED : WAITS;
  if (waits_for_load(c, &in)) return WAITS;
  const picos t = operands_at(c, &in);
  if (t > at) {
    c->at = at + round_up(t - at, c->period);
    return ISSUED;
  }
  return step(c, cache, &in, at);
}

/* --- a row of cycles ---------------------------------------------------------------------------- */

static void take_reply(struct cpu_core *c, const struct coh_msg *m, picos now)
{
  if (m->id == ID_STORE) store_gone(c);
  else if (m->id == ID_SOLO) solo_reply(c, m, now);
  else if (m->id == ID_FETCH) {
    c->fetch_out = false;
    cpu_tags_fill(&c->l1i, c->fetching);
    c->code_here = true;
    c->at = later(c->at, now);
  } else {
    struct cpu_load *l = &c->load[m->id];
    uint64_t value = 0;
    memcpy(&value, m->data + offset_of(l->access.addr), l->access.bytes);
    l->used = false;
    c->n_loads--;
    c->pending &= ~((uint64_t)1 << l->dst);
    finish_load(c, &l->access, l->dst, value, now + cycles(c, c->params->l1d_cycles));
  }
}

/* Until `until`, or until it waits. Returns when it goes on by itself. */
static picos go(struct cpu_core *c, struct coh_cache *cache, picos now, picos until, bool *did)
{
  picos at = later(c->at, now);
  while (at < until) {
    const bool drains = drain(c, cache, at);
    const enum cpu_issue r = c->state == CPU_RUNS ? issue(c, cache, at) : WAITS;
    *did |= drains || r == ISSUED;
    if (r == WAITS && !drains) return TIME_NEVER;
    if (r == WAITS) c->at = at + c->period;
    for (picos t = at + c->period; t < c->at && t < until && drain(c, cache, t);) t += c->period;
    at = c->at;
  }
  return at;
}

picos cpu_core_cycle(void *self, struct coh_cache *cache, struct coh_queue *replies, picos now, picos until, bool *did)
{
  struct cpu_core *c = self;
  c->ops->enter(c->hart);
  for (const struct coh_msg *m; (m = coh_queue_front(replies, now)); *did = true) {
    take_reply(c, m, now);
    coh_queue_pop(replies);
  }
  const picos next = c->state == CPU_RUNS || c->n_stores ? go(c, cache, now, until, did) : TIME_NEVER;
  c->ops->leave(c->hart);
  return next;
}

bool cpu_core_busy(const void *self)
{
  const struct cpu_core *c = self;
  return c->state == CPU_RUNS || !drained(c);
}

void cpu_core_dump(const struct cpu_core *c, FILE *out)
{
  static const char *const state[] = {"idle", "running", "asking"};
  fprintf(out, "  core, pc 0x%" PRIx64 ": %s, %u loads, %u stores%s%s on their way\n", c->pc, state[c->state],
          c->n_loads, c->n_stores, c->solo.active ? ", an atomic" : "", c->fetch_out ? ", code" : "");
}
