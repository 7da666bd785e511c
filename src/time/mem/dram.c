#include "time/mem/dram.h"

#include "base/arith.h"
#include "base/bits.h"
#include "base/bug.h"
#include "time/mem/outer_memory.h"
#include "time/msg.h"

/* --- set-up ----------------------------------------------------------------------------------- */

static unsigned log2_of(unsigned v)
{
  unsigned n = 0;
  while (v > 1) v >>= 1, n++;
  return n;
}

/* A 32-byte burst on the data bus of one channel. */
static picos slot_of(const struct params *p)
{
  double rate = (double)params_dram_bytes_per_second(p) * p->dram_efficiency_permille / 1000.0;
  return (picos)(SECTOR_BYTES * 1e12 * p->dram_channels / rate + 0.5);
}

picos dram_core_latency(const struct params *p)
{
  return p->dram_t[DRAM_T_RCD] + p->dram_t[DRAM_T_CL] + slot_of(p);
}

static unsigned power_of_two_at_least(unsigned v)
{
  unsigned n = 1;
  while (n < v) n *= 2;
  return n;
}

void dram_init(struct dram *c, struct arena *a, const struct params *p, unsigned max_reads,
               unsigned overflow, unsigned max_merges)
{
  unsigned entries = p->dram_read_queue + p->dram_write_queue + overflow + max_merges;
  BUG_ON(p->dram_banks > DRAM_MAX_BANKS || p->dram_bank_groups > DRAM_MAX_GROUPS);
  BUG_ON(entries >= DRAM_NIL);
  *c = (struct dram){
      .t = p->dram_t,
      .n_banks = p->dram_banks,
      .n_groups = p->dram_bank_groups,
      .read_queue = p->dram_read_queue,
      .write_queue = p->dram_write_queue,
      .write_high = p->dram_write_high,
      .write_low = p->dram_write_low,
      .max_merges = max_merges,
      .row_hits_max = p->dram_row_hits_max,
      .write_idle = p->dram_write_idle,
      .column_bits = log2_of(p->dram_row_bytes / LINE_BYTES),
      .bank_bits = log2_of(p->dram_banks),
      .slot = slot_of(p),
      .ideal = p->ideal_dram_bandwidth,
      .plan = {.at = TIME_NEVER},
  };
  ecc_cache_init(&c->ecc, a, p);
  c->ccd = later(c->slot, p->dram_t[DRAM_T_CCD_L]);
  picos path = (p->dram_latency - p->l2_latency) * params_l2_clock_ps(p);
  BUG_ON(path < dram_core_latency(p)); /* params_check */
  /* dram.latency is a mean over refreshes; so a lone read waits for them this long. */
  picos refresh = (picos)c->t[DRAM_T_RFC] * c->t[DRAM_T_RFC] / (2ull * c->t[DRAM_T_REFI]);
  c->extra = path - dram_core_latency(p) - (refresh < path - dram_core_latency(p) ? refresh : 0);
  c->pool = ARENA_ARRAY(a, struct dram_req, entries);
  for (unsigned i = 0; i < entries; i++)
    c->pool[i].next = (uint16_t)(i + 1 < entries ? i + 1 : DRAM_NIL);
  c->answer_cap = power_of_two_at_least(max_reads + overflow + max_merges);
  c->answer = ARENA_ARRAY(a, struct dram_answer, c->answer_cap);
  for (unsigned b = 0; b < c->n_banks; b++) {
    struct dram_bank *k = &c->bank[b];
    c->refresh_at[b] = c->t[DRAM_T_REFI] * (uint64_t)(b + 1) / c->n_banks;
    for (unsigned d = 0; d < DRAM__N; d++) k->head[d] = k->tail[d] = k->pick[d] = DRAM_NIL;
  }
}

/* --- address ---------------------------------------------------------------------------------- */

static void locate(const struct dram *c, uint64_t local, struct dram_req *r)
{
  unsigned group0 = (unsigned)(local & 1);
  uint64_t rest = local >> (1 + c->column_bits);
  unsigned high = (unsigned)(rest & ((1u << (c->bank_bits - 1)) - 1));
  r->row = rest >> (c->bank_bits - 1);
  unsigned bank = group0 | high << 1;
  r->bank = (uint8_t)((bank ^ r->row ^ r->row >> c->bank_bits) & (c->n_banks - 1));
}

/* The low bank bits number the group. */
static unsigned group_of(const struct dram *c, unsigned bank)
{
  return bank & (c->n_groups - 1);
}

/* --- queue of a bank -------------------------------------------------------------------------- */

static bool hits(const struct dram_bank *k, const struct dram_req *r)
{
  return k->open && k->row == r->row;
}

/* What the bank serves next: the oldest hit, else the oldest; and when that can go. */
static void repick(struct dram *c, unsigned b, unsigned dir, picos now)
{
  struct dram_bank *k = &c->bank[b];
  struct dram_view *v = &c->view[dir];
  uint64_t bit = (uint64_t)1 << b;
  uint16_t i = k->head[dir], before = DRAM_NIL;
  v->banks &= ~bit;
  v->hits &= ~bit;
  k->pick[dir] = i;
  k->before[dir] = DRAM_NIL;
  if (i == DRAM_NIL) return;
  if (k->open && k->hits < c->row_hits_max)
    for (; i != DRAM_NIL && c->pool[i].row != k->row; i = c->pool[i].next) before = i;
  if (i != DRAM_NIL) k->pick[dir] = i, k->before[dir] = before;
  const struct dram_req *r = &c->pool[k->pick[dir]];
  v->banks |= bit;
  v->seq[b] = r->seq;
  if (hits(k, r)) {
    v->hits |= bit;
    v->own[b] = k->col_ready;
    v->gate[b] = (uint8_t)group_of(c, b);
  } else {
    picos closed = k->open ? later(k->pre_ready, now) + c->t[DRAM_T_RP] : now;
    v->own[b] = later(closed, k->act_ready);
    v->gate[b] = (uint8_t)(DRAM_MAX_GROUPS + group_of(c, b));
  }
}

/* The bank's row, or when it takes commands, changed: that matters to those who wait for it. */
static void repick_both(struct dram *c, unsigned b, picos now)
{
  uint64_t bit = (uint64_t)1 << b;
  for (unsigned d = 0; d < DRAM__N; d++)
    if (c->view[d].banks & bit) repick(c, b, d, now);
}

static void append(struct dram *c, unsigned b, unsigned dir, uint16_t i)
{
  struct dram_bank *k = &c->bank[b];
  c->pool[i].next = DRAM_NIL;
  if (k->head[dir] == DRAM_NIL)
    k->head[dir] = i;
  else
    c->pool[k->tail[dir]].next = i;
  k->tail[dir] = i;
  c->n[dir]++;
}

static void unlink_pick(struct dram *c, unsigned b, unsigned dir)
{
  struct dram_bank *k = &c->bank[b];
  uint16_t i = k->pick[dir], before = k->before[dir];
  *(before == DRAM_NIL ? &k->head[dir] : &c->pool[before].next) = c->pool[i].next;
  if (k->tail[dir] == i) k->tail[dir] = before;
  c->n[dir]--;
  c->pool[i].next = c->free;
  c->free = i;
}

/* --- which command goes next -------------------------------------------------------------------- */

/* Catches up with the refreshes due until `at`: the last one closed the row. */
static void refresh(struct dram *c, unsigned b, picos at)
{
  struct dram_bank *k = &c->bank[b];
  uint64_t interval = c->t[DRAM_T_REFI], missed = (at - c->refresh_at[b]) / interval;
  picos last = c->refresh_at[b] + missed * interval;
  c->stats.refreshes += missed + 1;
  k->open = false;
  k->act_ready = later(k->act_ready, last + c->t[DRAM_T_RFC]);
  c->refresh_at[b] = last + interval;
  repick_both(c, b, last);
}

/* When the buses and bank groups take a command: columns by bank group, then ACTs by bank group. */
struct dram_gates {
  picos at[2 * DRAM_MAX_GROUPS];
};

static inline struct dram_gates gates_of(const struct dram *c, picos now)
{
  struct dram_gates g;
  picos col = later(now, c->col_free[c->writing]);
  picos act = later(later(now, c->act_free), c->faw[c->faw_next] + c->t[DRAM_T_FAW]);
  for (unsigned i = 0; i < c->n_groups; i++) {
    g.at[i] = later(col, c->group_col[i]);
    g.at[DRAM_MAX_GROUPS + i] = later(act, c->group_act[i]);
  }
  return g;
}

/* The command of a bank would go at `at`, behind its refresh: that closes the row, so the command goes later, perhaps
 * behind the next refresh. When it goes. */
__attribute__((noinline)) static picos behind_refresh(struct dram *c, unsigned b, picos at, const struct dram_gates *g)
{
  const struct dram_view *v = &c->view[c->writing];
  while (at >= c->refresh_at[b]) {
    refresh(c, b, at);
    at = later(v->own[b], g->at[v->gate[b]]);
  }
  return at;
}

/* Takes the command of the bank into the plan that can go first; of those, the oldest. (The bank that is in the plan
 * keeps its pick: enqueue() makes another plan when that changes.) */
static void consider(struct dram *c, uint64_t banks, const struct dram_gates *g)
{
  const struct dram_view *v = &c->view[c->writing];
  picos best = c->plan.at;
  unsigned bank = c->plan.bank;
  for (; banks; banks &= banks - 1) {
    unsigned b = bits_first(banks);
    picos at = later(v->own[b], g->at[v->gate[b]]);
    if (at > best || (at == best && v->seq[b] > v->seq[bank])) continue;
    if (at >= c->refresh_at[b]) {
      at = behind_refresh(c, b, at, g);
      if (at > best || (at == best && v->seq[b] > v->seq[bank])) continue;
    }
    best = at;
    bank = b;
  }
  c->plan = (struct dram_command){best, (uint8_t)bank};
}

/* Reads go first until enough writes have gathered; writes are drained in one go. What is less than that waits while
 * reads come, so that these do not find the bus turned round for a single write. True: changed. */
static inline bool choose_direction(struct dram *c)
{
  unsigned reads = c->n[DRAM_READ], writes = c->n[DRAM_WRITE];
  if (writes >= c->write_high) c->draining = true;
  if (writes <= c->write_low) c->draining = false;
  bool write = writes && (c->draining || !reads);
  if (write == c->writing || (!reads && !writes)) return false;
  c->writing = write;
  return true;
}

static void make_plan(struct dram *c, picos now)
{
  choose_direction(c);
  c->gathering = c->writing && !c->draining && now < c->idle_at;
  if (c->gathering) {
    c->plan.at = c->idle_at;
    return; /* the bus turns when they go, not if a read comes before */
  }
  c->stats.turnarounds += c->writing != c->turned;
  c->turned = c->writing;
  struct dram_gates g = gates_of(c, now);
  c->plan.at = TIME_NEVER;
  consider(c, c->view[c->writing].banks, &g);
}

/* --- commands --------------------------------------------------------------------------------- */

static void activate(struct dram *c, unsigned b, const struct dram_req *r, picos now)
{
  struct dram_bank *k = &c->bank[b];
  k->conflict = k->open;
  k->open = true;
  k->row = r->row;
  k->hits = 0;
  k->col_ready = now + c->t[DRAM_T_RCD];
  k->pre_ready = now + c->t[DRAM_T_RAS];
  k->act_ready = now + c->t[DRAM_T_RAS] + c->t[DRAM_T_RP];
  c->act_free = now + c->t[DRAM_T_RRD_S];
  c->group_act[group_of(c, b)] = now + c->t[DRAM_T_RRD_L];
  /* The ring starts at 0 = long ago; a fifth ACT waits for the fourth last. */
  c->faw[c->faw_next] = now;
  c->faw_next = (c->faw_next + 1) % DRAM_FAW;
  c->stats.activates++;
  repick_both(c, b, now);
}

static void push_answer(struct dram *c, const struct dram_req *r, picos at)
{
  BUG_ON(c->n_answers == c->answer_cap);
  if (c->n_answers) { /* answers leave in order */
    uint32_t last = (c->answer_head + c->n_answers - 1) & (c->answer_cap - 1);
    at = later(at, c->answer[last].at);
  }
  c->answer[(c->answer_head + c->n_answers++) & (c->answer_cap - 1)] =
      (struct dram_answer){at, r->line, r->row, r->sectors, r->slice, r->bank, r->merge};
}

static void count_access(struct dram *c, struct dram_bank *k, const struct dram_req *r, picos now)
{
  struct dram_stats *s = &c->stats;
  if (k->hits++)
    s->row_hits++;
  else if (k->conflict)
    s->row_conflicts++;
  else
    s->row_misses++;
  s->data_bus_busy += r->bursts * c->slot;
  s->dram_check_bytes += (uint64_t)r->check * SECTOR_BYTES;
  if (c->writing) {
    s->dram_writes++;
    s->dram_write_bytes += (uint64_t)(r->bursts - r->check) * SECTOR_BYTES;
  } else {
    s->dram_reads++;
    s->dram_read_bytes += (uint64_t)(r->bursts - r->check) * SECTOR_BYTES;
    s->dram_read_wait += now - r->arrive;
  }
}

static void column(struct dram *c, unsigned b, const struct dram_req *r, picos now)
{
  struct dram_bank *k = &c->bank[b];
  picos bus = r->bursts * c->slot, last = (r->bursts - 1) * c->ccd;
  count_access(c, k, r, now);
  c->group_col[group_of(c, b)] = now + r->bursts * c->ccd;
  if (c->writing) {
    c->col_free[DRAM_WRITE] = now + bus;
    c->col_free[DRAM_READ] = now + c->t[DRAM_T_CWL] + bus + c->t[DRAM_T_WTR];
    k->pre_ready = later(k->pre_ready, now + c->t[DRAM_T_CWL] + last + c->slot + c->t[DRAM_T_WR]);
  } else {
    c->idle_at = now + c->write_idle;
    c->col_free[DRAM_READ] = now + bus;
    c->col_free[DRAM_WRITE] = now + bus + c->t[DRAM_T_RTW];
    k->pre_ready = later(k->pre_ready, now + last + c->t[DRAM_T_RTP]);
    push_answer(c, r, now + c->t[DRAM_T_CL] + last + c->slot + c->extra);
  }
  unlink_pick(c, b, c->writing);
  repick_both(c, b, now);
}

static void enqueue(struct dram *c, enum dram_dir dir, struct dram_req what);

/* Takes the first answer. True: it is for a slice, not for a write that waits for it. */
static bool take_answer(struct dram *c, picos now, struct dram_answer *answer)
{
  *answer = c->answer[c->answer_head];
  c->answer_head = --c->n_answers ? (c->answer_head + 1) & (c->answer_cap - 1) : 0;
  if (!answer->merge) return true;
  c->n_merges--;
  enqueue(c, DRAM_WRITE, (struct dram_req){.row = answer->row, .bank = answer->bank, .arrive = now,
                                           .sectors = answer->merge});
  return false;
}

bool dram_step(struct dram *c, picos now, struct dram_answer *answer)
{
  if (c->n_answers && c->answer[c->answer_head].at <= now) return take_answer(c, now, answer);
  if (c->gathering) {
    c->draining = true;
    make_plan(c, now);
    return false;
  }
  unsigned b = c->plan.bank;
  const struct dram_req *r = &c->pool[c->bank[b].pick[c->writing]];
  if (hits(&c->bank[b], r))
    column(c, b, r, now);
  else
    activate(c, b, r, now);
  make_plan(c, now);
  return false;
}

/* ideal.dram_bandwidth: nothing waits, and every row is closed. */
__attribute__((cold)) static void answer_at_once(struct dram *c, enum dram_dir dir, const struct dram_req *r)
{
  uint64_t bytes = (uint64_t)count_sectors(r->sectors) * SECTOR_BYTES;
  c->stats.row_misses++;
  if (dir == DRAM_WRITE) {
    c->stats.dram_writes++;
    c->stats.dram_write_bytes += bytes;
    return;
  }
  c->stats.dram_reads++;
  c->stats.dram_read_bytes += bytes;
  push_answer(c, r, r->arrive + c->t[DRAM_T_RCD] + c->t[DRAM_T_CL] + c->slot + c->extra);
}

/* Row and bank are known. */
static void enqueue(struct dram *c, enum dram_dir dir, struct dram_req what)
{
  if (c->ideal) {
    answer_at_once(c, dir, &what);
    return;
  }
  uint16_t i = c->free;
  BUG_ON(i == DRAM_NIL);
  struct dram_req *r = &c->pool[i];
  picos now = what.arrive;
  c->free = r->next;
  *r = what;
  r->seq = ++c->seq;
  r->bursts = (uint8_t)(count_sectors(what.sectors) + what.check);
  append(c, r->bank, dir, i);
  const struct dram_bank *k = &c->bank[r->bank];
  const struct dram_view *v = &c->view[dir];
  uint64_t bit = (uint64_t)1 << r->bank;
  bool better = !(v->hits & bit) && hits(k, r) && k->hits < c->row_hits_max;
  bool new_pick = !(v->banks & bit) || better;
  if (new_pick) repick(c, r->bank, dir, now);
  /* Another direction, or a better choice of the planned bank, changes the plan as a whole. */
  if (choose_direction(c) || c->plan.at == TIME_NEVER || c->gathering || (new_pick && c->plan.bank == r->bank)) {
    make_plan(c, now);
  } else if (new_pick && dir == (enum dram_dir)c->writing) {
    struct dram_gates g = gates_of(c, now);
    consider(c, bit, &g);
  }
}

/* ---- replaced by memory outside --------------------------------------------------------------- */

void dram_replace(struct dram *c, struct outer_channel *outer)
{
  c->outer = outer;
}

static bool comes_before(const struct dram_answer *a, const struct dram_answer *b)
{
  return a->at != b->at ? a->at < b->at : a->row < b->row;
}

void dram_deliver(struct dram *c, const struct dram_answer *a)
{
  const uint32_t mask = c->answer_cap - 1;
  uint32_t i = c->n_answers++;
  BUG_ON(i == c->answer_cap);
  for (; i > 0 && comes_before(a, &c->answer[(c->answer_head + i - 1) & mask]); i--)
    c->answer[(c->answer_head + i) & mask] = c->answer[(c->answer_head + i - 1) & mask];
  c->answer[(c->answer_head + i) & mask] = *a;
}

/* Rows are not known: all count as closed. */
__attribute__((cold)) static void put_outside(struct dram *c, struct outer_item x)
{
  const uint64_t bytes = (uint64_t)count_sectors(x.sectors) * SECTOR_BYTES;
  c->stats.row_misses++;
  if (x.write) c->stats.dram_writes++, c->stats.dram_write_bytes += bytes;
  else c->stats.dram_reads++, c->stats.dram_read_bytes += bytes;
  outer_channel_put(c->outer, &x);
}

/* ---- requests ---------------------------------------------------------------------------------- */

void dram_request(struct dram *c, enum dram_dir dir, picos now, uint64_t local, uint64_t line,
                  unsigned sectors, unsigned slice)
{
  if (c->outer) {
    put_outside(c, (struct outer_item){.at = now, .local = local, .line = line, .sectors = (uint8_t)sectors,
                                       .slice = (uint8_t)slice, .write = dir == DRAM_WRITE});
    return;
  }
  struct dram_req r = {.line = line, .arrive = now, .slice = (uint8_t)slice, .sectors = (uint8_t)sectors,
                       .check = (uint8_t)ecc_cache_access(&c->ecc, local, dir == DRAM_WRITE)};
  locate(c, local, &r);
  enqueue(c, dir, r);
}

void dram_merge(struct dram *c, picos now, uint64_t local, unsigned sectors, unsigned partial)
{
  if (c->outer) {
    put_outside(c, (struct outer_item){.at = now, .local = local, .sectors = (uint8_t)sectors,
                                       .partial = (uint8_t)partial, .write = true});
    return;
  }
  struct dram_req r = {.arrive = now, .sectors = (uint8_t)partial, .merge = (uint8_t)sectors,
                       .check = (uint8_t)ecc_cache_access(&c->ecc, local, true)};
  locate(c, local, &r);
  c->n_merges++;
  enqueue(c, DRAM_READ, r);
}
