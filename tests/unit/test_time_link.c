/* Links, switches and ports: rates, latencies and credits by formula; messages of any length; a machine of players that is
 * the same for any number of host threads and any epoch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "config/presets.h"
#include "time/link/fabric.h"
#include "time/machine/machine.h"

#define DIR WS_SOURCE_DIR "/presets"

/* --- ring ---------------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33;
}

static void test_ring(void **state)
{
  (void)state;
  struct link_ring r = {.n = 0};
  uint64_t in = 1, out = 1, sent = 0, taken = 0, how = 5;
  uint8_t bytes[3000];
  for (unsigned i = 0; i < 200000; i++) {
    if (draw(&how) % 9 < (i / 20000 % 2 ? 4 : 5)) {
      struct link_msg m = {.tag = (uint32_t)sent++, .body = (uint32_t)(draw(&in) % 3 ? draw(&in) % 200 : draw(&in) % 3000)};
      memset(bytes, (int)(m.body % 251), m.body);
      link_ring_push(&r, &m, bytes);
    } else if (r.n) {
      const struct link_msg *m = link_ring_front(&r);
      uint32_t body = (uint32_t)(draw(&out) % 3 ? draw(&out) % 200 : draw(&out) % 3000);
      assert_int_equal(m->tag, taken++);
      assert_int_equal(m->body, body);
      const uint8_t *b = link_msg_body(m);
      for (uint32_t k = 0; k < body; k++) assert_int_equal(b[k], body % 251);
      link_ring_pop(&r);
    }
    assert_int_equal(r.n, sent - taken);
  }
  assert_true(taken > 50000);
  link_ring_free(&r);
}

/* --- a wire -------------------------------------------------------------------------------------- */

enum { NS = 1000, LATENCY = 120 * NS, PAYLOAD = 128, OVERHEAD = 12, FEMTOS = 40000 }; /* 25 GB/s */

static struct wire_config config(uint32_t credits)
{
  return (struct wire_config){.femtos_per_byte = FEMTOS, .latency = LATENCY, .packet_bytes = 128,
                              .overhead_bytes = OVERHEAD, .credits = credits};
}

/* Sends n messages that wait at 0 and lets each go when its last byte is there. When the last one is there, ps. */
static picos time_of(const struct wire_config *cfg, unsigned n, uint32_t payload)
{
  struct wire w;
  struct link_msg m = {.payload = payload, .kind = LINK_WRITE};
  picos last = 0;
  wire_init(&w, cfg);
  for (unsigned i = 0; i < n; i++) wire_push(&w, &m, NULL);
  for (picos now; (now = wire_next(&w)) != TIME_NEVER;) {
    struct wire_passage p;
    struct link_msg *sent = wire_send(&w, now, &p);
    if (!sent) continue;
    assert_int_equal(p.head, now + cfg->latency);
    wire_give_back(&w, sent, p.tail);
    wire_pop(&w, sent);
    last = p.tail;
  }
  assert_int_equal(w.stats.messages, n);
  assert_int_equal(w.stats.payload, (uint64_t)n * payload);
  assert_false(wire_busy(&w));
  wire_free(&w);
  return last;
}

/* n packets: n x (payload + overhead) / rate, and the latency once. */
static void test_rate(void **state)
{
  (void)state;
  struct wire_config c = config(100000);
  assert_int_equal(time_of(&c, 1000, PAYLOAD), 1000ull * (PAYLOAD + OVERHEAD) * FEMTOS / 1000 + LATENCY);
  assert_int_equal(time_of(&c, 100, 4096), 100ull * (4096 + 32 * OVERHEAD) * FEMTOS / 1000 + LATENCY);
  assert_int_equal(time_of(&c, 100, 129), 100ull * (129 + 2 * OVERHEAD) * FEMTOS / 1000 + LATENCY);
  assert_int_equal(time_of(&c, 100, 0), 100ull * OVERHEAD * FEMTOS / 1000 + LATENCY); /* requests */
}

/* A round trip is a packet and twice the latency: credits packets go in each. */
static void test_credits(void **state)
{
  (void)state;
  enum { PACKET_PS = (PAYLOAD + OVERHEAD) * FEMTOS / 1000, TRIPS = 100 };
  for (unsigned credits = 1; credits <= 32; credits *= 2) {
    struct wire_config c = config(credits);
    picos trip = PACKET_PS + 2 * LATENCY, got = time_of(&c, TRIPS * credits, PAYLOAD);
    picos want = (TRIPS - 1) * trip + (credits - 1) * PACKET_PS + PACKET_PS + LATENCY;
    assert_int_equal(got, want);
  }
  /* As many as a round trip holds, and no more help. */
  struct wire_config enough = config((PACKET_PS + 2 * LATENCY) / PACKET_PS + 1);
  assert_int_equal(time_of(&enough, 5000, PAYLOAD), 5000ull * PACKET_PS + LATENCY);
  /* A message of more packets than credits goes when all are there. */
  struct wire_config few = config(4);
  picos burst = (1024 + 8 * OVERHEAD) * FEMTOS / 1000;
  assert_int_equal(time_of(&few, 3, 1024), 3 * burst + 2 * 2 * LATENCY + LATENCY);
}

/* Requests without credits do not keep answers. */
static void test_classes(void **state)
{
  (void)state;
  struct wire_config c = config(1);
  struct wire w;
  struct wire_passage p;
  wire_init(&w, &c);
  for (unsigned i = 0; i < 2; i++) wire_push(&w, &(struct link_msg){.kind = LINK_WRITE, .payload = 128, .tag = i}, NULL);
  wire_push(&w, &(struct link_msg){.kind = LINK_DATA, .payload = 128, .tag = 7}, NULL);
  wire_push(&w, &(struct link_msg){.kind = LINK_DONE, .tag = 8}, NULL);
  static const unsigned order[] = {8, 7, 0}; /* acknowledgements first, which take no credit, then answers */
  for (unsigned i = 0; i < 3; i++) {
    struct link_msg *m = wire_send(&w, wire_next(&w), &p);
    assert_int_equal(m->tag, order[i]);
    wire_pop(&w, m);
  }
  assert_int_equal(wire_next(&w), TIME_NEVER); /* until somebody takes the first */
  assert_true(wire_busy(&w));
  wire_give_back(&w, &(struct link_msg){.kind = LINK_WRITE, .payload = 128}, 1000 * NS);
  assert_int_equal(wire_next(&w), 1000 * NS + LATENCY);
  assert_int_equal(wire_send(&w, wire_next(&w), &p)->tag, 1);
  wire_free(&w);
}

/* Requests and answers that both wait take turns, packet by packet: 512 bytes are four. */
static void test_turns(void **state)
{
  (void)state;
  struct wire_config c = config(100);
  struct wire w;
  struct wire_passage p;
  wire_init(&w, &c);
  for (unsigned i = 0; i < 3; i++) wire_push(&w, &(struct link_msg){.kind = LINK_DATA, .payload = 128, .tag = i}, NULL);
  for (unsigned i = 10; i < 12; i++) wire_push(&w, &(struct link_msg){.kind = LINK_READ, .tag = i}, NULL);
  static const unsigned order[] = {0, 10, 1, 11, 2};
  for (unsigned i = 0; i < 5; i++) {
    struct link_msg *m = wire_send(&w, wire_next(&w), &p);
    assert_int_equal(m->tag, order[i]);
    wire_pop(&w, m);
  }
  for (unsigned i = 0; i < 6; i++) wire_push(&w, &(struct link_msg){.kind = LINK_DATA, .payload = 128, .tag = i}, NULL);
  for (unsigned i = 10; i < 12; i++) wire_push(&w, &(struct link_msg){.kind = LINK_WRITE, .payload = 512, .tag = i}, NULL);
  static const unsigned wide[] = {0, 10, 1, 2, 3, 4, 11, 5};
  for (unsigned i = 0; i < 8; i++) {
    struct link_msg *m = wire_send(&w, wire_next(&w), &p);
    assert_int_equal(m->tag, wide[i]);
    wire_pop(&w, m);
  }
  assert_false(wire_busy(&w));
  wire_free(&w);
}

/* Larger packets of copy engines; acknowledgements that take bytes hold the wire, those that take none do not. */
static void test_packets_of_kinds(void **state)
{
  (void)state;
  enum { ACK = 16, COPY = 512 + 2 * OVERHEAD, CORE = 512 + 4 * OVERHEAD };
  for (unsigned ack = 0; ack <= ACK; ack += ACK) {
    struct wire_config c = config(100);
    struct wire w;
    struct wire_passage p;
    c.copy_packet_bytes = 256;
    c.ack_bytes = ack;
    wire_init(&w, &c);
    wire_push(&w, &(struct link_msg){.kind = LINK_WRITE, .payload = 512, .port = LINK_PORT_DMA}, NULL);
    wire_push(&w, &(struct link_msg){.kind = LINK_WRITE, .payload = 512, .port = LINK_PORT_CORES}, NULL);
    for (unsigned i = 0; i < 3; i++) wire_push(&w, &(struct link_msg){.kind = LINK_DONE}, NULL);
    for (unsigned i = 0; i < 3; i++) {
      struct link_msg *m = wire_send(&w, wire_next(&w), &p);
      assert_int_equal(m->kind, LINK_DONE);
      assert_int_equal(p.tail, LATENCY + (i + 1) * ack * FEMTOS / 1000);
      wire_pop(&w, m);
    }
    wire_pop(&w, wire_send(&w, wire_next(&w), &p));
    assert_int_equal(p.tail, LATENCY + (3 * ack + COPY) * FEMTOS / 1000);
    wire_pop(&w, wire_send(&w, wire_next(&w), &p));
    assert_int_equal(p.tail, LATENCY + (3 * ack + COPY + CORE) * FEMTOS / 1000);
    assert_int_equal(w.stats.bytes, 3 * ack + COPY + CORE);
    assert_false(wire_busy(&w));
    wire_free(&w);
  }
}

/* --- players ------------------------------------------------------------------------------------- */

/* A domain of one part with a port: sends what it is given, takes what comes, answers requests; `talk`: draws further
 * messages from what came. */
struct player {
  struct link_port port, *ports[1];
  struct part part;
  struct domain *domain;
  unsigned node, nodes, left, casts_sent;
  uint64_t seed, sum, n, bytes, lines;
  picos last;
  uint8_t data[LINE_OP_BYTES]; /* of the last answer */
  unsigned pulls; /* reads of 128 bytes that it has yet to ask for, one for each answer */
  bool talk, slow, casts, copies; /* copies: as copy engines send */
};

static void player_send(struct player *x, unsigned to, enum link_msg_kind kind, uint32_t payload, picos at)
{
  uint8_t body[512];
  uint32_t n = kind == LINK_READ ? 0 : payload < sizeof body ? payload : sizeof body;
  struct link_msg m = {.arrive = at,
                       .line = x->talk ? draw(&x->seed) : x->lines++, .payload = kind == LINK_READ ? 0 : payload, .body = n,
                       .tag = payload, .from = (uint16_t)x->node, .to = (uint16_t)to, .kind = (uint8_t)kind,
                       .port = x->copies ? LINK_PORT_DMA : LINK_PORT_HOME};
  memset(body, (int)(x->seed >> 40), n);
  link_port_send(&x->port, &m, body);
}

/* To the GPUs of the mask: loads of 64 bytes of a line, or stores of 32. */
static void player_cast(struct player *x, unsigned gpus, enum link_msg_kind kind, picos at)
{
  struct {
    struct link_team team;
    struct link_store store;
    struct line_op op;
  } body = {.store = {.line = {4096 + 64, 64}}};
  struct link_msg m = {.arrive = at, .line = x->talk ? draw(&x->seed) : x->lines++, .tag = x->casts_sent++, .legs = true,
                       .from = (uint16_t)x->node, .payload = kind == LINK_READ ? 0 : 32, .kind = (uint8_t)kind};
  for (unsigned i = 0; i < MACHINE_MAX_GPUS; i++) {
    if (!(gpus >> i & 1)) continue;
    body.team.leg[body.team.n].line = 128 * (1000 + i);
    body.team.leg[body.team.n++].node = (uint16_t)i;
  }
  m.to = body.team.leg[body.team.leg[0].node == x->node].node;
  m.body = sizeof body.team + (kind == LINK_READ ? sizeof(struct link_bytes) : sizeof body.store);
  if (kind == LINK_STORE) body.store.line = (struct link_bytes){4096, 128};
  link_port_send(&x->port, &m, &body);
}

/* Sums, byte by byte. */
static void sum_bytes(const struct line_op *o, unsigned n, const uint8_t (*line)[LINE_OP_BYTES], uint8_t out[LINE_OP_BYTES])
{
  (void)o;
  for (unsigned k = 0; k < LINE_OP_BYTES; k++)
    for (unsigned i = 0; i < n; i++) out[k] = (uint8_t)(out[k] + line[i][k]);
}

static void player_say(struct player *x, picos at)
{
  if (x->casts && draw(&x->seed) % 3 == 0) {
    const unsigned gpus = 1u << x->node | 1u << draw(&x->seed) % 8 | 1u << (x->node + 1) % 8;
    player_cast(x, gpus, draw(&x->seed) % 2 ? LINK_READ : LINK_STORE, at);
    x->left--;
    return;
  }
  unsigned to = (unsigned)(draw(&x->seed) % (x->nodes - 1));
  if (to >= x->node) to++;
  player_send(x, to, draw(&x->seed) % 2 ? LINK_READ : LINK_WRITE, (uint32_t)(1 + draw(&x->seed) % 400), at);
  x->left--;
}

/* Its line is where the team says; 64 bytes that tell the node and their place. */
static void player_answer_cast(struct player *x, const struct link_msg *m, picos now)
{
  const bool data = m->kind == LINK_READ;
  uint8_t bytes[64];
  struct link_bytes at;
  memcpy(&at, link_msg_body(m), sizeof at);
  assert_int_equal(at.addr, 128 * (1000 + x->node) + (data ? 64 : 0));
  assert_int_equal(at.n, data ? 64 : 128);
  for (unsigned i = 0; i < 64; i++) bytes[i] = (uint8_t)(10 * x->node + i);
  struct link_msg a = {.arrive = now, .line = m->line, .payload = data ? 64 : 0, .body = data ? 64 : 0, .tag = m->tag,
                       .from = m->to, .to = m->from, .via = m->via, .kind = data ? LINK_DATA : LINK_DONE};
  link_port_send(&x->port, &a, bytes);
}

static void player_hear(struct player *x, const struct link_msg *m, picos now)
{
  uint64_t h = now * 31 + m->tag * 7 + m->from + m->kind;
  for (uint32_t i = 0; i < m->body; i++) h = h * 131 + ((const uint8_t *)link_msg_body(m))[i];
  x->sum = x->sum * 1000003 + h;
  x->n++;
  x->bytes += m->payload;
  x->last = now;
  if (m->kind == LINK_DATA && m->body == 64) memcpy(x->data, link_msg_body(m), 64);
  if (m->kind == LINK_DATA && x->pulls) {
    x->pulls--;
    player_send(x, m->from, LINK_READ, 128, now);
  }
  if (link_msg_class(m->kind) != LINK_REQUESTS) return;
  if (m->via) {
    player_answer_cast(x, m, now);
    return;
  }
  struct link_msg a = {.arrive = now, .line = m->line, .payload = m->kind == LINK_READ ? m->tag : 0, .tag = m->tag,
                       .from = m->to, .to = m->from, .kind = m->kind == LINK_READ ? LINK_DATA : LINK_DONE};
  link_port_send(&x->port, &a, NULL);
}

static picos player_run(void *self, picos from, picos to)
{
  struct player *x = self;
  unsigned lane;
  for (picos at; (at = link_port_next(&x->port, &lane)) < to;) {
    if (at < from) at = from; /* it had to wait */
    struct link_msg *m = link_port_front(&x->port, lane);
    if (x->slow && draw(&x->seed) % 4 == 0 && at + 3 * NS > to) return to; /* no room now */
    player_hear(x, m, at);
    link_port_pop(&x->port, lane, at);
    for (unsigned i = 0; x->talk && x->left && i < 2; i++) player_say(x, at);
  }
  return link_port_next(&x->port, &lane);
}

static uint64_t player_progress(const void *self)
{
  return ((const struct player *)self)->n;
}

static bool player_busy(const void *self)
{
  const struct player *x = self;
  for (unsigned i = 0; i < x->port.n_lanes; i++)
    if (x->port.in[i].n) return true;
  return false;
}

static void player_dump(const void *self, FILE *out)
{
  (void)self, (void)out;
}

static const struct part_ops player_ops = {player_run, player_progress, player_busy, player_dump};

static bool go_on(void *ctx, picos now)
{
  (void)ctx, (void)now;
  return true;
}

/* Memory of a socket that answers after 100 ns. */
static picos serve(void *ctx, struct fabric *f, const struct link_msg *m, picos now)
{
  uint64_t *served = ctx;
  *served = *served * 31 + now;
  uint8_t bytes[400] = {(uint8_t)now};
  if (link_msg_class(m->kind) == LINK_REQUESTS)
    fabric_answer(f, m, m->kind == LINK_READ ? LINK_DATA : LINK_DONE, m->kind == LINK_READ ? m->tag : 0,
                  m->kind == LINK_READ ? m->tag : 0, bytes, now + 100 * NS);
  return now + 2 * NS;
}

struct rig {
  struct machine_preset m;
  struct arena arena;
  struct topology *t;
  struct fabric *fabric;
  struct player player[MACHINE_MAX_GPUS];
  uint64_t served;
  struct part part;
  struct machine *machine;
  picos lambda;
};

/* casts: requests to several that a switch has under way; 0: as the preset says. */
static void rig_build_of(struct rig *r, const char *name, unsigned shorter, unsigned threads, unsigned casts)
{
  struct err e;
  struct domain *domain[MACHINE_MAX_GPUS];
  picos window[MACHINE_MAX_NODES] = {0};
  memset(r, 0, sizeof *r);
  if (!machine_load(name, DIR, &r->m, &e)) fail_msg("%s", e.msg);
  r->t = topology_new(&r->m, &r->arena);
  if (casts) r->m.switches[0].multicast = casts;
  for (unsigned i = 0; casts && i < r->m.n_link_groups; i++) r->m.link[i].credits = 2; /* few: none may get lost */
  r->fabric = fabric_new(&r->m, r->t, sum_bytes);
  for (unsigned i = 0; i < r->m.n_gpus; i++) {
    struct player *x = &r->player[i];
    window[i] = (40 + 7 * (i % 3)) * NS;
    *x = (struct player){.node = i, .nodes = r->m.n_gpus + r->m.n_sockets, .seed = i + 1};
    x->ports[0] = &x->port;
    x->part = (struct part){&player_ops, x, TIME_NEVER};
    x->port.wake = &x->part.next;
    fabric_join(r->fabric, i, x->ports, 1);
    domain[i] = x->domain = domain_new(&(struct domain_config){.window = window[i], .phase = {{.part = &x->part, .n = 1}},
                                                                .n_phases = 1, .watchdog_windows = 1u << 20,
                                                                .between = go_on});
  }
  for (unsigned i = 0; i < r->m.n_sockets; i++) fabric_serve(r->fabric, r->m.n_gpus + i, serve, &r->served);
  r->part = (struct part){&fabric_ops, r->fabric, 0};
  r->lambda = fabric_epoch(r->fabric, window);
  assert_true(r->lambda > 0);
  r->machine = machine_new(&(struct machine_config){.threads = threads, .domain = domain, .n_domains = r->m.n_gpus,
                                                    .epoch = r->lambda / shorter, .part = &r->part, .n_parts = 1});
}

static void rig_build(struct rig *r, const char *name, unsigned shorter, unsigned threads)
{
  rig_build_of(r, name, shorter, threads, 0);
}

static void rig_free(struct rig *r)
{
  machine_free(r->machine);
  for (unsigned i = 0; i < r->m.n_gpus; i++) {
    domain_free(r->player[i].domain);
    link_port_free(&r->player[i].port);
  }
  fabric_free(r->fabric);
  arena_free(&r->arena);
  machine_preset_free(&r->m);
}

/* Everything that all players heard, and when. */
static uint64_t conversation_of(const char *name, unsigned shorter, unsigned threads, picos pieces, unsigned casts,
                                uint64_t *heard)
{
  struct rig r;
  uint64_t sum = 0;
  rig_build_of(&r, name, shorter, threads, casts);
  for (unsigned i = 0; i < r.m.n_gpus; i++) {
    struct player *x = &r.player[i];
    x->talk = true;
    x->casts = casts;
    x->slow = i % 2;
    x->left = 600;
    for (unsigned k = 0; k < 20; k++) player_say(x, k * 10 * NS);
  }
  enum machine_stop end = MACHINE_REACHED;
  for (picos until = pieces ? pieces : TIME_NEVER; end == MACHINE_REACHED; until += pieces) end = machine_run(r.machine, until);
  assert_int_equal(end, MACHINE_IDLE);
  *heard = 0;
  for (unsigned i = 0; i < r.m.n_gpus; i++) {
    sum = sum * 1000003 + r.player[i].sum;
    *heard += r.player[i].n;
    assert_int_equal(r.player[i].left, 0);
  }
  sum = sum * 1000003 + r.served;
  rig_free(&r);
  return sum;
}

static uint64_t conversation(const char *name, unsigned shorter, unsigned threads, picos pieces, uint64_t *heard)
{
  return conversation_of(name, shorter, threads, pieces, 0, heard);
}

static const char *const machines[] = {"dgx-a100", "hgx-h100", "2x-rtx-3090-nvlink"};

static void test_any_epoch_any_threads(void **state)
{
  (void)state;
  for (unsigned i = 0; i < 3; i++) {
    uint64_t n, first_n, first = conversation(machines[i], 1, 1, 0, &first_n);
    unsigned gpus = i == 2 ? 2 : 8;
    assert_true(first_n >= 600u * gpus); /* each request was answered, and those to GPUs were heard there, too */
    static const unsigned shorter[] = {1, 2, 3, 7}, threads[] = {1, 2, 3};
    for (unsigned s = 0; s < 4; s++)
      for (unsigned t = 0; t < 3; t++) {
        assert_true(conversation(machines[i], shorter[s], threads[t], 0, &n) == first);
        assert_int_equal(n, first_n);
      }
    assert_true(conversation(machines[i], 1, 1, 777 * NS, &n) == first);
  }
}

/* With requests to several among them, of which a switch has one, a few or all under way. */
static void test_casts_in_any_epoch(void **state)
{
  (void)state;
  static const unsigned entries[] = {1, 5, 4096};
  for (unsigned i = 0; i < 3; i++) {
    uint64_t n, first_n, first = conversation_of("hgx-h100", 1, 1, 0, entries[i], &first_n);
    assert_true(first_n >= 600u * 8);
    for (unsigned t = 1; t <= 3; t++) {
      assert_true(conversation_of("hgx-h100", t, 4 - t, 0, entries[i], &n) == first);
      assert_int_equal(n, first_n);
    }
  }
}

/* --- rates and latencies of machines --------------------------------------------------------------- */

/* A lone message: links, switches, and its own bytes once. */
static void test_latency_is_the_sum(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "dgx-a100", 1, 1);
  player_send(&r.player[0], 5, LINK_WRITE, 128, 1000 * NS);
  assert_int_equal(machine_run(r.machine, TIME_NEVER), MACHINE_IDLE);
  picos bytes = (128 + 16) * 20, ack = 16 * 20; /* at 50 GB/s */
  assert_int_equal(r.player[5].last, 1000 * NS + (120 + 100 + 120) * NS + bytes);
  assert_int_equal(r.player[0].last, r.player[5].last + (120 + 100 + 120) * NS + ack);
  rig_free(&r);
}

/* A load from three GPUs, the own one among them: the request there, copies on, answers back, one answer; links and
 * switches twice, and of each way the bytes once. */
static void test_cast_load(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "hgx-h100", 1, 1);
  player_cast(&r.player[3], 1 << 0 | 1 << 3 | 1 << 7, LINK_READ, 1000 * NS);
  assert_int_equal(machine_run(r.machine, TIME_NEVER), MACHINE_IDLE);
  const struct topology_hop hop = topology_next(r.t, 3, 3, 0, 0);
  const picos byte = 1000 / 25 / r.m.link[r.m.links[hop.link].group].lanes, way = (120 + 100 + 120) * NS;
  assert_int_equal(r.player[0].last, 1000 * NS + way + 17 * byte);
  assert_int_equal(r.player[7].last, r.player[0].last);
  assert_int_equal(r.player[3].last, r.player[0].last + way + (64 + 17) * byte);
  static const unsigned heard[8] = {1, 0, 0, 2, 0, 0, 0, 1};
  for (unsigned i = 0; i < 8; i++) assert_int_equal(r.player[i].n, heard[i]);
  for (unsigned i = 0; i < 64; i++) assert_int_equal(r.player[3].data[i], (uint8_t)(10 * (0 + 3 + 7) + 3 * i));
  rig_free(&r);
}

enum { MANY = 40000 };

/* Loads of 64 bytes of all eight GPUs by all: each link carries, up, its answers to all and its own requests, down, the
 * requests of all and its own answers. */
static void test_cast_rates(void **state)
{
  (void)state;
  enum { LOADS = MANY / 4 };
  struct rig r;
  rig_build(&r, "hgx-h100", 1, 1);
  for (unsigned k = 0; k < LOADS; k++)
    for (unsigned i = 0; i < 8; i++) player_cast(&r.player[i], 0xff, LINK_READ, 0);
  assert_int_equal(machine_run(r.machine, TIME_NEVER), MACHINE_IDLE);
  const double up = LOADS * (8.0 * (64 + 17) + 17), seconds = (double)r.player[0].last / 1e12, rate = 18 * 25e9;
  assert_int_equal(r.player[5].bytes, LOADS * 64);
  assert_int_equal(r.player[5].n, LOADS * 9);
  if (seconds < up / rate || seconds > 1.05 * up / rate) fail_msg("%g s are not %g", seconds, up / rate);
  rig_free(&r);
}

/* GB/s of payload that player `to` got, from when the first message went. */
static double rate_to(struct rig *r, unsigned to)
{
  return (double)r->player[to].bytes / ((double)r->player[to].last / 1000);
}

static void assert_near(double got, double want)
{
  if (got < want * 0.97 || got > want * 1.01) fail_msg("%f GB/s are not %f", got, want);
}

static const char *const linked[] = {"dgx-a100", "hgx-h100", "2x-rtx-3090-nvlink"};

/* Of all links from one GPU to another: GB/s of a direction, bytes beside the payload of a packet, of an acknowledgement. */
static void raw_rate(const struct rig *r, double *raw, double *head, double *ack)
{
  const struct topology_hop hop = topology_next(r->t, 1, 1, 0, 0);
  const struct link_params *p = &r->m.link[r->m.links[hop.link].group];
  *head = p->overhead_bytes;
  *ack = p->ack_bytes;
  *raw = (double)topology_rate(r->t, 1, 0) / 1e9 * (1 + *head / p->copy_packet_bytes);
}

static void test_rates_of_machines(void **state)
{
  (void)state;
  for (unsigned i = 0; i < 3; i++) {
    struct rig r;
    rig_build(&r, machines[i], 1, 1);
    r.player[1].copies = true;
    double rate = (double)topology_rate(r.t, 1, 0) / 1e9;
    for (unsigned k = 0; k < MANY / 4; k++) player_send(&r.player[1], 0, LINK_WRITE, 512, 0);
    machine_run(r.machine, TIME_NEVER);
    assert_near(rate_to(&r, 0), rate);
    rig_free(&r);
    if (i == 2) break;
    /* Two senders share what one receiver can take; each of two pairs has its own. */
    rig_build(&r, machines[i], 1, 1);
    r.player[1].copies = r.player[2].copies = r.player[4].copies = true;
    for (unsigned k = 0; k < MANY / 4; k++) player_send(&r.player[1], 0, LINK_WRITE, 512, 0);
    for (unsigned k = 0; k < MANY / 4; k++) player_send(&r.player[2], 0, LINK_WRITE, 512, 0);
    for (unsigned k = 0; k < MANY / 4; k++) player_send(&r.player[4], 3, LINK_WRITE, 512, 0);
    machine_run(r.machine, TIME_NEVER);
    assert_near(rate_to(&r, 0), rate);
    assert_near(rate_to(&r, 3), rate);
    rig_free(&r);
  }
}

/* Reads of host memory by two GPUs behind one PCI Express switch share its link to the socket. */
static void test_shared_uplink(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "dgx-a100", 1, 1);
  for (unsigned k = 0; k < MANY; k++) player_send(&r.player[0], 8, LINK_READ, 128, 0);
  for (unsigned k = 0; k < MANY; k++) player_send(&r.player[1], 8, LINK_READ, 128, 0);
  for (unsigned k = 0; k < MANY; k++) player_send(&r.player[2], 8, LINK_READ, 128, 0);
  machine_run(r.machine, TIME_NEVER);
  double rate = (double)topology_rate(r.t, 8, 0) / 1e9;
  assert_near(rate_to(&r, 0) + rate_to(&r, 1), rate);
  assert_near(rate_to(&r, 2), rate);
  rig_free(&r);
}

/* Two GPUs read from each other, 4096 lines under way each: a direction carries the lines of one and the requests of the
 * other, and neither keeps the other one waiting. NVIDIA names 20 of 25 GB/s for that (NVIDIA/nccl-tests issue 149). */
static void test_reads_both_ways(void **state)
{
  (void)state;
  enum { UNDER_WAY = 4096, LINES = 4 * MANY };
  for (unsigned i = 0; i < 3; i++) {
    struct rig r;
    double raw, head, ack;
    rig_build(&r, linked[i], 1, 1);
    raw_rate(&r, &raw, &head, &ack);
    for (unsigned p = 0; p < 2; p++) {
      r.player[p].pulls = LINES - UNDER_WAY;
      for (unsigned k = 0; k < UNDER_WAY; k++) player_send(&r.player[p], 1 - p, LINK_READ, 128, 0);
    }
    machine_run(r.machine, TIME_NEVER);
    for (unsigned p = 0; p < 2; p++) {
      assert_int_equal(r.player[p].n, LINES + LINES);
      assert_near(rate_to(&r, p), raw * 128 / (128 + 2 * head));
    }
    if (i == 0) assert_near(rate_to(&r, 0), 12 * 20);
    rig_free(&r);
  }
}

/* They write to each other: a direction carries the lines of one and the acknowledgements of the other. NCCL's rings get
 * 363 to 367 GB/s of eight H200 (stas00/ml-engineering), which write. */
static void test_writes_both_ways(void **state)
{
  (void)state;
  enum { LINES = 4 * MANY };
  for (unsigned i = 0; i < 3; i++) {
    struct rig r;
    double raw, head, ack;
    rig_build(&r, linked[i], 1, 1);
    raw_rate(&r, &raw, &head, &ack);
    for (unsigned k = 0; k < LINES; k++)
      for (unsigned p = 0; p < 2; p++) player_send(&r.player[p], 1 - p, LINK_WRITE, 128, 0);
    machine_run(r.machine, TIME_NEVER);
    for (unsigned p = 0; p < 2; p++) {
      assert_int_equal(r.player[p].n, LINES + LINES);
      assert_near(rate_to(&r, p), raw * 128 / (128 + head + ack));
    }
    if (i == 1 && fabs(rate_to(&r, 0) / 365 - 1) > 0.05) fail_msg("%f GB/s are not 365", rate_to(&r, 0));
    rig_free(&r);
  }
}

/* --- what links carried --------------------------------------------------------------------------- */

/* Bytes are in the steps in which they pass: by the rate, to the byte. Steps double until the end fits. */
static void test_log_spreads(void **state)
{
  (void)state;
  enum { US = 1000000 };
  struct link_log l;
  link_log_init(&l, 2);
  l.skew = 5 * US;
  link_log_add(&l, 1, 5 * US + 250 * NS, 90000, 100000, FEMTOS); /* 4 us at 25 bytes per ns */
  assert_null(l.flow[0].step);
  assert_int_equal(l.width, US);
  const uint64_t spread[] = {750 * 25, 1000 * 25, 1000 * 25, 1000 * 25, 250 * 25, 0};
  for (unsigned i = 0; i < sizeof spread / sizeof *spread; i++) assert_int_equal(l.flow[1].step[i], spread[i]);
  link_log_add(&l, 0, 5 * US + (picos)3 * LINK_LOG_STEPS * US, 0, 12, FEMTOS); /* three times as late as there are steps */
  assert_int_equal(l.width, 4 * US);
  assert_int_equal(l.flow[0].step[LINK_LOG_STEPS * 3 / 4], 12);
  assert_int_equal(l.flow[1].step[0], 100000 - 250 * 25);
  assert_int_equal(l.flow[1].step[1], 250 * 25);
  link_log_add(&l, 1, 0, 0, 7, FEMTOS); /* of the time before the program's */
  assert_int_equal(l.flow[1].step[0], 100007 - 250 * 25);
  assert_int_equal(l.flow[1].bytes, 100007);
  assert_int_equal(l.flow[1].payload, 90000);
  assert_int_equal(l.flow[1].messages, 2);
  assert_int_equal(link_flow_taken(&l.flow[1]), (uint64_t)100007 * FEMTOS / 1000);
  link_log_free(&l);
}

/* A message that begins in the last step and ends behind it is in the middle, of steps twice as long; behind it is
 * nothing, whatever was there before. */
static void test_log_goes_on(void **state)
{
  (void)state;
  enum { US = 1000000, LAST = LINK_LOG_STEPS - 1, MIDDLE = LINK_LOG_STEPS / 2 };
  struct link_log l;
  link_log_init(&l, 1);
  link_log_add(&l, 0, (picos)LAST * US, 0, 500 * 25, FEMTOS);
  assert_int_equal(l.width, US);
  assert_int_equal(l.flow[0].step[LAST], 500 * 25);
  link_log_add(&l, 0, (picos)LAST * US + 500 * NS, 0, 1000 * 25, FEMTOS);
  assert_int_equal(l.width, 2 * US);
  assert_int_equal(l.flow[0].step[MIDDLE - 1], 1000 * 25);
  assert_int_equal(l.flow[0].step[MIDDLE], 500 * 25);
  for (unsigned i = MIDDLE + 1; i < LINK_LOG_STEPS; i++) assert_int_equal(l.flow[0].step[i], 0);
  link_log_free(&l);
}

/* What players send each other is what the wires of their way carry: by packets and overhead of the preset. */
static void test_log_of_a_machine(void **state)
{
  (void)state;
  struct rig r;
  struct link_log l;
  rig_build(&r, "2x-rtx-3090-nvlink", 1, 1);
  link_log_init(&l, 2 * r.m.n_links);
  fabric_log(r.fabric, &l);
  for (unsigned k = 0; k < MANY; k++) player_send(&r.player[1], 0, LINK_WRITE, 300, 0);
  machine_run(r.machine, TIME_NEVER);
  const struct topology_hop hop = topology_next(r.t, 1, 1, 0, 0);
  const struct link_params *p = &r.m.link[r.m.links[hop.link].group];
  const struct link_flow *f = &l.flow[2 * hop.link + hop.back], *back = &l.flow[2 * hop.link + !hop.back];
  const uint64_t packets = (300 + p->packet_bytes - 1) / p->packet_bytes;
  assert_int_equal(f->messages, MANY);
  assert_int_equal(f->payload, 300 * (uint64_t)MANY);
  assert_int_equal(f->bytes, (300 + packets * p->overhead_bytes) * MANY);
  assert_int_equal(back->messages, MANY); /* acknowledgements */
  assert_int_equal(back->bytes, (uint64_t)MANY * p->ack_bytes);
  uint64_t sum = 0;
  for (unsigned i = 0; i < LINK_LOG_STEPS; i++) sum += f->step[i];
  assert_int_equal(sum, f->bytes);
  rig_free(&r);
  link_log_free(&l);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ring),           cmocka_unit_test(test_rate),
      cmocka_unit_test(test_credits),        cmocka_unit_test(test_classes),
      cmocka_unit_test(test_latency_is_the_sum), cmocka_unit_test(test_rates_of_machines),
      cmocka_unit_test(test_turns),          cmocka_unit_test(test_reads_both_ways),
      cmocka_unit_test(test_packets_of_kinds), cmocka_unit_test(test_writes_both_ways),
      cmocka_unit_test(test_shared_uplink),  cmocka_unit_test(test_any_epoch_any_threads),
      cmocka_unit_test(test_cast_load),      cmocka_unit_test(test_cast_rates),
      cmocka_unit_test(test_casts_in_any_epoch), cmocka_unit_test(test_log_spreads),
      cmocka_unit_test(test_log_goes_on),    cmocka_unit_test(test_log_of_a_machine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
