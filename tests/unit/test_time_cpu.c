/* Cores of a CPU in time: cycles of small programs against sums of parameters, what several cores see of each other's
 * stores under every protocol, and the same on several threads of the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/host_memory.h"
#include "func/rv64/rv64_step.h"
#include "time/cpu/cpu_complex.h"

/* --- words ---------------------------------------------------------------------------------------- */

static uint32_t r_type(uint32_t op, uint32_t f3, uint32_t f7, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static uint32_t i_type(uint32_t op, uint32_t f3, uint32_t rd, uint32_t rs1, int32_t imm)
{
  return (uint32_t)imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static uint32_t s_type(uint32_t f3, uint32_t rs1, uint32_t rs2, uint32_t imm)
{
  return (imm >> 5) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (imm & 31) << 7 | 0x23;
}

static uint32_t branch(uint32_t f3, uint32_t rs1, uint32_t rs2, int32_t to)
{
  const uint32_t i = (uint32_t)to;
  return (i >> 12 & 1) << 31 | (i >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (i >> 1 & 15) << 8 |
         (i >> 11 & 1) << 7 | 0x63;
}

static uint32_t jal(uint32_t rd, int32_t to)
{
  const uint32_t i = (uint32_t)to;
  return (i >> 20 & 1) << 31 | (i >> 1 & 1023) << 21 | (i >> 11 & 1) << 20 | (i >> 12 & 255) << 12 | rd << 7 | 0x6f;
}

#define ADD(rd, a, b)   r_type(0x33, 0, 0, rd, a, b)
#define SUB(rd, a, b)   r_type(0x33, 0, 32, rd, a, b)
#define ADDI(rd, a, n)  i_type(0x13, 0, rd, a, n)
#define MUL(rd, a, b)   r_type(0x33, 0, 1, rd, a, b)
#define DIV(rd, a, b)   r_type(0x33, 4, 1, rd, a, b)
#define DIVW(rd, a, b)  r_type(0x3b, 4, 1, rd, a, b)
#define FADD(rd, a, b)  r_type(0x53, 0, 1, rd, a, b)
#define FMUL(rd, a, b)  r_type(0x53, 0, 9, rd, a, b)
#define FDIV(rd, a, b)  r_type(0x53, 0, 13, rd, a, b)
#define FDIVS(rd, a, b) r_type(0x53, 0, 12, rd, a, b)
#define FMADD(rd, a, b) (r_type(0x43, 0, 1, rd, a, b) | (a) << 27)
#define FSGNJ(rd, a, b) r_type(0x53, 0, 17, rd, a, b)
#define FMV_X_D(rd, a)  r_type(0x53, 0, 0x71, rd, a, 0)
#define LD(rd, a, n)    i_type(0x03, 3, rd, a, n)
#define LW(rd, a, n)    i_type(0x03, 2, rd, a, n)
#define SD(a, b, n)     s_type(3, a, b, n)
#define SW(a, b, n)     s_type(2, a, b, n)
#define LR(rd, a)       r_type(0x2f, 3, 8, rd, a, 0)
#define SC(rd, a, b)    r_type(0x2f, 3, 12, rd, a, b)
#define AMOADD(rd, a, b) r_type(0x2f, 3, 0, rd, a, b)
#define CYCLE(rd)       i_type(0x73, 2, rd, 0, -0x400) /* csrrs rd, cycle, x0 */
#define FENCE           0x0ff0000fu
#define ECALL           0x73u
#define NOP             ADDI(0, 0, 0)
#define BEQ 0
#define BNE 1

/* --- a machine ------------------------------------------------------------------------------------ */

enum { MEMORY = 1 << 18, CORES = 4, DATA = 0x20000, WORDS = 64, CODE_STEP = 0x2000 };
enum { PERIOD = 1000 };

struct rig {
  uint8_t *memory;
  struct cpu_params params;
  struct rv64_core *code;
  struct rv64_stepper *stepper;
  struct cpu_complex *cpu;
  struct domain *domain;
  struct part os;
  uint64_t asked; /* a bit for each page that a core asked for */
};

static uint8_t *rig_memory(void *ctx, uint64_t line)
{
  return ((struct rig *)ctx)->memory + line * COH_LINE_BYTES;
}

static uint8_t *rig_page(void *ctx, uint64_t addr, enum rv64_access access)
{
  (void)access;
  return addr < MEMORY ? ((struct rig *)ctx)->memory + addr : NULL;
}

static picos rig_os(void *self, picos from, picos to)
{
  struct rig *r = self;
  (void)from;
  for (uint32_t i = 0; i < r->cpu->n_cores; i++) {
    struct cpu_core *c = &r->cpu->core[i];
    if (c->state != CPU_ASKS) continue;
    if (c->ask == CPU_ASK_TRAP) {
      if (r->stepper[i].stop != RV64_STOP_ECALL) fail_msg("core %u stops at 0x%llx", i, (unsigned long long)c->pc);
      cpu_core_idle(c, to);
      continue;
    }
    if (c->ask == CPU_ASK_CODE) assert_true(rv64_step_bring(r->code, &r->stepper[i], c->pc));
    if (c->ask == CPU_ASK_PAGE) {
      r->asked |= (uint64_t)1 << (c->address >> CPU_PAGE_SHIFT);
      cpu_core_allow(c, c->address, true, true);
    }
    cpu_complex_run(r->cpu, i, c->pc, to);
  }
  return TIME_NEVER;
}

static uint64_t no_progress(const void *self)
{
  (void)self;
  return 0;
}

static bool not_busy(const void *self)
{
  (void)self;
  return false;
}

static bool go_on(void *ctx, picos now)
{
  (void)ctx, (void)now;
  return true;
}

static const struct cpu_params plain = {
  .protocol = CPU_PROTOCOL_HSC, .topology = CPU_TOPOLOGY_CROSSBAR, .cores = 1, .clock_mhz = 1000000 / PERIOD,
  .branch_penalty = 7, .mul_cycles = 3, .div_cycles = 33, .divw_cycles = 17, .fp_add_cycles = 4, .fp_mul_cycles = 5,
  .fp_fma_cycles = 6, .fp_move_cycles = 2, .fp_div_single_cycles = 19, .fp_div_double_cycles = 29, .csr_cycles = 3,
  .loads = 2, .stores = 4, .l1i_sets = 64, .l1i_ways = 4, .l1d_sets = 64, .l1d_ways = 4, .l1d_cycles = 3, .l2_sets = 512,
  .l2_ways = 8, .l2_cycles = 9, .l2_misses = 8, .reservation_cycles = 80, .tlb_entries = 32, .tlb_l2_entries = 512,
  .tlb_l2_cycles = 5, .walk_cache_entries = 16, .homes = 2, .home_sets = 1024, .home_ways = 8, .home_cycles = 6,
  .mesh_width = 2, .hop_cycles = 4, .link_mbps = 8000, .queue_places = 8};
enum { MEMORY_NS = 50, MEMORY_MBPS = 64000 };

static struct rig *rig_new(const struct cpu_params *p)
{
  struct rig *r = mem_zeroed(1, sizeof *r);
  struct err e;
  static const struct part_ops ops = {rig_os, no_progress, not_busy, NULL};
  void *hart[CORES];
  r->params = *p;
  r->memory = mem_zeroed(1, MEMORY);
  r->code = rv64_core_new(&(struct rv64_memory){r, rig_page});
  r->stepper = mem_zeroed(p->cores, sizeof *r->stepper);
  for (uint32_t i = 0; i < p->cores; i++) hart[i] = &r->stepper[i];
  r->cpu = cpu_complex_new(&(struct cpu_complex_config){.params = &r->params, .memory_mbps = MEMORY_MBPS,
                                                        .memory_latency_ns = MEMORY_NS, .ops = &rv64_step_ops,
                                                        .hart = hart, .memory = rig_memory, .ctx = r}, &e);
  assert_non_null(r->cpu);
  r->os = (struct part){&ops, r, TIME_NEVER};
  struct domain_config d = cpu_complex_domain(r->cpu, &r->os);
  d.between = go_on;
  r->domain = domain_new(&d);
  return r;
}

static void rig_free(struct rig *r)
{
  domain_free(r->domain);
  cpu_complex_free(r->cpu);
  rv64_core_free(r->code);
  mem_free(r->stepper);
  mem_free(r->memory);
  mem_free(r);
}

/* The code of core i, whose x10 is `x10` and x11 DATA; f1 is 1.5. */
static void rig_code(struct rig *r, uint32_t i, const uint32_t *code, size_t bytes, uint64_t x10)
{
  const uint64_t at = CODE_STEP * (i + 1);
  const double f1 = 1.5;
  memcpy(r->memory + at, code, bytes);
  r->stepper[i].hart.x[10] = x10;
  r->stepper[i].hart.x[11] = DATA;
  memcpy(&r->stepper[i].hart.f[1], &f1, sizeof f1);
  cpu_complex_run(r->cpu, i, at, 0);
}

static void rig_run(struct rig *r, struct team *team)
{
  const enum domain_end end = domain_run(r->domain, TIME_NEVER, team);
  if (end != DOMAIN_IDLE) cpu_complex_dump(r->cpu, stderr);
  assert_int_equal(end, DOMAIN_IDLE);
  coh_system_to_memory(r->cpu->coherence, 0, MEMORY / COH_LINE_BYTES);
}

static void put(struct rig *r, uint64_t addr, uint64_t value)
{
  memcpy(r->memory + addr, &value, sizeof value);
}

static uint64_t get(const struct rig *r, uint64_t addr)
{
  uint64_t v;
  memcpy(&v, r->memory + addr, sizeof v);
  return v;
}

/* --- cycles by formula ---------------------------------------------------------------------------- */

/* Runs `body` four times between two readings of the clock; x8: cycles of the last time, behind what x6 waits for. The
 * clock's own cycles and the instruction that waits are taken off. */
static uint64_t cycles_of(struct rig *r, const uint32_t *body, size_t n, uint32_t wait)
{
  uint32_t code[WORDS + 8];
  size_t k = 0;
  code[k++] = CYCLE(5);
  memcpy(code + k, body, n * sizeof *body);
  k += n;
  code[k++] = wait;
  code[k++] = CYCLE(7);
  code[k++] = SUB(8, 7, 5);
  code[k++] = ADDI(10, 10, -1);
  code[k] = branch(BNE, 10, 0, -4 * (int32_t)k);
  code[++k] = ECALL;
  rig_code(r, 0, code, (k + 1) * sizeof *code, 4);
  rig_run(r, NULL);
  return r->stepper[0].hart.x[8] - r->params.csr_cycles - 1;
}

static uint64_t chain(const struct cpu_params *p, uint32_t word, unsigned n, uint32_t wait)
{
  uint32_t body[WORDS];
  for (unsigned i = 0; i < n; i++) body[i] = word;
  struct rig *r = rig_new(p);
  const uint64_t cycles = cycles_of(r, body, n, wait);
  rig_free(r);
  return cycles;
}

static void arithmetic(void **state)
{
  (void)state;
  const struct cpu_params *p = &plain;
  const uint32_t x = ADD(6, 12, 0), f = FMV_X_D(6, 1);
  assert_int_equal(chain(p, ADDI(12, 12, 1), 10, x), 10);
  assert_int_equal(chain(p, MUL(12, 12, 12), 10, x), 10 * p->mul_cycles);
  assert_int_equal(chain(p, MUL(12, 13, 13), 10, x), 10 * p->mul_cycles); /* one result behind the other */
  assert_int_equal(chain(p, MUL(0, 13, 13), 10, x), 10);
  assert_int_equal(chain(p, DIV(12, 12, 10), 4, x), 4 * p->div_cycles);
  const uint32_t divisions[] = {DIV(0, 13, 10), DIV(0, 13, 10), DIV(12, 13, 10)};
  struct rig *r = rig_new(p);
  assert_int_equal(cycles_of(r, divisions, 3, x), 3 * p->div_cycles); /* one unit */
  rig_free(r);
  assert_int_equal(chain(p, DIVW(12, 12, 10), 4, x), 4 * p->divw_cycles);
  assert_int_equal(chain(p, FADD(1, 1, 1), 8, f), 8 * p->fp_add_cycles);
  assert_int_equal(chain(p, FMUL(1, 1, 1), 8, f), 8 * p->fp_mul_cycles);
  assert_int_equal(chain(p, FMADD(1, 1, 1), 8, f), 8 * p->fp_fma_cycles);
  assert_int_equal(chain(p, FSGNJ(1, 1, 1), 8, f), 8 * p->fp_move_cycles);
  assert_int_equal(chain(p, FDIV(1, 1, 1), 3, f), 3 * p->fp_div_double_cycles);
  assert_int_equal(chain(p, FDIVS(1, 1, 1), 3, f), 3 * p->fp_div_single_cycles);
}

static void branches(void **state)
{
  (void)state;
  struct cpu_params p = plain;
  enum { N = 6 };
  uint32_t body[2 * N];
  assert_int_equal(chain(&p, branch(BNE, 0, 0, 8), N, NOP), N); /* forward, not taken */
  for (unsigned i = 0; i < N; i++) body[2 * i] = branch(BEQ, 0, 0, 8), body[2 * i + 1] = NOP;
  struct rig *r = rig_new(&p);
  assert_int_equal(cycles_of(r, body, 2 * N, NOP), N * (1 + p.branch_penalty));
  rig_free(r);
  p.branch_entries = 64; /* they are known from the second time on */
  r = rig_new(&p);
  assert_int_equal(cycles_of(r, body, 2 * N, NOP), N);
  rig_free(r);
  /* A call of a return. */
  const uint32_t call[] = {jal(1, 8), jal(0, 8), i_type(0x67, 0, 0, 1, 0), NOP};
  p.branch_entries = 0;
  r = rig_new(&p);
  assert_int_equal(cycles_of(r, call, 3, NOP), 3 + p.branch_penalty);
  rig_free(r);
  p.return_entries = 2;
  r = rig_new(&p);
  assert_int_equal(cycles_of(r, call, 3, NOP), 3);
  rig_free(r);
}

/* Pointers, each `step` bytes behind the other, `n` of them in a circle. */
static void circle(struct rig *r, uint64_t step, unsigned n)
{
  for (unsigned i = 0; i < n; i++) put(r, DATA + i * step, DATA + (i + 1) % n * step);
}

static uint64_t chase(const struct cpu_params *p, uint64_t step, unsigned n, unsigned loads)
{
  uint32_t body[WORDS];
  for (unsigned i = 0; i < loads; i++) body[i] = LD(11, 11, 0);
  struct rig *r = rig_new(p);
  circle(r, step, n);
  const uint64_t cycles = cycles_of(r, body, loads, ADD(6, 11, 0));
  rig_free(r);
  return cycles;
}

static void dependent_loads(void **state)
{
  (void)state;
  struct cpu_params p = plain;
  enum { N = 8, HEAD_NS = 1, DATA_NS = 9 }; /* 8 and 72 bytes at 8 GB/s */
  assert_int_equal(chase(&p, 0, 1, N), N * p.l1d_cycles);
  p.l1d_sets = p.l1d_ways = 1; /* two lines in turn */
  assert_int_equal(chase(&p, 64, 2, N), N * (p.l1d_cycles + p.l2_cycles));
  /* Lines that nobody has had: there and back, through a cycle of the home; cycles are ns. */
  const uint64_t miss = p.l1d_cycles + 2 * p.l2_cycles + 2 * p.hop_cycles + HEAD_NS + DATA_NS + p.home_cycles + MEMORY_NS;
  p = plain;
  assert_int_equal(chase(&p, 64, 5 * N, N), N * miss);
  p.tlb_entries = 4; /* five pages in turn */
  assert_int_equal(chase(&p, 4160, 5, N), N * (p.l1d_cycles + p.tlb_l2_cycles));
  /* No second TLB: the last level is read each time, the levels above are remembered. */
  p.tlb_l2_entries = 0;
  assert_int_equal(chase(&p, 4160, 5, N), N * (p.l1d_cycles + p.l1d_cycles + p.l2_cycles));
  p.walk_cache_entries = 0;
  assert_int_equal(chase(&p, 4160, 5, N), N * (p.l1d_cycles + 3 * (p.l1d_cycles + p.l2_cycles)));
}

/* Loads behind stores to the same place come from the buffer; parts of several stores, and what lies in two lines or two
 * pages, is right. */
static void store_buffer(void **state)
{
  (void)state;
  const uint32_t code[] = {
    ADDI(12, 0, 0x123), SD(11, 12, 0), LD(13, 11, 0), LW(14, 11, 0),          /* whole, part */
    ADDI(15, 0, -1), SW(11, 15, 4), LD(16, 11, 0),                             /* of two stores */
    SD(11, 12, 60), LD(17, 11, 60), LW(18, 11, 64),                            /* two lines */
    SD(19, 12, 0), LD(20, 19, 0), ECALL};
  struct rig *r = rig_new(&plain);
  const uint64_t *x = r->stepper[0].hart.x;
  rig_code(r, 0, code, sizeof code, 0);
  r->stepper[0].hart.x[19] = DATA + 4096 - 3;
  put(r, DATA + 68, 0x7766554433221100); /* behind the store's second part */
  put(r, DATA + 4096 + 5, 0x7766554433221100);
  rig_run(r, NULL);
  assert_true(r->asked == (uint64_t)3 << (DATA >> CPU_PAGE_SHIFT)); /* both pages of what lies in two */
  assert_true(get(r, DATA + 68) == 0x7766554433221100);
  assert_true(get(r, DATA + 4096 + 5) == 0x7766554433221100);
  assert_int_equal(x[13], 0x123);
  assert_int_equal(x[14], 0x123);
  assert_true(x[16] == 0xffffffff00000123);
  assert_int_equal(x[17], 0x123);
  assert_int_equal(x[18], 0);
  assert_int_equal(x[20], 0x123);
  assert_int_equal(get(r, DATA + 4096 - 3), 0x123);
  assert_true(r->cpu->core[0].stats.forwarded >= 2);
  rig_free(r);
}

/* A fence waits until a store is performed: it is not before its line has come. */
static void fences(void **state)
{
  (void)state;
  const uint32_t without[] = {ADDI(11, 11, 64), SD(11, 12, 0)};
  const uint32_t with[] = {ADDI(11, 11, 64), SD(11, 12, 0), FENCE};
  struct rig *r = rig_new(&plain);
  const uint64_t loose = cycles_of(r, without, 2, NOP);
  rig_free(r);
  r = rig_new(&plain);
  const uint64_t strict = cycles_of(r, with, 3, NOP);
  rig_free(r);
  const struct cpu_params *p = &plain;
  const uint64_t miss = 2 * p->l2_cycles + 2 * p->hop_cycles + 1 + 9 + p->home_cycles + MEMORY_NS;
  /* Reading the clock waits for what is on its way, too: the store is offered a cycle behind its issue. */
  assert_int_equal(loose, 2 + miss - 1);
  assert_int_equal(strict, 2 + miss + 1);
}

/* Stores to a line that the core has: one each cycle, and the buffer never fills. */
static void stores_in_a_row(void **state)
{
  (void)state;
  enum { FEW = 8, MANY = 40 };
  uint32_t body[MANY];
  uint64_t cycles[2];
  for (unsigned i = 0; i < MANY; i++) body[i] = SD(11, 12, 8 * (i % 8));
  for (unsigned k = 0; k < 2; k++) {
    struct rig *r = rig_new(&plain);
    cycles[k] = cycles_of(r, body, k ? MANY : FEW, NOP);
    rig_free(r);
  }
  assert_int_equal(cycles[1] - cycles[0], MANY - FEW);
}

/* --- several cores -------------------------------------------------------------------------------- */

enum { X = DATA, Y = DATA + 0x1000, OUT = DATA + 0x2000, COUNTS = 100, ROUNDS = 24 };

static uint32_t lui(uint32_t rd, uint32_t addr)
{
  return addr >> 12 << 12 | rd << 7 | 0x37;
}

static struct cpu_params of_protocol(unsigned protocol, uint32_t cores)
{
  struct cpu_params p = plain;
  p.protocol = protocol;
  p.topology = protocol % CPU_TOPOLOGY__N;
  p.cores = cores;
  p.queue_places = 1 + protocol % 3;
  return p;
}

/* Each core adds 1 so often, by LR and SC or by an atomic: none is lost. */
static void counter(unsigned protocol, bool reserved, struct team *team, uint64_t *digest)
{
  const uint32_t pairs[] = {LR(12, 11), ADDI(12, 12, 1), SC(13, 11, 12), 0, ADDI(10, 10, -1), 0, ECALL};
  const uint32_t adds[] = {ADDI(12, 0, 1), AMOADD(13, 11, 12), ADDI(10, 10, -1), 0, ECALL};
  uint32_t code[7];
  const struct cpu_params p = of_protocol(protocol, CORES);
  struct rig *r = rig_new(&p);
  if (reserved) {
    memcpy(code, pairs, sizeof pairs);
    code[3] = branch(BNE, 13, 0, -12);
    code[5] = branch(BNE, 10, 0, -20);
  } else {
    memcpy(code, adds, sizeof adds);
    code[3] = branch(BNE, 10, 0, -12);
  }
  for (uint32_t i = 0; i < CORES; i++) rig_code(r, i, code, reserved ? sizeof pairs : sizeof adds, COUNTS);
  rig_run(r, team);
  assert_int_equal(get(r, DATA), CORES * COUNTS);
  *digest = coh_system_net(r->cpu->coherence)->messages;
  for (uint32_t i = 0; i < CORES; i++)
    *digest = *digest * 31 + r->cpu->core[i].stats.cycles * 7 + r->cpu->core[i].stats.insts;
  rig_free(r);
}

static void counters(void **state)
{
  (void)state;
  uint64_t digest;
  for (unsigned k = 0; k < CPU_PROTOCOL__N; k++) {
    counter(k, true, NULL, &digest);
    counter(k, false, NULL, &digest);
  }
}

static void host_threads(void **state)
{
  (void)state;
  uint64_t alone, several;
  counter(CPU_PROTOCOL_MESI, true, NULL, &alone);
  for (unsigned n = 2; n <= 3; n++) {
    struct team *team = team_new(n);
    counter(CPU_PROTOCOL_MESI, true, team, &several);
    team_free(team);
    assert_true(several == alone);
  }
}

/* Code of a core of a litmus test: both variables into its L1, a wait of x10 rounds, four words, then x20 and x21 to OUT
 * + 16 * core. x5: X, x6: Y, x7: OUT, x9: 1. */
static void player(struct rig *r, uint32_t i, const uint32_t word[4], uint64_t wait)
{
  uint32_t code[20];
  size_t k = 0;
  code[k++] = lui(5, X);
  code[k++] = lui(6, Y);
  code[k++] = lui(7, OUT);
  code[k++] = ADDI(9, 0, 1);
  code[k++] = LD(20, 5, 0);
  code[k++] = LD(21, 6, 0);
  code[k++] = SD(7, 9, 256 + 64 * i); /* the page of the results is there, too */
  code[k++] = FENCE;
  code[k++] = ADDI(10, 10, -1);
  code[k++] = branch(BNE, 10, 0, -4);
  memcpy(code + k, word, 16);
  k += 4;
  code[k++] = SD(7, 20, 16 * i);
  code[k++] = SD(7, 21, 16 * i + 8);
  code[k++] = ECALL;
  rig_code(r, i, code, k * sizeof *code, wait);
}

/* How often, of so many rounds with different waits, loads of core i gave `want[2 * i]` and `want[2 * i + 1]`; -1: any. */
static unsigned outcomes(unsigned protocol, uint32_t cores, uint32_t word[CORES][4], const int *want)
{
  unsigned n = 0;
  uint64_t draw = 1;
  for (unsigned round = 0; round < ROUNDS; round++) {
    const struct cpu_params p = of_protocol(protocol, cores);
    struct rig *r = rig_new(&p);
    bool as_wanted = true;
    for (uint32_t i = 0; i < cores; i++) {
      draw = draw * 6364136223846793005u + 1442695040888963407u;
      player(r, i, word[i], 1500 + (draw >> 33) % (1 + 12 * round));
    }
    rig_run(r, NULL);
    for (uint32_t i = 0; i < 2 * cores; i++) as_wanted &= want[i] < 0 || get(r, OUT + 8 * i) == (uint64_t)want[i];
    n += as_wanted;
    rig_free(r);
  }
  return n;
}

/* Two cores store, then load what the other stores: without fences both may see the old value, and with the store buffer
 * they do. */
static void store_buffering(void **state)
{
  (void)state;
  uint32_t loose[CORES][4] = {{SD(5, 9, 0), LD(20, 6, 0), NOP, NOP}, {SD(6, 9, 0), LD(20, 5, 0), NOP, NOP}};
  uint32_t strict[CORES][4] = {{SD(5, 9, 0), FENCE, LD(20, 6, 0), NOP}, {SD(6, 9, 0), FENCE, LD(20, 5, 0), NOP}};
  static const int old[] = {0, -1, 0, -1};
  for (unsigned k = 0; k < CPU_PROTOCOL__N; k++) {
    if (k != CPU_PROTOCOL_MI) assert_int_not_equal(outcomes(k, 2, loose, old), 0); /* with MI one copy is lost */
    assert_int_equal(outcomes(k, 2, strict, old), 0);
  }
}

/* x = 1, then y = 1; who sees y sees x. The same with two writers and two readers: they agree on an order. */
static void message_passing(void **state)
{
  (void)state;
  uint32_t pass[CORES][4] = {{SD(5, 9, 0), FENCE, SD(6, 9, 0), NOP}, {LD(20, 6, 0), FENCE, LD(21, 5, 0), NOP}};
  uint32_t iriw[CORES][4] = {{SD(5, 9, 0), NOP, NOP, NOP}, {SD(6, 9, 0), NOP, NOP, NOP},
                             {LD(20, 5, 0), FENCE, LD(21, 6, 0), NOP}, {LD(20, 6, 0), FENCE, LD(21, 5, 0), NOP}};
  static const int lost[] = {-1, -1, 1, 0}, two_orders[] = {-1, -1, -1, -1, 1, 0, 1, 0}, seen[] = {-1, -1, 1, 1};
  unsigned passed = 0;
  for (unsigned k = 0; k < CPU_PROTOCOL__N; k++) {
    assert_int_equal(outcomes(k, 2, pass, lost), 0);
    assert_int_equal(outcomes(k, 4, iriw, two_orders), 0);
    passed += outcomes(k, 2, pass, seen);
  }
  assert_int_not_equal(passed, 0);
}

/* --- beside others who see memory ------------------------------------------------------------------ */

static void run_core(struct rig *r, uint32_t core, const uint32_t *code, size_t bytes)
{
  rig_code(r, core, code, bytes, 0);
  assert_int_equal(domain_run(r->domain, TIME_NEVER, NULL), DOMAIN_IDLE);
}

/* What a core has stored is in its cache until memory asks for it; what somebody else stores there is seen by another
 * core, though the first one's copy of the line is the newest. */
static void stores_and_memory(void **state)
{
  (void)state;
  const uint32_t store[] = {ADDI(5, 0, 42), SD(11, 5, 0), FENCE, ECALL};
  const uint32_t load[] = {LD(6, 11, 0), LD(7, 11, 8), ADD(8, 6, 7), ECALL};
  struct cpu_params p = plain;
  p.cores = 2;
  struct rig *r = rig_new(&p);
  coh_system_note_stores(r->cpu->coherence, true);
  run_core(r, 0, store, sizeof store);
  assert_int_equal(get(r, DATA), 0);
  coh_system_stores_to_memory(r->cpu->coherence);
  assert_int_equal(get(r, DATA), 42);
  put(r, DATA + 8, 1000);
  coh_system_from_memory(r->cpu->coherence, DATA / COH_LINE_BYTES, 1);
  run_core(r, 1, load, sizeof load);
  assert_int_equal(r->stepper[1].hart.x[8], 1042);
  rig_free(r);
}

/* Stores to more lines than are noted one by one. */
static void many_stores_and_memory(void **state)
{
  (void)state;
  enum { LINES = COH_NOTES + 44 };
  const uint32_t code[] = {ADDI(6, 0, LINES), SD(11, 6, 0), ADDI(11, 11, COH_LINE_BYTES), ADDI(6, 6, -1)};
  uint32_t all[6];
  struct rig *r = rig_new(&plain);
  memcpy(all, code, sizeof code);
  all[4] = branch(BNE, 6, 0, -12);
  all[5] = ECALL;
  coh_system_note_stores(r->cpu->coherence, true);
  run_core(r, 0, all, sizeof all);
  coh_system_stores_to_memory(r->cpu->coherence);
  for (uint64_t i = 0; i < LINES; i++) assert_int_equal(get(r, DATA + i * COH_LINE_BYTES), LINES - i);
  rig_free(r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(arithmetic), cmocka_unit_test(branches),     cmocka_unit_test(dependent_loads),
    cmocka_unit_test(store_buffer), cmocka_unit_test(stores_in_a_row), cmocka_unit_test(fences),     cmocka_unit_test(counters),
    cmocka_unit_test(host_threads), cmocka_unit_test(store_buffering), cmocka_unit_test(message_passing),
    cmocka_unit_test(stores_and_memory), cmocka_unit_test(many_stores_and_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
