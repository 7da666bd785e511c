/* Coherent memory: random operations over all protocols, every row of their tables taken, no deadlock with one place in
 * each queue; litmus tests; topologies by formula.
 *
 *   build/tests/test_time_coh PROTOCOL AGENTS OPERATIONS SEED     the random tester alone, for longer
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/redzone.h"
#include "coh_rig.h"
#include "time/machine/machine.h"

static const struct rig_setup small = {.cpus = 2, .gpus = 2, .l2 = 1, .homes = 2, .lines = 16, .ops = 3000, .places = 4, .sets = 2,
                                       .ways = 2, .home_sets = 4, .home_ways = 2, .misses = 3, .pending = 4, .shake = 0, .seed = 1};

static void play(const struct rig_setup *s, uint64_t *taken)
{
  struct coh_rig *r = rig_new(s, NULL);
  if (!rig_run(r, taken)) {
    coh_system_dump(r->system, stderr);
    fail_msg("%s, %u+%u agents, seed %llu: %s", s->protocol, s->cpus, s->gpus, (unsigned long long)s->seed, r->wrong);
  }
  rig_free(r);
}

static void all_rows_taken(const char *protocol, const uint64_t *taken)
{
  struct arena a = {0};
  const struct coh_protocol *p = coh_protocol_new(protocol, &a);
  unsigned missing = 0;
  for (unsigned i = 0; i < p->n_rows; i++) {
    if (taken[i]) continue;
    print_error("%s: never taken: role %u, %s, %s\n", protocol, p->row[i].role, coh_state_name[p->row[i].state],
                coh_event_name[p->row[i].event]);
    missing++;
  }
  arena_free(&a);
  assert_int_equal(missing, 0);
}

static void vary(struct rig_setup *s, uint64_t seed)
{
  s->seed = seed;
  s->shake = seed % 3 * 20000;
  s->places = seed % 2 ? 1 : 4;
  s->l2 = 1 + (uint32_t)(seed % 2);
  s->topology = (enum coh_topology_kind)(seed % 4);
  s->lines = seed % 2 ? 16 : 64; /* the homes have room for 16 */
  s->pending = seed % 3 ? 4 : 1;
}

static void random_operations(void **state)
{
  (void)state;
  for (unsigned k = 0; coh_protocol_names[k]; k++) {
    uint64_t taken[COH_MAX_ROWS] = {0};
    for (uint64_t seed = 1; seed <= 6; seed++) {
      struct rig_setup s = small;
      s.protocol = coh_protocol_names[k];
      s.cpus = 1 + (uint32_t)(seed % 4);
      s.gpus = 1 + (uint32_t)(seed * 3 % 5);
      vary(&s, seed);
      play(&s, taken);
    }
    all_rows_taken(coh_protocol_names[k], taken);
  }
}

/* As many agents as are tested for long: an L1 sees what many others stored over. */
static void sixteen_agents(void **state)
{
  (void)state;
  for (unsigned k = 0; coh_protocol_names[k]; k++)
    for (uint64_t seed = 1; seed <= 2; seed++) {
      struct rig_setup s = small;
      s.protocol = coh_protocol_names[k];
      s.cpus = s.gpus = 8;
      s.ops = 1000;
      vary(&s, seed);
      play(&s, NULL);
    }
}

/* The same where the caches of GPU agents have no bytes of their own: those of memory are the newest whenever such a
 * cache may look at them, and nobody else's are lost. */
static void beside_memory(void **state)
{
  (void)state;
  for (unsigned k = 0; coh_protocol_names[k]; k++)
    for (uint64_t seed = 1; seed <= (REDZONE_BYTES ? 2 : 6); seed++) {
      struct rig_setup s = small;
      s.protocol = coh_protocol_names[k];
      s.cpus = 1 + (uint32_t)(seed % 4);
      s.gpus = 1 + (uint32_t)(seed * 3 % 5);
      s.beside = true;
      vary(&s, seed);
      play(&s, NULL);
    }
}

/* --- litmus tests --------------------------------------------------------------------------------- */

enum { X = 3, Y = 8, STEPS = 5, PLAYERS = 4 };
/* Outcomes are counted without sanitizers, which look at the code of all of them alike. */
enum { ROUNDS = REDZONE_BYTES ? 80 : 400 };

/* A step of a player: what it gives, behind all that it gave before (`behind`) or beside it. */
struct step {
  enum { END, PAUSE, SLEEP, STORE, LOAD, FRESHEN } what;
  uint64_t line;
  bool behind;
  picos pause; /* SLEEP: ps; PAUSE: below it, drawn */
};

struct player {
  const struct step *step;
  unsigned at, given, done, n_loaded;
  picos until, last_reply;
  uint64_t draws, loaded[STEPS];
};

struct litmus {
  const char *name;
  unsigned cpus, gpus; /* players: CPUs first */
  struct step step[PLAYERS][STEPS + 1];
  bool (*odd)(const struct player *); /* the outcome in question */
};

static bool offer_step(struct player *p, struct coh_cache *c, picos now)
{
  const struct step *s = &p->step[p->at];
  struct coh_msg m = {.type = s->what == STORE ? COH_STORE : s->what == LOAD ? COH_LOAD : COH_ACQUIRE, .line = s->line,
                      .id = p->at, .from = COH_NO_NODE, .mask = 0xff, .data = {1}};
  if (s->behind && p->done < p->given) return false;
  if (s->what > SLEEP) return coh_cache_offer(c, &m, now) && ++p->given;
  p->until = now + (s->what == SLEEP ? s->pause : s->pause ? rig_draw(&p->draws) % s->pause : 0);
  return true;
}

static picos player_cycle(void *self, struct coh_cache *c, struct coh_queue *replies, picos now, picos until, bool *did)
{
  (void)until;
  struct player *p = self;
  for (const struct coh_msg *m; (m = coh_queue_front(replies, now)); *did = true) {
    if (m->kind == COH_LOAD) p->loaded[m->id] = word_at(m->data, 0);
    p->done++;
    p->last_reply = now;
    coh_queue_pop(replies);
  }
  if (now < p->until) return p->until;
  if (p->step[p->at].what == END || !offer_step(p, c, now)) return TIME_NEVER;
  p->at++;
  *did = true;
  return now + 1000;
}

static bool player_busy(const void *self)
{
  const struct player *p = self;
  return p->step[p->at].what != END || p->done < p->given;
}

/* How often the outcome came. */
static unsigned times_odd(const char *protocol, const struct litmus *l)
{
  unsigned odd = 0;
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    struct player p[PLAYERS] = {{0}};
    struct coh_agent a[PLAYERS];
    struct rig_setup s = small;
    s.protocol = protocol;
    s.cpus = l->cpus;
    s.gpus = l->gpus;
    s.seed = round;
    s.sets = 16;
    s.home_sets = 16;
    s.shake = round % 2 * 40000;
    for (unsigned i = 0; i < l->cpus + l->gpus; i++) {
      p[i] = (struct player){.step = l->step[i], .draws = round * 977 + i};
      a[i] = (struct coh_agent){player_cycle, player_busy, &p[i]};
    }
    struct coh_rig *r = rig_new(&s, a);
    assert_int_equal(domain_run(r->domain, TIME_NEVER, NULL), DOMAIN_IDLE);
    odd += l->odd(p);
    rig_free(r);
  }
  return odd;
}

/* The last player has seen y = 1, and behind it x = 0. */
static bool message_lost(const struct player *p)
{
  return p[1].loaded[2] == 1 && p[1].loaded[4] == 0;
}

static bool both_old(const struct player *p)
{
  return p[0].loaded[2] == 0 && p[1].loaded[2] == 0;
}

static bool two_orders(const struct player *p)
{
  return p[2].loaded[1] == 1 && p[2].loaded[2] == 0 && p[3].loaded[1] == 1 && p[3].loaded[2] == 0;
}

static bool old_copy(const struct player *p)
{
  return p[1].loaded[0] == 0 && p[1].loaded[3] == 0;
}

#define WRITER(delay) {{PAUSE, 0, false, delay}, {STORE, X, false, 0}, {STORE, Y, true, 0}}
#define READER(between) {{LOAD, X, false, 0}, {PAUSE, 0, true, 300000}, {LOAD, Y, true, 0}, between, {LOAD, X, true, 0}}
#define IDLE_STEP {PAUSE, 0, true, 0}
#define FRESH_STEP {FRESHEN, 0, true, 0}

/* Message passing, the reader has a copy of x before. Private caches never lose it; an L1 that nobody keeps fresh does,
 * unless the reader acquires. */
static void message_passing(void **state)
{
  struct litmus l = {"message passing", 2, 0, {WRITER(300000), READER(IDLE_STEP)}, message_lost};
  struct litmus plain = {"to a GPU", 1, 1, {WRITER(300000), READER(IDLE_STEP)}, message_lost};
  struct litmus fresh = {"to a GPU that acquires", 1, 1, {WRITER(300000), READER(FRESH_STEP)}, message_lost};
  struct litmus back = {"from a GPU", 0, 2, {WRITER(300000), READER(FRESH_STEP)}, message_lost};
  (void)state;
  for (unsigned k = 0; coh_protocol_names[k]; k++) {
    struct arena a = {0};
    bool levels = coh_protocol_new(coh_protocol_names[k], &a)->levels;
    assert_int_equal(times_odd(coh_protocol_names[k], &l), 0);
    assert_int_equal(times_odd(coh_protocol_names[k], &fresh), 0);
    assert_int_equal(times_odd(coh_protocol_names[k], &back), 0);
    unsigned lost = times_odd(coh_protocol_names[k], &plain);
    if (levels) assert_true(lost > 0);
    else assert_int_equal(lost, 0);
    arena_free(&a);
  }
}

/* A store, then a load of what the other stores: both old only if the load does not wait for the store. */
static void store_buffering(void **state)
{
#define BUFFER(mine, other, wait) {{PAUSE, 0, false, 20000}, {STORE, mine, false, 0}, {LOAD, other, wait, 0}}
  struct litmus waits = {"store buffering, waiting", 1, 1, {BUFFER(X, Y, true), BUFFER(Y, X, true)}, both_old};
  struct litmus beside = {"store buffering", 1, 1, {BUFFER(X, Y, false), BUFFER(Y, X, false)}, both_old};
  (void)state;
  for (unsigned k = 0; coh_protocol_names[k]; k++) {
    assert_int_equal(times_odd(coh_protocol_names[k], &waits), 0);
    assert_true(times_odd(coh_protocol_names[k], &beside) > 0);
  }
}

/* Two writers, two readers who wait between their loads: they agree on the order. */
static void independent_reads(void **state)
{
#define ONE(line) {{PAUSE, 0, false, 200000}, {STORE, line, false, 0}}
#define TWO(a, b) {{PAUSE, 0, false, 200000}, {LOAD, a, true, 0}, {LOAD, b, true, 0}}
  struct litmus l = {"IRIW", 2, 2, {ONE(X), ONE(Y), TWO(X, Y), TWO(Y, X)}, two_orders};
  (void)state;
  for (unsigned k = 0; coh_protocol_names[k]; k++) assert_int_equal(times_odd(coh_protocol_names[k], &l), 0);
}

/* Long after a store: an L1 has the old value still; when it acquires, and in every other cache, it is gone. */
static void old_copies(void **state)
{
#define LATE(between) {{LOAD, X, false, 0}, {SLEEP, 0, true, 5000000}, between, {LOAD, X, true, 0}}
  struct litmus kept = {"old copies", 1, 1, {{{SLEEP, 0, false, 1000000}, {STORE, X, false, 0}}, LATE(IDLE_STEP)}, old_copy};
  struct litmus fresh = {"old copies", 1, 1, {{{SLEEP, 0, false, 1000000}, {STORE, X, false, 0}}, LATE(FRESH_STEP)}, old_copy};
  (void)state;
  for (unsigned k = 0; coh_protocol_names[k]; k++) {
    struct arena a = {0};
    bool levels = coh_protocol_new(coh_protocol_names[k], &a)->levels;
    assert_int_equal(times_odd(coh_protocol_names[k], &kept), levels ? ROUNDS : 0);
    assert_int_equal(times_odd(coh_protocol_names[k], &fresh), 0);
    arena_free(&a);
  }
}

/* --- topologies ----------------------------------------------------------------------------------- */

/* Neighbours of a ring or of a mesh whose last row may be short. */
static bool beside(const struct coh_topology *t, uint32_t a, uint32_t b)
{
  uint32_t d = a < b ? b - a : a - b;
  if (t->kind == COH_RING) return d == 1 || d == t->n_nodes - 1;
  return d == t->width || (d == 1 && a / t->width == b / t->width);
}

/* Steps from a node to all others, by breadth-first search. */
static void distances(const struct coh_topology *t, uint32_t from, uint32_t *d)
{
  for (uint32_t i = 0; i < t->n_nodes; i++) d[i] = UINT32_MAX;
  d[from] = 0;
  for (uint32_t step = 0; step < t->n_nodes; step++)
    for (uint32_t i = 0; i < t->n_nodes; i++)
      for (uint32_t k = 0; k < t->n_nodes && d[i] == step; k++)
        if (d[k] == UINT32_MAX && beside(t, i, k)) d[k] = step + 1;
}

static void hops(void **state)
{
  static const uint8_t cluster[COH_MAX_NODES] = {0, 0, 0, 1, 1, 2, 2};
  (void)state;
  for (uint32_t n = 2; n <= 40; n++)
    for (uint32_t width = 1; width <= 6; width++) {
      struct coh_topology ring = {.kind = COH_RING, .n_nodes = n}, mesh = {.kind = COH_MESH, .n_nodes = n, .width = width};
      uint32_t d[40], link[1000];
      for (uint32_t i = 0; i < n; i++) {
        distances(&ring, i, d);
        for (uint32_t k = 0; k < n; k++) assert_int_equal(coh_topology_hops(&ring, i, k), d[k]);
        for (uint32_t k = 0; k < n; k++) assert_int_equal(coh_topology_route(&ring, i, k, link), d[k]);
        distances(&mesh, i, d);
        for (uint32_t k = 0; k < n; k++) assert_int_equal(coh_topology_hops(&mesh, i, k), d[k]);
        for (uint32_t k = 0; k < n; k++) {
          uint32_t links = coh_topology_route(&mesh, i, k, link);
          assert_int_equal(links, d[k]);
          for (uint32_t m = 0; m < links; m++) assert_true(link[m] < coh_topology_links(&mesh));
        }
      }
    }
  struct coh_topology star = {.kind = COH_CROSSBAR, .n_nodes = 7};
  struct coh_topology three = {.kind = COH_CLUSTERS, .n_nodes = 7, .n_clusters = 3, .cluster = cluster};
  for (uint32_t i = 0; i < 7; i++)
    for (uint32_t k = 0; k < 7; k++) {
      assert_int_equal(coh_topology_hops(&star, i, k), i != k);
      assert_int_equal(coh_topology_hops(&three, i, k), i == k ? 0 : cluster[i] == cluster[k] ? 1 : 2);
    }
}

/* One load, of a line that nobody has: the request and the data go over the same links in both directions, and memory
 * answers. Every term is a parameter. */
static void time_of_a_miss(void **state)
{
  (void)state;
  enum { CACHE = 3000, HOME = 2000, MEMORY = 30000, HOP = 2000, PS_PER_BYTE = 10, CYCLE = 1000 };
  for (uint32_t kind = COH_CROSSBAR; kind <= COH_MESH; kind++) {
    struct player p = {.step = (struct step[]){{LOAD, X, false, 0}, {END, 0, false, 0}}};
    struct coh_agent a[] = {{player_cycle, player_busy, &p}};
    struct rig_setup s = small;
    s.protocol = "mesi";
    s.cpus = 1;
    s.gpus = 0;
    s.homes = 1;
    s.topology = kind;
    struct coh_rig *r = rig_new(&s, a);
    assert_int_equal(domain_run(r->domain, TIME_NEVER, NULL), DOMAIN_IDLE);
    uint64_t request = CACHE + HOP + COH_HEAD_BYTES * PS_PER_BYTE;
    uint64_t data = HOME + MEMORY + HOP + (COH_HEAD_BYTES + COH_LINE_BYTES) * PS_PER_BYTE;
    assert_int_equal(p.last_reply, request + data + CACHE);
    rig_free(r);
  }
}

/* --- host threads --------------------------------------------------------------------------------- */

/* Draws its operations alone, and keeps what came when. */
struct walker {
  uint64_t draws, digest;
  uint32_t given, done;
};

enum { WALK = 60, WALKERS = 6 };

static picos walker_cycle(void *self, struct coh_cache *c, struct coh_queue *replies, picos now, picos until, bool *did)
{
  (void)until;
  struct walker *w = self;
  for (const struct coh_msg *m; (m = coh_queue_front(replies, now)); *did = true) {
    w->digest = (w->digest ^ (now + m->operand + word_at(m->data, 2))) * 0x100000001b3;
    w->done++;
    coh_queue_pop(replies);
  }
  uint64_t before = w->draws, how = rig_draw(&w->draws) % 8;
  struct coh_msg m = {.type = how < 4 ? COH_LOAD : how < 6 ? COH_STORE : COH_ATOMIC, .id = w->given, .from = COH_NO_NODE,
                      .line = rig_draw(&w->draws) % 24, .mask = 0xffull << 16, .offset = 8, .bytes = 8, .operand = 1};
  memcpy(m.data + 16, &w->draws, 8);
  bool given = w->given < WALK && w->given - w->done < 3 && coh_cache_offer(c, &m, now);
  w->given += given;
  *did |= given;
  if (!given) w->draws = before;
  return given ? now + 1000 : TIME_NEVER;
}

static bool walker_busy(const void *self)
{
  return ((const struct walker *)self)->done < WALK;
}

static uint64_t walked(const char *protocol, unsigned threads)
{
  struct walker w[WALKERS];
  struct coh_agent a[WALKERS];
  struct rig_setup s = small;
  uint64_t digest = 0;
  for (unsigned i = 0; i < WALKERS; i++) {
    w[i] = (struct walker){.draws = i + 5};
    a[i] = (struct coh_agent){walker_cycle, walker_busy, &w[i]};
  }
  s.protocol = protocol;
  s.cpus = s.gpus = WALKERS / 2;
  s.lines = 32;
  s.alone = true;
  struct coh_rig *r = rig_new(&s, a);
  struct machine *m = machine_new(
    &(struct machine_config){.threads = threads, .domain = &r->domain, .n_domains = 1, .epoch = TIME_NEVER});
  assert_int_equal(machine_run(m, TIME_NEVER), MACHINE_IDLE);
  machine_free(m);
  for (unsigned i = 0; i < WALKERS; i++) {
    assert_int_equal(w[i].done, WALK);
    digest = digest * 31 + w[i].digest;
  }
  rig_free(r);
  return digest;
}

/* When each reply came and what it said, of every agent, on one host thread and on several. */
static void host_threads(void **state)
{
  (void)state;
  uint64_t levels = walked("hsc", 1), flat = walked("mesi", 1);
  assert_true(levels == walked("hsc", 3));
  assert_true(flat == walked("mesi", 2));
}

/* --- what cannot be built ------------------------------------------------------------------------- */

static void refusals(void **state)
{
  (void)state;
  static const struct {
    const char *protocol, *said;
    uint32_t cpus, gpus, l2, homes;
  } bad[] = {{"moesi", "no coherence protocol", 1, 0, 0, 1},
             {"hsc", "needs a cache above", 1, 2, 0, 1},
             {"vi_hammer", "needs a cache above", 0, 2, 0, 1},
             {"mesi", "caches and homes", 2, 0, 0, 0},
             {"mesi", "caches and homes", 60, 0, 0, 5}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct err e = {""};
    const struct coh_system_config c = {.protocol = bad[i].protocol, .n_cpus = bad[i].cpus, .n_gpus = bad[i].gpus,
                                        .n_l2 = bad[i].l2, .n_homes = bad[i].homes, .places = 1};
    assert_null(coh_system_new(&c, &e));
    if (!strstr(e.msg, bad[i].said)) fail_msg("%zu: %s", i, e.msg);
  }
}

int main(int argc, char **argv)
{
  if (argc == 5) {
    struct rig_setup s = small;
    uint64_t taken[COH_MAX_ROWS] = {0};
    uint32_t agents = (uint32_t)strtoul(argv[2], NULL, 0);
    s.protocol = argv[1];
    s.cpus = agents / 2;
    s.gpus = agents - s.cpus;
    s.ops = (uint32_t)((strtoull(argv[3], NULL, 0) + agents - 1) / agents);
    vary(&s, strtoull(argv[4], NULL, 0));
    struct coh_rig *r = rig_new(&s, NULL);
    bool ok = rig_run(r, taken);
    unsigned n_taken = 0;
    for (unsigned i = 0; i < COH_MAX_ROWS; i++) n_taken += taken[i] != 0;
    printf("%s: %s, %u operations, %llu stale loads, %u rows\n", s.protocol, ok ? "right" : r->wrong, s.ops * agents,
           (unsigned long long)r->stale, n_taken);
    return !ok;
  }
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(random_operations), cmocka_unit_test(sixteen_agents), cmocka_unit_test(beside_memory), cmocka_unit_test(message_passing), cmocka_unit_test(store_buffering),
    cmocka_unit_test(independent_reads), cmocka_unit_test(old_copies),       cmocka_unit_test(hops),
    cmocka_unit_test(time_of_a_miss),  cmocka_unit_test(host_threads),
    cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
