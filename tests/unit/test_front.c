/* The front end: commands that wait for each other, engines, kernels that share a GPU or have it to themselves. Times by hand
 * from the rules in host/front.h; the GPU is one whose kernels last as long as they are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "host/front.h"

enum { MOST = 300, ROOM = 3 };

struct item;

struct rig {
  struct front front;
  struct item *on_gpu[MOST];
  unsigned n_on_gpu, n_log, room;
  uint64_t now;
  bool pause;
  uint64_t log[MOST]; /* ids in the order in which they ended */
};

struct item {
  struct command command;
  struct rig *rig;
  uint64_t lasts;
  unsigned asks;  /* so often it cannot start */
  bool goes;      /* until the test says so */
  bool *freed;
};

static enum command_way start(struct command *c, uint64_t now, uint64_t *end)
{
  struct item *x = (struct item *)c;
  struct rig *r = x->rig;
  if (x->asks && x->asks--) return COMMAND_ASKS;
  if (x->goes) return COMMAND_GOES;
  *end = now + x->lasts;
  if (c->place != COMMAND_SHARES) return COMMAND_LASTS;
  r->on_gpu[r->n_on_gpu++] = x;
  if (r->now < now) r->now = now;
  return COMMAND_GOES;
}

static void ended(struct command *c)
{
  struct rig *r = ((struct item *)c)->rig;
  r->log[r->n_log++] = c->id;
}

static void freed(struct command *c)
{
  struct item *x = (struct item *)c;
  if (x->freed) *x->freed = true;
  free(x);
}

static unsigned count(void *ctx)
{
  return ((struct rig *)ctx)->n_on_gpu;
}

static bool full(void *ctx)
{
  const struct rig *r = ctx;
  return r->n_on_gpu >= r->room;
}

static uint64_t now(void *ctx)
{
  const struct rig *r = ctx;
  return r->n_on_gpu ? r->now : 0;
}

/* The kernel that ends first, if it does so before `until`. */
static enum front_gpu_stop run(void *ctx, uint64_t until)
{
  struct rig *r = ctx;
  unsigned first = 0;
  if (r->pause) return FRONT_GPU_PAUSE;
  for (unsigned i = 1; i < r->n_on_gpu; i++)
    if (r->on_gpu[i]->command.begin + r->on_gpu[i]->lasts < r->on_gpu[first]->command.begin + r->on_gpu[first]->lasts)
      first = i;
  struct item *x = r->on_gpu[first];
  uint64_t end = x->command.begin + x->lasts;
  if (end >= until) {
    r->now = until;
    return FRONT_GPU_REACHED;
  }
  r->now = end;
  r->on_gpu[first] = r->on_gpu[--r->n_on_gpu];
  front_end(&r->front, &x->command, end);
  return FRONT_GPU_EVENT;
}

static struct rig *rig_new(void)
{
  struct rig *r = calloc(1, sizeof *r);
  r->room = ROOM;
  front_init(&r->front, &(struct front_gpu){ r, count, full, now, run }, 1);
  return r;
}

static void rig_free(struct rig *r)
{
  assert_int_equal(r->front.n_open, 0);
  front_free(&r->front);
  free(r);
}

static struct item *item(struct rig *r, enum command_place place, uint64_t ready, uint64_t lasts)
{
  static const struct command_ops ops = { start, ended, freed };
  struct item *x = calloc(1, sizeof *x);
  *x = (struct item){ .rig = r, .lasts = lasts, .command = { .ops = &ops, .place = place } };
  command_init(&r->front, &x->command, ready);
  return x;
}

static struct command *give(struct rig *r, struct item *x)
{
  front_give(&r->front, &x->command);
  return &x->command;
}

static struct command *simple(struct rig *r, enum command_place place, uint64_t ready, uint64_t lasts)
{
  return give(r, item(r, place, ready, lasts));
}

static struct command *behind_as(struct rig *r, enum command_place place, struct command *first, uint64_t lasts)
{
  struct item *x = item(r, place, 0, lasts);
  command_follow(&x->command, first);
  return give(r, x);
}

static struct command *behind(struct rig *r, struct command *first, uint64_t ready, uint64_t lasts)
{
  struct item *x = item(r, COMMAND_ANYWHERE, ready, lasts);
  command_follow(&x->command, first);
  return give(r, x);
}

static void drop(struct command *const *c, unsigned n)
{
  for (unsigned i = 0; i < n; i++) command_drop(c[i]);
}

static void chains(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct command *a = simple(r, COMMAND_ANYWHERE, 100, 50), *b = behind(r, a, 0, 10), *c = behind(r, b, 500, 10);
  assert_int_equal(front_run(&r->front, 99, NULL), FRONT_REACHED);
  assert_int_equal(a->state, COMMAND_WAITS + 1); /* ready, at 100 */
  assert_int_equal(front_run(&r->front, 155, NULL), FRONT_REACHED);
  assert_true(a->state == COMMAND_DONE && a->end == 150 && b->state == COMMAND_RUNS && c->state == COMMAND_WAITS);
  assert_int_equal(front_run(&r->front, FRONT_NEVER, b), FRONT_REACHED);
  assert_true(b->end == 160 && c->state != COMMAND_DONE);
  assert_int_equal(front_run(&r->front, FRONT_NEVER, NULL), FRONT_REACHED);
  assert_true(c->begin == 500 && c->end == 510 && r->front.last_end == 510);
  struct command *late = behind(r, c, 200, 5); /* behind what has ended */
  front_run(&r->front, FRONT_NEVER, NULL);
  assert_int_equal(late->end, 515);
  drop((struct command *[]){a, b, c, late}, 4);
  rig_free(r);
}

/* A caller may be late: times are those of what a command waits for, not of when it is looked at. */
static void times_of_late_callers(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct command *a = simple(r, COMMAND_ANYWHERE, 0, 1000);
  front_run(&r->front, 5000, NULL);
  struct command *b = simple(r, COMMAND_ANYWHERE, 300, 10), *c = behind(r, a, 0, 10);
  front_run(&r->front, 5000, NULL);
  assert_true(b->end == 310 && c->end == 1010);
  drop((struct command *[]){a, b, c}, 3);
  rig_free(r);
}

static void joins(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct command *a = simple(r, COMMAND_ANYWHERE, 0, 30), *b = simple(r, COMMAND_ANYWHERE, 0, 70);
  struct item *x = item(r, COMMAND_ANYWHERE, 0, 1);
  command_follow(&x->command, a);
  command_follow(&x->command, b);
  command_follow(&x->command, b); /* twice is as once */
  command_follow(&x->command, NULL);
  struct command *c = give(r, x);
  front_run(&r->front, FRONT_NEVER, NULL);
  assert_int_equal(c->begin, 70);
  drop((struct command *[]){a, b, c}, 3);
  rig_free(r);
}

/* One copy each way at a time, in the order in which they become ready. */
static void engines(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct command *late = simple(r, COMMAND_TO_DEVICE, 20, 100), *early = simple(r, COMMAND_TO_DEVICE, 10, 100);
  struct command *back = simple(r, COMMAND_TO_HOST, 15, 100), *none = simple(r, COMMAND_ANYWHERE, 15, 100);
  front_run(&r->front, FRONT_NEVER, NULL);
  assert_true(early->begin == 10 && early->end == 110 && late->begin == 110 && late->end == 210);
  assert_true(back->end == 115 && none->end == 115);
  drop((struct command *[]){late, early, back, none}, 4);
  rig_free(r);
}

/* Room for three: of those that wait the highest priority first, then who was ready first. */
static void kernels_share(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct command *k[7];
  static const uint64_t ready[7] = {0, 0, 0, 5, 4, 6, 50}, lasts[7] = {100, 200, 300, 10, 10, 10, 10};
  static const int priority[7] = {0, 0, 0, 0, 0, 3, 3};
  for (unsigned i = 0; i < 7; i++) {
    struct item *x = item(r, COMMAND_SHARES, ready[i], lasts[i]);
    x->command.priority = priority[i];
    k[i] = give(r, x);
  }
  front_run(&r->front, FRONT_NEVER, NULL);
  assert_true(k[0]->begin == 0 && k[1]->begin == 0 && k[2]->begin == 0);
  assert_true(k[5]->begin == 100 && k[6]->begin == 110 && k[4]->begin == 120 && k[3]->begin == 130);
  drop(k, 7);
  rig_free(r);
}

/* Each GPU has its own engines. */
static void engines_of_each(void **state)
{
  (void)state;
  struct rig *r = calloc(1, sizeof *r);
  const struct front_gpu gpu = { r, count, full, now, run };
  front_init(&r->front, (struct front_gpu[]){ gpu, gpu }, 2);
  struct item *x[3];
  struct command *k[3];
  for (unsigned i = 0; i < 3; i++) {
    x[i] = item(r, COMMAND_TO_DEVICE, 0, 100);
    x[i]->command.gpu = i == 2;
    k[i] = give(r, x[i]);
  }
  front_run(&r->front, FRONT_NEVER, NULL);
  assert_true(k[0]->begin == 0 && k[1]->begin == 100 && k[2]->begin == 0);
  drop(k, 3);
  rig_free(r);
}

/* A kernel that starts sees those that are ready with it, not those that come behind it. */
static void neighbours(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct command *a = simple(r, COMMAND_SHARES, 10, 100), *b = behind_as(r, COMMAND_SHARES, a, 50), *c;
  front_run(&r->front, 10, a);
  assert_int_equal(front_kernels_ready(&r->front, 0), 0); /* a is on the GPU, b behind it */
  r->room = 1;
  c = simple(r, COMMAND_SHARES, 20, 1);
  assert_int_equal(front_kernels_ready(&r->front, 0), 0); /* not before 20 */
  front_run(&r->front, 30, NULL);
  assert_int_equal(front_kernels_ready(&r->front, 0), 1); /* it waits for the GPU */
  front_run(&r->front, FRONT_NEVER, NULL);
  assert_int_equal(front_kernels_ready(&r->front, 0), 0);
  drop((struct command *[]){a, b, c}, 3);
  rig_free(r);
}

/* One that wants the GPU to itself waits until it is empty, and who comes later waits for it. */
static void alone(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct command *k[4];
  k[0] = simple(r, COMMAND_SHARES, 0, 100);
  k[1] = simple(r, COMMAND_ALONE, 10, 50);
  k[2] = simple(r, COMMAND_SHARES, 20, 100);
  k[3] = simple(r, COMMAND_ALONE, 300, 5);
  front_run(&r->front, FRONT_NEVER, NULL);
  assert_int_equal(k[1]->begin, 100);
  assert_int_equal(k[2]->begin, 100); /* its start is over at once, however long its time */
  assert_int_equal(k[3]->begin, 300);
  drop(k, 4);
  rig_free(r);
}

/* Two streams that share a hardware queue: the second kernel of one waits for the first, and the kernel of the other, given
 * behind it, with it. In queues of their own it starts at once. */
static void hardware_queues(void **state)
{
  (void)state;
  for (unsigned shared = 0; shared < 2; shared++) {
    struct rig *r = rig_new();
    struct item *a1 = item(r, COMMAND_SHARES, 0, 100), *a2 = item(r, COMMAND_SHARES, 0, 100);
    struct item *b1 = item(r, COMMAND_SHARES, 5, 10), *c1 = item(r, COMMAND_SHARES, 7, 10);
    a1->command.queue = a2->command.queue = c1->command.queue = 1;
    b1->command.queue = shared ? 1 : 2;
    command_follow(&a2->command, &a1->command);
    struct command *c[4] = {give(r, a1), give(r, a2), give(r, b1), give(r, c1)};
    front_run(&r->front, FRONT_NEVER, NULL);
    assert_int_equal(c[1]->begin, 100);
    assert_int_equal(c[2]->begin, shared ? 100 : 5);
    assert_int_equal(c[3]->begin, 100); /* always behind a2 */
    drop(c, 4);
    rig_free(r);
  }
}

/* The GPU goes on to each event, so that what happens then happens at its time. */
static void copies_beside_kernels(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct command *k = simple(r, COMMAND_SHARES, 0, 1000), *c = simple(r, COMMAND_TO_HOST, 100, 50);
  struct command *d = behind(r, c, 0, 10);
  assert_int_equal(front_run(&r->front, 400, NULL), FRONT_REACHED);
  assert_true(d->end == 160 && k->state == COMMAND_RUNS && r->now == 400);
  r->pause = true;
  assert_int_equal(front_run(&r->front, FRONT_NEVER, k), FRONT_PAUSED);
  r->pause = false;
  assert_int_equal(front_run(&r->front, FRONT_NEVER, k), FRONT_REACHED);
  assert_int_equal(k->end, 1000);
  drop((struct command *[]){k, c, d}, 3);
  rig_free(r);
}

/* One that cannot start is asked again when something has happened, and then starts at that time. */
static void asking(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct item *x = item(r, COMMAND_ANYWHERE, 10, 5);
  x->asks = 3; /* at its time, at 100, at 200; not at 300 */
  struct command *a = give(r, x), *b = behind(r, a, 0, 1), *other[3];
  for (unsigned i = 0; i < 3; i++) other[i] = simple(r, COMMAND_ANYWHERE, 100 * (i + 1), 0);
  front_run(&r->front, 10, NULL);
  assert_int_equal(a->state, COMMAND_READY);
  front_run(&r->front, FRONT_NEVER, NULL);
  assert_true(a->begin > 10 && b->begin == a->end && a->end == a->begin + 5);
  drop((struct command *[]){a, b, other[0], other[1], other[2]}, 5);
  /* … and with nothing else to happen it blocks, until it is asked in another call */
  x = item(r, COMMAND_ANYWHERE, 0, 5);
  x->asks = 3;
  a = give(r, x);
  assert_int_equal(front_run(&r->front, FRONT_NEVER, a), FRONT_BLOCKED);
  assert_int_equal(front_run(&r->front, 700, NULL), FRONT_REACHED);
  while (a->state != COMMAND_DONE) front_run(&r->front, FRONT_NEVER, a);
  assert_true(a->begin >= 700);
  command_drop(a);
  rig_free(r);
}

/* What goes until somebody says so blocks a wait for ever, and others not at all. */
static void goes_elsewhere(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct item *x = item(r, COMMAND_ANYWHERE, 10, 0);
  x->goes = true;
  struct command *a = give(r, x), *b = behind(r, a, 0, 1), *c = simple(r, COMMAND_ANYWHERE, 50, 5);
  assert_int_equal(front_run(&r->front, FRONT_NEVER, NULL), FRONT_BLOCKED);
  assert_int_equal(c->end, 55);
  front_end(&r->front, a, 80);
  front_run(&r->front, FRONT_NEVER, NULL);
  assert_int_equal(b->end, 81);
  drop((struct command *[]){a, b, c}, 3);
  rig_free(r);
}

/* A command lives as long as somebody holds it or it is under way. */
static void lives(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  bool gone[2] = {false, false};
  struct item *x = item(r, COMMAND_ANYWHERE, 0, 5), *y = item(r, COMMAND_ANYWHERE, 0, 5);
  x->freed = &gone[0];
  y->freed = &gone[1];
  command_drop(give(r, x));
  give(r, y);
  assert_false(gone[0]);
  front_run(&r->front, FRONT_NEVER, NULL);
  assert_true(gone[0] && !gone[1]);
  command_drop(&y->command);
  assert_true(gone[1]);
  rig_free(r);
}

/* Random graphs: every command begins when the last of those before it has ended, whatever the pieces in which time
 * passes. */
static void random_graphs(void **state)
{
  (void)state;
  enum { N = 200, DEPS = 3 };
  for (unsigned seed = 1; seed < 40; seed++) {
    struct rig *r = rig_new();
    struct command *c[N];
    uint64_t want[N], ready[N];
    srand(seed);
    for (unsigned i = 0; i < N; i++) {
      ready[i] = (unsigned)rand() % 1000;
      uint64_t lasts = (unsigned)rand() % 50;
      struct item *x = item(r, COMMAND_ANYWHERE, ready[i], lasts);
      want[i] = ready[i];
      for (unsigned k = 0; i && k < DEPS; k++) {
        unsigned d = (unsigned)rand() % i;
        command_follow(&x->command, c[d]);
        if (want[d] > want[i]) want[i] = want[d];
      }
      c[i] = give(r, x);
      want[i] += lasts;
      if (seed % 2) front_run(&r->front, (unsigned)rand() % 2000, NULL);
    }
    front_run(&r->front, FRONT_NEVER, NULL);
    for (unsigned i = 0; i < N; i++) assert_int_equal(c[i]->end, want[i]);
    drop(c, N);
    rig_free(r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(chains),          cmocka_unit_test(times_of_late_callers), cmocka_unit_test(joins),
    cmocka_unit_test(engines),         cmocka_unit_test(kernels_share),         cmocka_unit_test(engines_of_each),
    cmocka_unit_test(neighbours),      cmocka_unit_test(alone),                 cmocka_unit_test(hardware_queues),
    cmocka_unit_test(copies_beside_kernels), cmocka_unit_test(asking),          cmocka_unit_test(goes_elsewhere),
    cmocka_unit_test(lives),           cmocka_unit_test(random_graphs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
