#include "isa/live.h"

#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "isa/hazard_role.h"
#include "isa/isa.h"

enum { SET_WORDS = (HAZARD_REGS + 63) / 64, NO_BLOCK = UINT32_MAX };

/* A set of registers, by their numbers (isa/hazard_role.h). */
struct regs {
  uint64_t w[SET_WORDS];
};

static void add_one(struct regs *s, int r)
{
  if (r >= 0) s->w[r / 64] |= UINT64_C(1) << r % 64;
}

static void add_operand(struct regs *s, const struct operand *o)
{
  for (unsigned k = 0; k < o->width; k++) add_one(s, hazard_reg_number(o, k));
}

static void add_all(struct regs *s, const struct regs *more)
{
  for (unsigned i = 0; i < SET_WORDS; i++) s->w[i] |= more->w[i];
}

static void keep_common(struct regs *s, const struct regs *other)
{
  for (unsigned i = 0; i < SET_WORDS; i++) s->w[i] &= other->w[i];
}

static void take_out(struct regs *s, const struct regs *less)
{
  for (unsigned i = 0; i < SET_WORDS; i++) s->w[i] &= ~less->w[i];
}

static bool same(const struct regs *a, const struct regs *b)
{
  return !memcmp(a, b, sizeof *a);
}

static struct regs every_register(void)
{
  struct regs s;
  memset(&s, 0xff, sizeof s);
  return s;
}

/* ---- what one instruction does ---- */

static bool is_guarded(const struct inst *in)
{
  return in->guard != GUARD_NONE || in->guard_not;
}

static struct regs reads_of(const struct inst *in)
{
  struct regs s = {0};
  for (unsigned i = 0; i < in->n_src; i++) add_operand(&s, &in->src[i]);
  if (in->guard != GUARD_NONE) add_one(&s, HAZARD_P + in->guard);
  return s;
}

static struct regs writes_of(const struct inst *in)
{
  struct regs s = {0};
  for (unsigned i = 0; i < in->n_dst; i++) add_operand(&s, &in->dst[i]);
  return s;
}

/* ---- blocks ---- */

/* What a piece of code does to the set that is live behind it: before it are `reads` and, of that set, what is not in
 * `kills`. */
struct effect_on_live {
  struct regs reads, kills;
};

/* Blocks are runs of instructions; the last two stand for what is not known: any function whose address is taken, and a
 * place anywhere. They have no instructions. */
struct basic_block {
  uint32_t first, end; /* instructions [first, end) */
  struct code_flow flow; /* behind the last */
  uint32_t callee;     /* block a call goes to; NO_BLOCK: none */
  bool queued;
  struct effect_on_live own;      /* of its own instructions */
  struct effect_on_live to_return; /* from its start to where the function returns */
  struct regs in;        /* live before it */
  struct regs at_return; /* live behind the calls of the functions it is part of */
};

struct edges {
  uint32_t *first; /* of each block, and one behind: to[first[b]] … */
  uint32_t *to;
};

struct pair {
  uint32_t from, to;
};

struct pairs {
  struct pair *list;
  uint32_t n, room;
};

struct analysis {
  const struct code_view *code;
  const struct live_program *program;
  const struct isa_abi *abi;
  struct arena arena;
  uint32_t n, n_blocks; /* instructions; blocks with instructions */
  struct basic_block *block;
  uint32_t *block_of; /* of each instruction */
  struct regs read;   /* all that some instruction reads: at an unknown place any of them may be */
  struct edges next, before;     /* within functions: a call goes to the instruction behind it */
  struct edges callers;          /* of a block that is called: the blocks that end with the call */
  uint32_t *queue, queue_head, queue_n; /* blocks to look at again: a ring */
};

static uint32_t any_function(const struct analysis *a)
{
  return a->n_blocks;
}

static uint32_t anywhere(const struct analysis *a)
{
  return a->n_blocks + 1;
}

static uint32_t all_blocks(const struct analysis *a)
{
  return a->n_blocks + 2;
}

static struct code_flow flow_at(const struct analysis *a, uint32_t i)
{
  return a->code->isa->flow(a->code->decoded, i, &a->code->inst[i]);
}

/* Number of the instruction at pc; UINT32_MAX: none starts there. */
static uint32_t inst_at(const struct analysis *a, uint64_t pc)
{
  const struct inst *in = code_at(a->code, pc);
  return in ? (uint32_t)code_number(a->code, in) : UINT32_MAX;
}

static uint32_t block_at(const struct analysis *a, uint64_t pc)
{
  uint32_t i = inst_at(a, pc);
  return i == UINT32_MAX ? anywhere(a) : a->block_of[i];
}

static struct live_list targets_of(const struct analysis *a, uint32_t i)
{
  if (!a->program->targets) return (struct live_list){0};
  return a->program->targets(a->program->context, code_pc(a->code, i));
}

static void mark(const struct analysis *a, bool *leader, uint64_t pc)
{
  uint32_t i = inst_at(a, pc);
  if (i != UINT32_MAX) leader[i] = true;
}

static void mark_all(const struct analysis *a, bool *leader, struct live_list l)
{
  for (size_t i = 0; i < l.n; i++) mark(a, leader, l.pc[i]);
}

static void find_leaders(struct analysis *a, bool *leader)
{
  leader[0] = true;
  mark_all(a, leader, a->program->taken);
  for (uint32_t i = 0; i < a->n; i++) {
    struct code_flow f = flow_at(a, i);
    if (f.kind == CODE_NEXT) continue;
    leader[i + 1] = true;
    if (f.kind == CODE_JUMP || f.kind == CODE_CALL) mark(a, leader, f.target);
    if (f.kind == CODE_JUMP_REGISTER) mark_all(a, leader, targets_of(a, i));
  }
}

static void find_blocks(struct analysis *a)
{
  bool *leader = ARENA_ARRAY(&a->arena, bool, a->n + 1);
  find_leaders(a, leader);
  a->block_of = ARENA_ARRAY(&a->arena, uint32_t, a->n);
  for (uint32_t i = 0; i < a->n; i++) a->n_blocks += leader[i];
  a->block = ARENA_ARRAY(&a->arena, struct basic_block, all_blocks(a));
  uint32_t b = NO_BLOCK;
  for (uint32_t i = 0; i < a->n; i++) {
    if (leader[i]) a->block[++b].first = i; /* NO_BLOCK + 1 = 0 */
    a->block[b].end = i + 1;
    a->block_of[i] = b;
  }
}

/* ---- edges ---- */

static void put_pair(struct analysis *a, struct pairs *p, uint32_t from, uint32_t to)
{
  p->list = arena_more(&a->arena, p->list, p->n, &p->room, sizeof *p->list);
  p->list[p->n++] = (struct pair){from, to};
}

/* By their first, or (backwards) by their second. */
static struct edges sort_pairs(struct analysis *a, const struct pairs *p, bool backwards)
{
  uint32_t n = all_blocks(a);
  struct edges e = {ARENA_ARRAY(&a->arena, uint32_t, n + 1), ARENA_ARRAY(&a->arena, uint32_t, p->n + 1)};
  uint32_t *at = ARENA_ARRAY(&a->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < p->n; i++) e.first[(backwards ? p->list[i].to : p->list[i].from) + 1]++;
  for (uint32_t b = 0; b < n; b++) e.first[b + 1] += e.first[b];
  memcpy(at, e.first, n * sizeof *at);
  for (uint32_t i = 0; i < p->n; i++) {
    struct pair x = p->list[i];
    e.to[at[backwards ? x.to : x.from]++] = backwards ? x.from : x.to;
  }
  return e;
}

static void put_table(struct analysis *a, struct pairs *next, uint32_t b)
{
  struct live_list l = targets_of(a, a->block[b].end - 1);
  for (size_t i = 0; i < l.n; i++) put_pair(a, next, b, block_at(a, l.pc[i]));
  if (!l.n) put_pair(a, next, b, anywhere(a));
}

static void put_edges(struct analysis *a, struct pairs *next, struct pairs *calls, uint32_t b)
{
  struct basic_block *x = &a->block[b];
  const bool falls = x->flow.kind == CODE_NEXT || x->flow.kind == CODE_CALL || x->flow.kind == CODE_CALL_REGISTER ||
                     x->flow.conditional;
  if (falls && x->end < a->n) put_pair(a, next, b, b + 1);
  switch (x->flow.kind) {
  case CODE_JUMP: put_pair(a, next, b, block_at(a, x->flow.target)); break;
  case CODE_JUMP_REGISTER: put_table(a, next, b); break;
  case CODE_CALL: x->callee = block_at(a, x->flow.target); break;
  case CODE_CALL_REGISTER: x->callee = any_function(a); break;
  default: break;
  }
  if (x->callee != NO_BLOCK) put_pair(a, calls, b, x->callee);
}

static void find_edges(struct analysis *a)
{
  struct pairs next = {0}, calls = {0};
  for (uint32_t b = 0; b < all_blocks(a); b++) a->block[b].callee = NO_BLOCK;
  for (uint32_t b = 0; b < a->n_blocks; b++) {
    a->block[b].flow = flow_at(a, a->block[b].end - 1);
    put_edges(a, &next, &calls, b);
  }
  for (size_t i = 0; i < a->program->taken.n; i++)
    put_pair(a, &next, any_function(a), block_at(a, a->program->taken.pc[i]));
  if (!a->program->taken.n) put_pair(a, &next, any_function(a), anywhere(a));
  a->next = sort_pairs(a, &next, false);
  a->before = sort_pairs(a, &next, true);
  a->callers = sort_pairs(a, &calls, true);
}

/* ---- the queue ---- */

static void look_again(struct analysis *a, uint32_t b)
{
  if (a->block[b].queued) return;
  a->block[b].queued = true;
  a->queue[(a->queue_head + a->queue_n++) % all_blocks(a)] = b;
}

static uint32_t take(struct analysis *a)
{
  uint32_t b = a->queue[a->queue_head];
  a->queue_head = (a->queue_head + 1) % all_blocks(a);
  a->queue_n--;
  a->block[b].queued = false;
  return b;
}

static void look_again_all(struct analysis *a, const struct edges *e, uint32_t b)
{
  for (uint32_t i = e->first[b]; i < e->first[b + 1]; i++) look_again(a, e->to[i]);
}

/* ---- what blocks and functions do ---- */

/* The piece behind is known in *x; now a piece in front of it, too. */
static void put_before(struct effect_on_live *x, const struct effect_on_live *front)
{
  take_out(&x->reads, &front->kills);
  add_all(&x->reads, &front->reads);
  add_all(&x->kills, &front->kills);
}

static void put_inst_before(struct effect_on_live *x, const struct inst *in)
{
  struct effect_on_live one = {.reads = reads_of(in)};
  if (!is_guarded(in)) one.kills = writes_of(in);
  put_before(x, &one);
}

static void find_own(struct analysis *a, struct basic_block *x)
{
  for (uint32_t i = x->end; i-- > x->first;) {
    struct regs r = reads_of(&a->code->inst[i]);
    add_all(&a->read, &r);
    put_inst_before(&x->own, &a->code->inst[i]);
  }
  struct operand parameters = a->abi->parameters;
  if (x->flow.parameters < parameters.width) parameters.width = x->flow.parameters;
  if (!parameters.width) return;
  add_operand(&x->own.reads, &parameters); /* of a service: one instruction */
  add_operand(&x->own.reads, &a->abi->link);
}

/* The call at the end of a block, behind its own instructions. */
static void put_call_before(const struct analysis *a, const struct basic_block *x, struct effect_on_live *behind)
{
  if (x->callee == NO_BLOCK) return;
  struct effect_on_live call = a->block[x->callee].to_return;
  if (x->flow.conditional) call.kills = (struct regs){0};
  put_before(behind, &call);
}

static bool returns(const struct basic_block *x)
{
  return x->flow.kind == CODE_RETURN && x->first < x->end;
}

/* From the end of a block on: all ways it may go on. A thread that ends reads nothing more, whatever was to come. */
static struct effect_on_live way_on(const struct analysis *a, uint32_t b)
{
  struct effect_on_live e = {.kills = every_register()};
  if (returns(&a->block[b])) e.kills = (struct regs){0};
  for (uint32_t i = a->next.first[b]; i < a->next.first[b + 1]; i++) {
    const struct basic_block *to = &a->block[a->next.to[i]];
    add_all(&e.reads, &to->to_return.reads);
    keep_common(&e.kills, &to->to_return.kills);
  }
  return e;
}

static bool summarise_block(struct analysis *a, uint32_t b)
{
  struct basic_block *x = &a->block[b];
  struct effect_on_live e = way_on(a, b);
  put_call_before(a, x, &e);
  put_before(&e, &x->own);
  if (same(&e.reads, &x->to_return.reads) && same(&e.kills, &x->to_return.kills)) return false;
  x->to_return = e;
  return true;
}

/* Summaries start from "reads nothing, overwrites all" and get worse until nothing changes. */
static void summarise(struct analysis *a)
{
  for (uint32_t b = 0; b < all_blocks(a); b++) a->block[b].to_return.kills = every_register();
  a->block[anywhere(a)].to_return = (struct effect_on_live){.reads = a->read};
  for (uint32_t b = anywhere(a); b-- > 0;) look_again(a, b);
  while (a->queue_n) {
    uint32_t b = take(a);
    if (!summarise_block(a, b)) continue;
    look_again_all(a, &a->before, b);
    look_again_all(a, &a->callers, b);
  }
}

/* ---- what is live ---- */

/* Behind the last instruction of a block, before the call it makes. */
static struct regs live_at_end(const struct analysis *a, uint32_t b)
{
  const struct basic_block *x = &a->block[b];
  struct effect_on_live e = {0};
  if (returns(x)) e.reads = x->at_return;
  for (uint32_t i = a->next.first[b]; i < a->next.first[b + 1]; i++) add_all(&e.reads, &a->block[a->next.to[i]].in);
  put_call_before(a, x, &e);
  return e.reads;
}

/* What is live where a call returns to is live where the function returns. */
static void tell_callee(struct analysis *a, uint32_t b)
{
  struct basic_block *x = &a->block[b], *to = x->callee == NO_BLOCK ? NULL : &a->block[x->callee];
  if (!to || x->end >= a->n) return;
  struct regs before = to->at_return;
  add_all(&to->at_return, &a->block[b + 1].in);
  if (!same(&before, &to->at_return)) look_again(a, x->callee);
}

static void tell_next(struct analysis *a, uint32_t b)
{
  for (uint32_t i = a->next.first[b]; i < a->next.first[b + 1]; i++) {
    struct basic_block *to = &a->block[a->next.to[i]];
    struct regs before = to->at_return;
    add_all(&to->at_return, &a->block[b].at_return);
    if (!same(&before, &to->at_return)) look_again(a, a->next.to[i]);
  }
}

static void find_live(struct analysis *a)
{
  a->block[anywhere(a)].in = a->read;
  for (uint32_t b = anywhere(a); b-- > 0;) look_again(a, b);
  while (a->queue_n) {
    uint32_t b = take(a);
    struct basic_block *x = &a->block[b];
    struct regs in = live_at_end(a, b);
    take_out(&in, &x->own.kills);
    add_all(&in, &x->own.reads);
    tell_next(a, b);
    tell_callee(a, b);
    if (same(&in, &x->in)) continue;
    x->in = in;
    look_again_all(a, &a->before, b); /* the caller whose call returns here, too: it tells the function */
  }
}

/* ---- counts ---- */

static uint8_t count_range(const struct regs *s, unsigned from, unsigned end)
{
  unsigned n = 0;
  for (unsigned r = from; r < end; r++) n += (unsigned)(s->w[r / 64] >> r % 64 & 1);
  return (uint8_t)n;
}

static struct live_count count_files(const struct regs *s)
{
  return (struct live_count){{
    [LIVE_R] = count_range(s, 0, HAZARD_UR),
    [LIVE_UR] = count_range(s, HAZARD_UR, HAZARD_P),
    [LIVE_P] = count_range(s, HAZARD_P, HAZARD_UP),
    [LIVE_UP] = count_range(s, HAZARD_UP, HAZARD_REGS),
  }};
}

/* Live before each instruction of the block, into live[0] …; behind the last into live[n]. */
static void spread_live(const struct analysis *a, uint32_t b, struct regs *live)
{
  const struct basic_block *x = &a->block[b];
  uint32_t n = x->end - x->first;
  struct effect_on_live e = {.reads = live_at_end(a, b)};
  live[n] = e.reads;
  while (n-- > 0) {
    put_inst_before(&e, &a->code->inst[x->first + n]);
    live[n] = e.reads;
  }
}

static void count_block(const struct analysis *a, uint32_t b, struct regs *live, struct live_count *count)
{
  const struct basic_block *x = &a->block[b];
  struct regs reserved = {0};
  add_operand(&reserved, &a->abi->reserved);
  spread_live(a, b, live);
  for (uint32_t i = x->first; i < x->end; i++) {
    struct regs reads = reads_of(&a->code->inst[i]), writes = writes_of(&a->code->inst[i]);
    struct regs s = live[i - x->first];
    add_all(&s, &live[i - x->first + 1]);
    add_all(&s, &reads);
    add_all(&s, &writes);
    add_all(&s, &reserved);
    count[i] = count_files(&s);
  }
}

static void count_all(struct analysis *a, struct live_count *count)
{
  uint32_t longest = 0;
  for (uint32_t b = 0; b < a->n_blocks; b++)
    if (a->block[b].end - a->block[b].first > longest) longest = a->block[b].end - a->block[b].first;
  struct regs *live = ARENA_ARRAY(&a->arena, struct regs, longest + 1);
  for (uint32_t b = 0; b < a->n_blocks; b++) count_block(a, b, live, count);
}

bool live_registers(const struct code_view *code, const struct live_program *program, struct live_count *count)
{
  if (!code->isa || !code->isa->flow || !code->isa->abi || !code->decoded) return false;
  struct analysis a = {.code = code, .program = program, .abi = code->isa->abi, .n = (uint32_t)code_count(code)};
  if (!a.n) return true;
  find_blocks(&a);
  find_edges(&a);
  a.queue = ARENA_ARRAY(&a.arena, uint32_t, all_blocks(&a));
  for (uint32_t b = 0; b < a.n_blocks; b++) find_own(&a, &a.block[b]);
  summarise(&a);
  find_live(&a);
  count_all(&a, count);
  arena_free(&a.arena);
  return true;
}
