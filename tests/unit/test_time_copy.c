/* Asynchronous copy engine (copy_engine.h): times from its parameters, requests from the pieces of a copy, what is moved when,
 * a lost reply. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/presets.h"
#include "time/sm/copy_engine.h"
#include "time/sm/warp.h"

enum { TXNS = 8, MAX_SENT = 64, MAX_PIECES = 8, NEVER_BUSY = 1000000 };

/* The engine alone: what is around it only takes notes. */
struct box {
  struct params params;
  struct arena arena;
  struct copy_engine engine;
  struct sm_stats stats;
  struct copy_piece piece[MAX_PIECES]; /* of every copy */
  unsigned n_pieces;
  uint32_t bytes;
  uint64_t full_until; /* the port to L2 has no room before this cycle */
  struct sent {
    uint64_t at;
    struct txn_line line;
    uint16_t id;
    uint8_t kind;
  } sent[MAX_SENT];
  unsigned n_sent, array_bytes, left_bytes;
  unsigned performed[TXNS], delivered[TXNS];
  uint64_t done[TXNS]; /* cycle; 0: not done */
};

static bool piece(void *ctx, uint16_t id, uint32_t k, struct copy_piece *p, uint32_t *bytes)
{
  struct box *b = ctx;
  (void)id;
  assert_in_range(k, 0, b->n_pieces - 1);
  *p = b->piece[k];
  p->last = k + 1 == b->n_pieces;
  *bytes = b->bytes;
  return true;
}

static bool room(void *ctx, uint64_t now)
{
  return now >= ((struct box *)ctx)->full_until;
}

static void send(void *ctx, uint16_t id, enum req_kind kind, struct txn_line l, uint64_t now)
{
  struct box *b = ctx;
  assert_in_range(b->n_sent, 0, MAX_SENT - 1);
  b->sent[b->n_sent++] = (struct sent){now, l, id, (uint8_t)kind};
}

static void array(void *ctx, unsigned bytes, uint64_t now)
{
  (void)now;
  ((struct box *)ctx)->array_bytes += bytes;
}

static void leave(void *ctx, unsigned bytes, uint64_t now)
{
  (void)now;
  ((struct box *)ctx)->left_bytes += bytes;
}

static void deliver(void *ctx, uint16_t id, uint64_t now)
{
  (void)now;
  ((struct box *)ctx)->delivered[id]++;
}

static bool perform(void *ctx, uint16_t id)
{
  struct box *b = ctx;
  assert_int_equal(b->done[id], 0);
  b->performed[id]++;
  return true;
}

static void done(void *ctx, uint16_t id, uint64_t now)
{
  struct box *b = ctx;
  assert_int_equal(b->done[id], 0);
  b->done[id] = now;
}

static void build(struct box *b)
{
  struct err e = {0};
  memset(b, 0, sizeof *b);
  if (!params_load("h200", WS_SOURCE_DIR "/presets", &b->params, &e)) fail_msg("%s", e.msg);
  copy_engine_init(&b->engine, &b->arena, &b->params, TXNS);
  b->engine.ports = (struct copy_ports){.ctx = b, .piece = piece, .room = room, .send = send, .array = array,
                                        .leave = leave, .deliver = deliver, .perform = perform, .done = done};
  b->engine.stats = &b->stats;
}

static struct inst copy(enum mem_copy_way way, bool map)
{
  return (struct inst){.pc = 0x40, .mem = {.space = MEM_SHARED, .copy = (uint8_t)way, .copy_map = map}};
}

static void take(struct box *b, unsigned id, enum mem_copy_way way, bool map, bool far, uint64_t now)
{
  struct inst in = copy(way, map);
  copy_engine_take(&b->engine, (uint16_t)id, &in, far, now);
}

/* All that is to be done without answers; the cycle in which nothing more is. */
static void run(struct box *b)
{
  for (unsigned n = 0; b->engine.next_at != CYCLE_NEVER; n++) {
    assert_in_range(n, 0, NEVER_BUSY);
    copy_engine_cycle(&b->engine, b->engine.next_at);
  }
}

static void one_piece(struct box *b, uint64_t addr, uint32_t bytes)
{
  b->piece[0] = (struct copy_piece){.addr = addr, .bytes = bytes};
  b->n_pieces = 1;
  b->bytes = bytes;
}

/* A request per line of 128 bytes and copy.request_cycles, from copy.start_cycles on, with a map copy.map_cycles later. */
static void requests_at_their_rate(void **state)
{
  (void)state;
  for (unsigned map = 0; map < 2; map++) {
    struct box b;
    build(&b);
    one_piece(&b, 0x10000, 1024);
    take(&b, 3, COPY_LOAD, map, false, 100);
    run(&b);
    uint64_t first = 100 + b.params.copy_start_cycles + (map ? b.params.copy_map_cycles : 0);
    assert_int_equal(b.n_sent, 8);
    for (unsigned i = 0; i < 8; i++) {
      assert_int_equal(b.sent[i].at, first + i * b.params.copy_request_cycles);
      assert_int_equal(b.sent[i].line.line, 0x10000 / 128 + i);
      assert_int_equal(b.sent[i].line.sectors, 0xf);
      assert_int_equal(b.sent[i].kind, REQ_READ);
    }
    arena_free(&b.arena);
  }
}

/* A row that is not aligned to lines asks for the sectors it touches and stores the words it covers; one out of bounds asks
 * for nothing, but takes its time. */
static void rows_of_a_box(void **state)
{
  struct box b;
  (void)state;
  build(&b);
  b.piece[0] = (struct copy_piece){.addr = 0x1060, .bytes = 48}; /* sector 3, half of sector 0 of the next line */
  b.piece[1] = (struct copy_piece){.bytes = 0};
  b.piece[2] = (struct copy_piece){.addr = 0x2010, .bytes = 16};
  b.n_pieces = 3;
  take(&b, 0, COPY_STORE, true, false, 0);
  run(&b);
  static const struct {
    uint64_t line;
    uint32_t words;
    unsigned sectors, slot;
  } want[] = {{0x1000 / 128, 0xff000000, 8, 0}, {0x1080 / 128, 0xf, 1, 1}, {0x2000 / 128, 0xf0, 1, 3}};
  uint64_t first = b.params.copy_start_cycles + b.params.copy_map_cycles;
  assert_int_equal(b.n_sent, 3);
  for (unsigned i = 0; i < 3; i++) {
    assert_int_equal(b.sent[i].kind, REQ_WRITE);
    assert_int_equal(b.sent[i].line.line, want[i].line);
    assert_int_equal(b.sent[i].line.sectors, want[i].sectors);
    assert_int_equal(b.sent[i].line.words, want[i].words);
    assert_int_equal(b.sent[i].at, first + want[i].slot * b.params.copy_request_cycles);
  }
  assert_int_equal(b.array_bytes, 64);
  arena_free(&b.arena);
}

static void answer_all(struct box *b, uint64_t from)
{
  for (unsigned i = 0; i < b->n_sent; i++)
    copy_engine_answer(&b->engine, b->sent[i].id, b->sent[i].line.sectors, from + i);
}

/* A load is performed with its last answer, a store at the end of the walk and done with the last answer; a reduction is
 * performed at its slices, each request naming its piece; a prefetch has no values. */
static void what_is_performed_when(void **state)
{
  static const struct {
    enum mem_copy_way way;
    enum req_kind kind;
    unsigned walked, done, array; /* performed by then; bytes through the data array */
  } row[] = {{COPY_LOAD, REQ_READ, 0, 1, 512},
             {COPY_STORE, REQ_WRITE, 1, 1, 512},
             {COPY_REDUCE, REQ_STRONG, 0, 0, 512},
             {COPY_PREFETCH, REQ_READ, 0, 0, 0}};
  (void)state;
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct box b;
    build(&b);
    b.piece[0] = (struct copy_piece){.addr = 0x1000, .bytes = 256};
    b.piece[1] = (struct copy_piece){.addr = 0x8000, .bytes = 256};
    b.n_pieces = 2;
    take(&b, 1, row[i].way, false, false, 0);
    run(&b);
    assert_int_equal(b.performed[1], row[i].walked);
    assert_int_equal(b.done[1], 0);
    assert_int_equal(b.n_sent, 4);
    for (unsigned k = 0; k < 4; k++) assert_int_equal(b.sent[k].kind, row[i].kind);
    if (row[i].way == COPY_REDUCE) {
      for (unsigned k = 0; k < 4; k++) assert_int_equal(b.sent[k].line.words, k / 2);
    }
    answer_all(&b, 700);
    assert_int_equal(b.performed[1], row[i].done);
    assert_int_equal(b.done[1], 703);
    assert_int_equal(b.array_bytes, row[i].array);
    assert_int_equal(b.stats.copy_requests, b.stats.copy_answers);
    assert_int_equal(b.engine.n_jobs, 0);
    arena_free(&b.arena);
  }
}

/* Data for other CTAs go on through the network, which performs the copy; within the CTA they pass the array twice. */
static void to_shared_memory_of_others(void **state)
{
  (void)state;
  for (unsigned far = 0; far < 2; far++) {
    struct box b;
    build(&b);
    one_piece(&b, 0, 0);
    b.bytes = 1024;
    take(&b, 5, COPY_SHARED, false, far, 0);
    run(&b);
    assert_int_equal(b.n_sent, 0);
    assert_int_equal(b.array_bytes, far ? 1024 : 2048);
    assert_int_equal(b.left_bytes, far ? 1024 : 0);
    assert_int_equal(b.performed[5], !far);
    assert_int_equal(b.delivered[5], far);
    uint64_t end = b.params.copy_start_cycles + 7 * b.params.copy_request_cycles;
    assert_int_equal(b.done[5], far ? 0 : end);
    if (far) copy_engine_delivered(&b.engine, 5, 900);
    if (far) assert_int_equal(b.done[5], 900);
    arena_free(&b.arena);
  }
  struct box b; /* a multicast: loaded, then delivered */
  build(&b);
  one_piece(&b, 0x4000, 128);
  take(&b, 2, COPY_LOAD, false, true, 0);
  run(&b);
  assert_int_equal(b.delivered[2], 0);
  answer_all(&b, 600);
  assert_int_equal(b.delivered[2], 1);
  assert_int_equal(b.performed[2], 0);
  assert_int_equal(b.done[2], 0);
  copy_engine_delivered(&b.engine, 2, 800);
  assert_int_equal(b.done[2], 800);
  arena_free(&b.arena);
}

/* In order, the second behind the first without a pause; a full port holds both up; a full queue takes no more. */
static void queue(void **state)
{
  struct box b;
  (void)state;
  build(&b);
  b.engine.entries = 2;
  one_piece(&b, 0x4000, 256);
  b.full_until = 500;
  take(&b, 0, COPY_LOAD, false, false, 0);
  assert_true(copy_engine_has_room(&b.engine));
  take(&b, 1, COPY_LOAD, false, false, 0);
  assert_false(copy_engine_has_room(&b.engine));
  run(&b);
  assert_int_equal(b.n_sent, 4);
  for (unsigned i = 0; i < 4; i++) {
    assert_int_equal(b.sent[i].id, i / 2);
    assert_int_equal(b.sent[i].at, 500 + i * b.params.copy_request_cycles);
  }
  assert_int_equal(b.stats.copy_stalls, 500 - b.params.copy_start_cycles);
  assert_true(copy_engine_has_room(&b.engine));
  answer_all(&b, 900);
  assert_int_equal(b.done[0], 901);
  assert_int_equal(b.done[1], 903);
  arena_free(&b.arena);
}

/* A box all out of bounds is done without memory. */
static void nothing_in_bounds(void **state)
{
  struct box b;
  (void)state;
  build(&b);
  b.n_pieces = 4;
  b.bytes = 512;
  take(&b, 0, COPY_LOAD, true, false, 0);
  run(&b);
  assert_int_equal(b.n_sent, 0);
  assert_int_equal(b.performed[0], 1);
  assert_int_equal(b.done[0], b.params.copy_start_cycles + b.params.copy_map_cycles + 3 * b.params.copy_request_cycles);
  arena_free(&b.arena);
}

/* A reply that does not come leaves its copy in the report, and it alone. */
static void a_lost_reply_is_named(void **state)
{
  struct box b;
  char text[1024] = {0};
  (void)state;
  build(&b);
  one_piece(&b, 0x4000, 256);
  take(&b, 0, COPY_LOAD, false, false, 0);
  take(&b, 1, COPY_STORE, false, false, 0);
  run(&b);
  b.n_sent--; /* the store's second one */
  answer_all(&b, 900);
  FILE *f = fmemopen(text, sizeof text, "w");
  copy_engine_dump(&b.engine, f);
  fclose(f);
  assert_string_equal(text, "    asynchronous copy engine: store of pc 0x40, requested, 1 requests unanswered\n");
  assert_int_equal(b.done[0], 901);
  assert_int_equal(b.done[1], 0);
  struct err e = {0};
  assert_false(stat_check_laws(sm_stats_group("sm", &b.stats), &e));
  arena_free(&b.arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(requests_at_their_rate), cmocka_unit_test(rows_of_a_box),
      cmocka_unit_test(what_is_performed_when), cmocka_unit_test(to_shared_memory_of_others),
      cmocka_unit_test(queue),                  cmocka_unit_test(nothing_in_bounds),
      cmocka_unit_test(a_lost_reply_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
