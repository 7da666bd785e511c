/* Two GPUs of a machine in one program (host/live_gpu.h): launches and copies of both have one clock, reach each
 * other's memory over the link, and end together when one fails; the same for any number of host threads, any epoch,
 * and in two processes with a GPU each (host/ranked.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/live_gpu.h"
#include "host/ranked.h"
#include "host/simulator.h"
#include "host/surroundings.h"
#include "kernel_rig.h"
#include "time/dma/dma.h"
#include "time/uvm/uvm_machine.h"

enum { GPUS = 2, BYTES = 1 << 20, SMS = 46, PAGE = 4096 };

/* stream_copy on two GPUs with one image: places alone say whose memory it is. Buffers of pages of each GPU. */
struct rig {
  struct kernel_rig k;
  struct machine_preset m;
  struct arena arena;
  struct topology *t;
  struct surroundings *x;
  struct simulator *s[GPUS];
  struct sim_options o;
  struct gmem *image;
  uint64_t buffer[GPUS][3];
  struct ranks *ranks; /* NULL: this process has both */
};

static uint64_t buffer(struct rig *r, int node)
{
  uint64_t at = gmem_alloc(r->image, BYTES + PAGE, NULL);
  assert_true(at);
  at = (at + PAGE - 1) / PAGE * PAGE;
  simulator_place(r->s[0], at, BYTES, node);
  return at;
}

static void write_to(struct rig *r, uint64_t at, uint64_t seed)
{
  for (uint64_t i = 0; i < BYTES; i += 8) {
    const uint64_t x = (i + seed) * 2654435761u;
    assert_true(gmem_write(r->image, at + i, &x, 8));
  }
}

/* Bytes of a GPU are those of its process. */
static bool is_elsewhere(const struct rig *r, uint64_t at)
{
  for (unsigned b = 0; r->ranks && b < 3; b++)
    if (at == r->buffer[1 - r->ranks->rank][b]) return true;
  return false;
}

static bool holds(const struct rig *r, uint64_t at, uint64_t seed)
{
  if (is_elsewhere(r, at)) return true;
  for (uint64_t i = 0, x; i < BYTES; i += 8)
    if (!gmem_read(r->image, at + i, &x, 8) || x != (i + seed) * 2654435761u) return false;
  return true;
}

static void rig_build(struct rig *r, unsigned threads, unsigned shorter)
{
  const uint32_t grid = 2 * SMS;
  struct err e;
  memset(r, 0, sizeof *r);
  kernel_rig_build(&r->k, "stream_copy", 1);
  r->k.params.gpu_sms = SMS;
  r->k.launch->params.n_workers = SMS;
  r->image = r->k.launch->params.image;
  memcpy(r->k.launch->bank0 + 0xc, &grid, sizeof grid);
  if (!machine_load("2x-rtx-3090-nvlink", WS_SOURCE_DIR "/presets", &r->m, &e)) fail_msg("%s", e.msg);
  r->t = topology_new(&r->m, &r->arena);
  r->x = surroundings_new(&r->m, r->t, NULL);
  if (shorter > 1) r->x->epoch = 70000 / shorter; /* ps: NVLink's latency less a window, cut */
  r->o = (struct sim_options){.timed = true, .threads = threads};
  for (unsigned i = 0; i < GPUS; i++) {
    r->s[i] = simulator_new(&r->k.params);
    simulator_join(r->s[i], r->x, i, r->image);
  }
  for (unsigned i = 0; i < GPUS; i++)
    for (unsigned b = 0; b < 3; b++) write_to(r, r->buffer[i][b] = buffer(r, (int)i), 100 * i + b);
}

static void rig_rank(struct rig *r, struct ranks *ranks)
{
  const struct ranked_output none = {0};
  if (!ranks) return;
  r->ranks = ranks;
  surroundings_rank(r->x, ranks, &none);
}

static void rig_free(struct rig *r)
{
  for (unsigned i = 0; i < GPUS; i++) simulator_free(r->s[i]);
  surroundings_free(r->x);
  arena_free(&r->arena);
  machine_preset_free(&r->m);
  kernel_rig_free(&r->k);
}

/* Bank 0 of sm_86 has arguments from 0x160 on. */
static struct launch launch(struct rig *r, unsigned gpu, uint64_t to, uint64_t from, uint64_t start, void *who)
{
  struct err e;
  const uint64_t args[] = {to, from, BYTES / 16};
  memcpy(r->k.launch->bank0 + 0x160, args, 20);
  struct launch l = kernel_rig_again(&r->k, 2 * SMS);
  const struct live_launch x = {.launch = &l, .start_ps = start, .who = who};
  if (!live_open(r->s[gpu], &x, &r->o, &e)) fail_msg("%s", e.msg);
  return l;
}

/* The next n ends, by who[]. */
static void run(struct rig *r, unsigned n, const int *who, struct live_end *end)
{
  struct live_end x;
  for (unsigned left = n; left;) {
    assert_int_equal(live_run(r->s[0], UINT64_MAX), LIVE_ENDED);
    for (unsigned g = 0; g < GPUS; g++)
      for (; live_take(r->s[g], &x); left--) end[(const int *)x.who - who] = x;
  }
}

static double took(const struct live_end *e)
{
  return (double)(e->end_ps - e->start_ps);
}

static struct live_copy to_peer(const struct rig *r, int *who)
{
  return (struct live_copy){.dst = {.addr = r->buffer[1][2], .place = LIVE_PEER, .node = 1},
                            .src = {.addr = r->buffer[0][0], .place = LIVE_DEVICE}, .width = BYTES, .height = 1,
                            .depth = 1, .engine = LIVE_TO_PEER, .who = who};
}

/* A copy to the other GPU and one from it: dma.peer_ns, the way there and back, and the link's rate. */
static void copies_between(void **state)
{
  (void)state;
  struct rig r;
  int who[1];
  struct live_end end;
  rig_build(&r, 1, 1);
  struct live_copy c = to_peer(&r, who);
  for (unsigned back = 0; back < 2; back++) {
    c.start_ps = back * 1000000000;
    live_copy(r.s[0], &c, r.image, &r.o);
    run(&r, 1, who, &end);
    assert_true(end.copy && !end.failed);
    const double rate = (double)topology_rate(r.t, 0, 1), trip = 2 * (double)topology_latency(r.t, 0, 1);
    const double want = r.k.params.dma_peer_ns * 1e3 + trip + BYTES * 1e12 / rate;
    if (took(&end) < want || took(&end) > 1.05 * want) fail_msg("%f is not %f ps", took(&end), want);
    assert_true(holds(&r, r.buffer[1][2], 0));
    const struct live_side dst = c.dst;
    c.dst = (struct live_side){.addr = r.buffer[0][1], .place = LIVE_DEVICE};
    c.src = dst;
  }
  assert_true(holds(&r, r.buffer[0][1], 0));
  rig_free(&r);
}

struct both {
  uint64_t start[3], end[3], cycles[2], insts[2], l2[2];
  double us[3];
};

/* A GPU is made when something first touches it: a launch or a copy of its own, or a message. */
static void made_when_touched(void **state)
{
  (void)state;
  struct rig r;
  int who[1];
  struct live_end end;
  rig_build(&r, 1, 1);
  struct launch a = launch(&r, 0, r.buffer[0][1], r.buffer[0][0], 0, &who[0]);
  run(&r, 1, who, &end);
  assert_true(r.s[0]->gpu && !r.s[1]->gpu);
  func_launch_free(a.func);
  a = launch(&r, 0, r.buffer[0][1], r.buffer[1][0], end.end_ps, &who[0]);
  assert_null(r.s[1]->gpu);
  run(&r, 1, who, &end);
  assert_non_null(r.s[1]->gpu);
  assert_true(holds(&r, r.buffer[0][1], 100));
  func_launch_free(a.func);
  rig_free(&r);
}

/* Each GPU runs stream_copy from its own memory to its own, or from the other's; a copy goes beside. The second launch
 * comes while the first is there. early: both GPUs are made before. */
static struct both run_both(bool from_peer, unsigned threads, unsigned shorter, bool early, struct ranks *ranks)
{
  struct rig r;
  int who[3];
  struct live_end end[3];
  struct both x;
  memset(&x, 0, sizeof x);
  rig_build(&r, threads, shorter);
  rig_rank(&r, ranks);
  if (early) {
    surroundings_build(r.x, r.s[1], threads, false);
    surroundings_wake(r.x, r.s[0]);
  }
  struct launch a = launch(&r, 0, r.buffer[0][1], r.buffer[from_peer][0], 0, &who[0]);
  assert_int_equal(live_run(r.s[1], 2500000), LIVE_REACHED);
  assert_true(live_now(r.s[0]) == live_now(r.s[1]) && live_now(r.s[0]) >= 2500000);
  struct launch b = launch(&r, 1, r.buffer[1][1], r.buffer[!from_peer][0], 2500000, &who[1]);
  struct live_copy c = to_peer(&r, &who[2]);
  c.start_ps = 2600000;
  live_copy(r.s[0], &c, r.image, &r.o);
  run(&r, 3, who, end);
  for (unsigned i = 0; i < 3; i++) {
    x.start[i] = end[i].start_ps, x.end[i] = end[i].end_ps;
    x.us[i] = took(&end[i]) / 1e6;
    if (i == 2) continue;
    assert_int_equal(end[i].result.end, RUN_DONE);
    assert_int_equal(end[i].result.together, 1);
    x.cycles[i] = end[i].result.cycles;
    x.insts[i] = sim_counter(&end[i].result, "warp_insts");
    x.l2[i] = sim_counter(&end[i].result, "l2_read_sectors");
  }
  assert_true(holds(&r, r.buffer[0][1], from_peer ? 100 : 0));
  assert_true(holds(&r, r.buffer[1][1], from_peer ? 0 : 100));
  assert_true(holds(&r, r.buffer[1][2], 0));
  assert_true(x.start[1] >= 2500000 && x.start[1] < 2500000 + params_clock_ps(&r.k.params));
  func_launch_free(a.func);
  func_launch_free(b.func);
  rig_free(&r);
  return x;
}

static void launches_on_both(void **state)
{
  (void)state;
  struct both own = run_both(false, 1, 1, false, NULL), peer = run_both(true, 1, 1, false, NULL);
  assert_int_equal(own.insts[0], own.insts[1]);
  assert_int_equal(own.insts[0], peer.insts[0]);
  for (unsigned i = 0; i < 2; i++) {
    const double link = BYTES / 51.4e3; /* us */
    assert_true(own.us[i] < 0.7 * link);
    assert_true(peer.us[i] > link && peer.us[i] < 2.6 * link); /* reads of both and the copy share it */
  }
  for (unsigned from_peer = 0; from_peer < 2; from_peer++)
    for (unsigned threads = 1; threads <= 3; threads++) {
      struct both again = run_both(from_peer, threads, threads, threads & 1, NULL);
      assert_memory_equal(&again, from_peer ? &peer : &own, sizeof again);
    }
}

/* The other GPU's launch is cut short, and says nothing of a fault; the next run is as ever. */
static void a_fault_ends_all(void **state)
{
  (void)state;
  struct rig r;
  int who[3];
  struct live_end end[3];
  rig_build(&r, 1, 1);
  struct launch a = launch(&r, 0, (uint64_t)1 << 46, r.buffer[0][0], 0, &who[0]);
  struct launch b = launch(&r, 1, r.buffer[1][1], r.buffer[0][0], 0, &who[1]);
  struct live_copy c = to_peer(&r, &who[2]);
  live_copy(r.s[0], &c, r.image, &r.o);
  run(&r, 3, who, end);
  assert_int_equal(end[0].result.end, RUN_FAULT);
  assert_int_equal(end[0].result.fault.kind, FAULT_ILLEGAL_ADDRESS);
  assert_int_equal(end[1].result.end, RUN_FAULT);
  assert_int_equal(end[1].result.fault.kind, FAULT_NONE);
  assert_false(live_busy(r.s[0]) || live_busy(r.s[1]));
  func_launch_free(a.func);
  func_launch_free(b.func);
  a = launch(&r, 0, r.buffer[0][1], r.buffer[1][0], 0, &who[0]);
  live_copy(r.s[0], &c, r.image, &r.o);
  run(&r, 2, &who[0], end);
  assert_int_equal(end[0].result.end, RUN_DONE);
  assert_true(holds(&r, r.buffer[0][1], 100));
  func_launch_free(a.func);
  rig_free(&r);
}

/* A launch alone in a machine of two is what it is on a GPU alone. */
static void alone_among_others(void **state)
{
  (void)state;
  struct rig r;
  int who[1];
  struct live_end end;
  struct sim_result want;
  struct err e;
  rig_build(&r, 1, 1);
  struct launch a = launch(&r, 1, r.buffer[1][1], r.buffer[1][0], 0, who);
  run(&r, 1, who, &end);
  struct simulator *alone = simulator_new(&r.k.params);
  struct launch again = kernel_rig_again(&r.k, 2 * SMS);
  if (!simulate(alone, &again, &r.o, &want, &e)) fail_msg("%s", e.msg);
  assert_int_equal(end.result.cycles, want.cycles);
  assert_int_equal(end.result.n_groups, want.n_groups);
  assert_same_groups(end.result.group, want.group, want.n_groups);
  struct launch third = kernel_rig_again(&r.k, 2 * SMS); /* in one piece, after a live run */
  if (!simulate(r.s[1], &third, &r.o, &want, &e)) fail_msg("%s", e.msg);
  assert_int_equal(want.end, RUN_DONE);
  simulator_free(alone);
  func_launch_free(a.func);
  func_launch_free(again.func);
  func_launch_free(third.func);
  rig_free(&r);
}

/* --- in several processes ------------------------------------------------------------------------ */

struct other {
  int socket, result;
};

/* A rank that runs fn, whose result comes by the pipe. */
static struct other start_rank(unsigned rank, void (*fn)(struct ranks *, int result))
{
  int pair[2], result[2];
  struct err e;
  const struct rank_hello hello = {rank, GPUS};
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) | pipe(result), 0);
  if (fork() == 0) {
    close(pair[0]);
    struct ranks *r = ranks_join(pair[1], &e);
    if (r) fn(r, result[1]);
    _exit(r ? 0 : 1);
  }
  close(pair[1]);
  close(result[1]);
  assert_int_equal(write(pair[0], &hello, sizeof hello), sizeof hello);
  return (struct other){pair[0], result[0]};
}

static bool get(int fd, void *to, size_t bytes)
{
  return recv(fd, to, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

/* Gives each what all send, until all have ended. False: one says that others do not do the same. */
static bool relay(const struct other *o)
{
  static uint8_t bytes[1 << 22];
  struct rank_frame f[GPUS];
  for (;;) {
    unsigned ended = 0;
    size_t all = 0;
    for (unsigned i = 0; i < GPUS; i++) {
      if (!get(o[i].socket, &f[i], sizeof f[i])) ended++;
      else if (f[i].bytes == RANK_DIFFERS) return false;
      else if (f[i].bytes) assert_true(all + f[i].bytes <= sizeof bytes && get(o[i].socket, bytes + all, f[i].bytes));
      all += f[i].bytes;
    }
    if (ended) assert_int_equal(ended, GPUS);
    if (ended) return true;
    for (unsigned i = 0; i < GPUS; i++) {
      assert_int_equal(send(o[i].socket, f, sizeof f, MSG_NOSIGNAL), sizeof f);
      assert_int_equal(send(o[i].socket, bytes, all, MSG_NOSIGNAL), all);
    }
  }
}

/* Whether all did the same; the exit status of each. */
static bool end_ranks(const struct other *o, int status[GPUS])
{
  const bool same = relay(o);
  for (unsigned i = 0; i < GPUS; i++) close(o[i].socket);
  for (unsigned i = 0; i < GPUS; i++) wait(&status[i]);
  return same;
}

static void write_both(struct ranks *r, int result)
{
  for (unsigned from_peer = 0; from_peer < 2; from_peer++) {
    const struct both x = run_both(from_peer, 1 + r->rank, 1, from_peer, r);
    if (write(result, &x, sizeof x) != sizeof x) _exit(1);
  }
}

/* In each of them starts, ends, cycles and counters of both GPUs are those of one process. */
static void in_two_processes(void **state)
{
  (void)state;
  int status[GPUS];
  const struct both own = run_both(false, 1, 1, false, NULL), peer = run_both(true, 1, 1, false, NULL);
  const struct other o[GPUS] = {start_rank(0, write_both), start_rank(1, write_both)};
  assert_true(end_ranks(o, status));
  for (unsigned i = 0; i < GPUS; i++) {
    struct both x[2];
    assert_int_equal(status[i], 0);
    assert_int_equal(read(o[i].result, x, sizeof x), sizeof x);
    assert_memory_equal(&x[0], &own, sizeof own);
    assert_memory_equal(&x[1], &peer, sizeof peer);
    close(o[i].result);
  }
}

/* The ranks do not copy to the same place. */
static void copy_elsewhere(struct ranks *ranks, int result)
{
  struct rig r;
  int who[1];
  struct live_end end;
  rig_build(&r, 1, 1);
  rig_rank(&r, ranks);
  struct live_copy c = to_peer(&r, who);
  c.dst.addr += 64 * ranks->rank;
  live_copy(r.s[0], &c, r.image, &r.o);
  run(&r, 1, who, &end);
  _exit(write(result, &end.end_ps, sizeof end.end_ps) < 0);
}

static void that_differ(void **state)
{
  (void)state;
  int status[GPUS];
  const struct other o[GPUS] = {start_rank(0, copy_elsewhere), start_rank(1, copy_elsewhere)};
  assert_false(end_ranks(o, status));
  for (unsigned i = 0; i < GPUS; i++) {
    assert_true(WIFEXITED(status[i]));
    assert_int_equal(WEXITSTATUS(status[i]), RANKS_EXIT_STATUS);
  }
}

/* Pages that move from a GPU to another take the link and write nothing: what is written there meanwhile stays. */
static void in_place(void **state)
{
  struct rig r;
  struct live_end end;
  struct dma_mover mover = {0};
  int who;
  (void)state;
  rig_build(&r, 1, 1);
  struct live_copy c = to_peer(&r, &who);
  live_copy(r.s[0], &c, r.image, &r.o); /* a run begins */
  struct dma *d = gpu_dma(r.s[0]->gpu);
  d->mover = &mover;
  const uint64_t from = r.buffer[0][2], to = r.buffer[1][1];
  dma_post(d, &(struct dma_copy){.dst = to, .src = from, .bytes = BYTES, .rows = 1, .dst_node = 1, .src_node = DMA_HERE,
                                 .engine = LIVE_TO_PEER, .in_place = true});
  run(&r, 1, &who, &end);
  assert_int_equal(mover.moved, 1);
  assert_true(holds(&r, to, 101));
  rig_free(&r);
}

/* A range of managed memory, of BYTES. */
static uint64_t managed(struct rig *r, struct uvm_machine *m)
{
  const uint64_t block = 1 << UVM_BLOCK_BITS, free = gmem_alloc(r->image, BYTES + block, NULL);
  const uint64_t at = (free + block - 1) / block * block;
  uvm_space_add(&m->space, at, BYTES, m->of[0]->cfg.socket);
  return at;
}

/* Both GPUs read one managed buffer, of which the host has half, and write one of their own, at once; then each copies
 * what the other one has written. */
static void both_on_managed(unsigned threads, unsigned shorter, struct live_end *end, struct uvm_stats *n)
{
  struct rig r;
  struct page_set half = {{0}};
  int who[2 * GPUS];
  rig_build(&r, threads, shorter);
  struct uvm_machine *m = simulator_manage(r.s[0]);
  const uint64_t from = managed(&r, m), to[] = {managed(&r, m), managed(&r, m)};
  for (unsigned g = 0; g < GPUS; g++) m->space.gpu[g].room = 100;
  write_to(&r, from, 7);
  page_set_add_range(&half, 0, 128);
  uvm_host_finds(m, from, &half);
  for (unsigned turn = 0; turn < 2; turn++) {
    struct launch l[GPUS];
    for (unsigned g = 0; g < GPUS; g++)
      l[g] = launch(&r, g, turn ? r.buffer[g][0] : to[g], turn ? to[1 - g] : from, turn ? end[0].end_ps + end[1].end_ps : 0,
                    &who[turn * GPUS + g]);
    run(&r, GPUS, who, end);
    for (unsigned g = 0; g < GPUS; g++) func_launch_free(l[g].func);
    for (unsigned g = 0; g < GPUS; g++) assert_true(holds(&r, turn ? r.buffer[g][0] : to[g], 7));
  }
  for (unsigned g = 0; g < GPUS; g++) n[g] = m->space.gpu[g].stats;
  rig_free(&r);
}

/* What moved is what the places say; times and counters are the same for any epoch and any number of host threads. */
static void managed_alike(void **state)
{
  struct live_end first[2 * GPUS], again[2 * GPUS];
  struct uvm_stats n[GPUS], n_again[GPUS];
  (void)state;
  both_on_managed(1, 1, first, n);
  assert_int_equal(n[0].to_gpu + n[1].to_gpu, BYTES / 2);
  assert_true(n[0].from_peers >= BYTES && n[1].from_peers >= BYTES);
  assert_true(n[0].filled + n[1].filled == 2 * BYTES + BYTES / 2);
  for (unsigned i = 0; i < 3; i++) {
    both_on_managed(1 + i % 2, 2 + i, again, n_again);
    assert_memory_equal(n, n_again, sizeof n);
    for (unsigned k = 0; k < 2 * GPUS; k++) {
      assert_int_equal(again[k].start_ps, first[k].start_ps);
      assert_int_equal(again[k].end_ps, first[k].end_ps);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(alone_among_others), cmocka_unit_test(copies_between),
      cmocka_unit_test(made_when_touched),  cmocka_unit_test(launches_on_both), cmocka_unit_test(a_fault_ends_all),
      cmocka_unit_test(in_two_processes),   cmocka_unit_test(that_differ),      cmocka_unit_test(managed_alike),
      cmocka_unit_test(in_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
