/* What a server of the Multi-Process Service (host/mps_server.h) refuses to hear of a client: what is not its own, and
 * numbers that others would pay for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/guest_regions.h"
#include "config/presets.h"
#include "host/mps_server.h"

enum { BLOCK = 2 << 20, PAGE = 4096 };

struct rig {
  struct params p;
  struct mps_page page;
  struct mps_server *server;
};

static void send_to(void *ctx, unsigned client, const void *what, size_t bytes)
{
  (void)ctx, (void)client, (void)what, (void)bytes;
}

static bool no_input(void *ctx)
{
  (void)ctx;
  return false;
}

static void no_listen(void *ctx, unsigned client)
{
  (void)ctx, (void)client;
}

static bool say(const struct rig *r, unsigned client, enum mps_kind kind, const void *what, uint32_t bytes)
{
  return mps_server_hear(r->server, client, &(struct mps_head){kind, bytes}, what);
}

/* Two clients, with slots 0 and 1. */
static void begin(struct rig *r)
{
  char dir[4096];
  struct err e;
  memset(r, 0, sizeof *r);
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load("rtx-3070", dir, &r->p, &e)) fail_msg("%s", e.msg);
  r->p.gpu_sms = 2;
  r->server = mps_server_new(&r->p, (struct mps_way){.threads = 1}, &r->page, send_to,
                             (struct mps_ears){no_input, no_listen}, r);
  for (unsigned i = 0; i < 2; i++) {
    mps_server_come(r->server, i, getpid());
    assert_true(say(r, i, MPS_JOIN, &(struct mps_join){.build = mps_build()}, sizeof(struct mps_join)));
    mps_server_step(r->server);
  }
}

static uint64_t of(const struct rig *r, unsigned slot, uint64_t first, uint64_t end)
{
  return mps_part_of_slot(first, end, UINT64_C(1) << r->p.vm_page_bits, slot).first;
}

static bool managed(const struct rig *r, unsigned client, struct uvm_op o)
{
  return say(r, client, MPS_MANAGED, &o, sizeof o);
}

static bool add(const struct rig *r, unsigned client, uint64_t at, uint64_t bytes)
{
  return managed(r, client, (struct uvm_op){.kind = UVM_OP_ADD, .addr = at, .bytes = bytes});
}

static bool place(const struct rig *r, unsigned client, uint64_t at, uint64_t bytes)
{
  return say(r, client, MPS_PLACED, &(struct mps_placed){at, bytes, true}, sizeof(struct mps_placed));
}

static void parts(void **state)
{
  static struct rig r; /* the server lives as long as its process */
  (void)state;
  begin(&r);
  const uint64_t region[][2] = {{DEVICE_FIRST, DEVICE_END}, {RESERVED, RESERVED_END}, {HOST_MAPPINGS, HOST_MAPPINGS_END}};
  for (unsigned i = 0; i < 3; i++) {
    const uint64_t first = of(&r, 0, region[i][0], region[i][1]), other = of(&r, 1, region[i][0], region[i][1]);
    assert_true(place(&r, 0, first, PAGE) && place(&r, 0, other - PAGE, PAGE) && place(&r, 1, other, PAGE));
    assert_false(place(&r, 0, other, PAGE) || place(&r, 1, first, PAGE) || place(&r, 0, other - PAGE, 2 * PAGE));
    assert_false(place(&r, 0, first, UINT64_MAX - PAGE + 1));
  }
  const uint64_t first = of(&r, 0, HOST_MAPPINGS, HOST_MAPPINGS_END), other = of(&r, 1, HOST_MAPPINGS, HOST_MAPPINGS_END);
  assert_false(add(&r, 0, other, BLOCK) || add(&r, 0, other - BLOCK, BLOCK + 1) || add(&r, 1, first, BLOCK));
  assert_true(add(&r, 0, first, BLOCK) && add(&r, 1, other, BLOCK));
  assert_false(add(&r, 0, first, BLOCK));
}

/* Of all ranges together: a page takes a block. */
static void sum(void **state)
{
  static struct rig r; /* the server lives as long as its process */
  (void)state;
  begin(&r);
  const uint64_t at = of(&r, 0, HOST_MAPPINGS, HOST_MAPPINGS_END);
  assert_false(add(&r, 0, at, MPS_MANAGED_MOST + 1));
  assert_true(add(&r, 0, at, MPS_MANAGED_MOST - BLOCK));
  assert_true(add(&r, 0, at + MPS_MANAGED_MOST, 1));
  assert_false(add(&r, 0, at + MPS_MANAGED_MOST + BLOCK, 1));
  assert_true(managed(&r, 0, (struct uvm_op){.kind = UVM_OP_REMOVE, .addr = at}));
  assert_true(add(&r, 0, at + MPS_MANAGED_MOST + BLOCK, 1));
}

static void times(void **state)
{
  static struct rig r; /* the server lives as long as its process */
  struct uvm_op o = {.kind = UVM_OP_TOUCH};
  (void)state;
  begin(&r);
  o.addr = of(&r, 0, HOST_MAPPINGS, HOST_MAPPINGS_END);
  page_set_add(&o.pages, 0);
  assert_true(add(&r, 0, o.addr, BLOCK));
  o.now = UINT64_C(1) << 62;
  assert_true(managed(&r, 0, o));
  o.now++;
  assert_false(managed(&r, 0, o));
  o.now = UINT64_MAX;
  assert_false(managed(&r, 0, o));
}

/* Copies: within what is the client's, or in its own process; rows and planes that overflow together; other GPUs, other
 * engines, patterns of three bytes. Each differs in one thing from one that is heard. */
static void copies(void **state)
{
  static struct rig r; /* the server lives as long as its process */
  (void)state;
  begin(&r);
  const uint64_t own = of(&r, 0, DEVICE_FIRST, DEVICE_END), other = of(&r, 1, DEVICE_FIRST, DEVICE_END);
  const struct live_copy good = {.dst = {.addr = own, .pitch = 512, .slice = 4096}, .width = 100, .height = 8, .depth = 2,
                                 .src = {.addr = 4096, .pitch = 100, .slice = 800, .place = LIVE_PROGRAM},
                                 .start_ps = UINT64_C(1) << 62};
  const uint64_t past = other - 4096 - 7 * 512 - 100, process_end = UINT64_C(1) << 48;
  const struct live_side in_process = {.addr = 4096, .pitch = 1, .slice = 1, .place = LIVE_PROGRAM};
  struct live_copy x;
  const struct mps_head h = {MPS_COPY, sizeof x};
#define HEARD(...) (x = good, __VA_ARGS__, mps_server_hear(r.server, 0, &h, &x))
  assert_true(HEARD(x.height = 8) && HEARD(x.dst.addr = past) && HEARD(x.src.addr = process_end - 1600));
  assert_true(HEARD(x.fill = 2, x.src.addr = UINT64_MAX) && HEARD(x.src.place = LIVE_AT_HOST, x.src.addr = own));
  assert_false(HEARD(x.dst.addr = past + 1) || HEARD(x.src.addr = process_end - 1599) || HEARD(x.dst.addr = other));
  assert_false(HEARD(x.src.addr = 4096 | UINT64_C(2) << 48)); /* a process by its number */
  assert_false(HEARD(x.width = 0) || HEARD(x.height = 0) || HEARD(x.depth = 0) || HEARD(x.start_ps++));
  assert_false(HEARD(x.fill = 3) || HEARD(x.engine = LIVE_TO_PEER) || HEARD(x.dst.place = LIVE_PEER));
  assert_false(HEARD(x.src.place = LIVE_PEER) || HEARD(x.dst.place = LIVE_PROGRAM, x.dst.addr = 8192));
  assert_false(HEARD(x.depth = 1u << 31, x.dst.slice = UINT64_C(1) << 33)); /* 2^64 bytes in front of the last plane */
  assert_false(HEARD(x.height = UINT64_C(1) << 55) || HEARD(x.height = UINT64_MAX) || HEARD(x.depth = UINT64_MAX));
  assert_false(HEARD(x.dst.pitch = 99) || HEARD(x.dst.slice = 0) || HEARD(x.width = UINT64_MAX, x.height = 1));
  /* more planes than a GPU has copies for, within the process */
#define PLANES(n) HEARD(x.fill = 1, x.width = 1, x.height = 2, x.depth = (n), x.dst = in_process)
  assert_true(PLANES(1u << 20));
  assert_false(PLANES((1u << 20) + 1) || PLANES(UINT64_C(1) << 33));
#undef PLANES
  assert_true(HEARD(x.height = 1, x.dst.pitch = 0) && HEARD(x.depth = 1, x.dst.slice = 0));
#undef HEARD
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts), cmocka_unit_test(sum), cmocka_unit_test(times),
                                     cmocka_unit_test(copies)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
