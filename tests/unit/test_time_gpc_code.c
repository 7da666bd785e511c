/* The cache of code and constants that SMs of a GPC share, and the slice of L2 behind it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem_rig.h"

/* All SMs ask for one line of code that L2 has: L2's cycles from the first answer to the last one. */
static picos code_for_all(struct rig *r)
{
  const unsigned sms = r->params.gpu_sms;
  picos first = 0, last = 0;
  for (unsigned i = 0; i < sms; i++) ask(r, i, REQ_CODE, MEM_LOAD, 0, 0xf, r->now);
  for (unsigned got = 0; got < sms;) {
    rig_window(r);
    for (unsigned m = 0; m < sms; m++)
      for (struct mem_reply *a; (a = reply_queue_front(&r->in[m])); reply_queue_pop(&r->in[m]), got++) {
        if (!first || a->arrive < first) first = a->arrive;
        if (a->arrive > last) last = a->arrive;
      }
  }
  return (last - first + r->clock / 2) / r->clock;
}

/* Each SM gets 128 bytes from the slice, 32 in a cycle; or the first of each GPC does, and the others of it from the
 * cache of the GPC, 32 in a cycle, too: then the slice's tags, which take a request a cycle, and the last GPC are the limit.
 * A second time no SM has it from the slice. */
static void gpcs_share_code(void **state)
{
  (void)state;
  static const unsigned bytes[] = {0, 131072};
  for (unsigned i = 0; i < 2; i++) {
    struct rig r;
    rig_build(&r, "rtx-3080");
    r.params.l2_slice_hash = L2_SLICE_HASH_LINEAR;
    r.params.gpc_code_bytes = bytes[i];
    rig_start(&r);
    round_trip(&r, REQ_READ, MEM_LOAD, 0, 0xf);
    const unsigned sms = r.params.gpu_sms, line = LINE_BYTES / 32, gpc = (sms + r.params.gpu_gpcs - 1) / r.params.gpu_gpcs;
    const picos want = bytes[i] ? sms - gpc + line * gpc : line * (sms - 1);
    for (unsigned k = 0; k < 2; k++) assert_in_range(code_for_all(&r), want - 12, want + 12);
    check_laws(&r);
    rig_free(&r);
  }
}

/* A line that another one has displaced comes from L2 again; so does all when a kernel begins. */
static void displaced_and_emptied(void **state)
{
  (void)state;
  struct rig r;
  struct gpc_code c;
  rig_build(&r, "rtx-3080");
  r.params.gpc_code_bytes = 2 * LINE_BYTES * r.params.l2_slices; /* two sets in a slice */
  gpc_code_init(&c, &r.arena, &r.params);
  const struct mem_req first = {.kind = REQ_CODE, .local = 4, .from = 0}, far = {.kind = REQ_CODE, .local = 4, .from = 67},
                       beside = {.kind = REQ_CODE, .local = 5, .from = 0}, other = {.kind = REQ_CODE, .local = 6, .from = 0},
                       far_other = {.kind = REQ_CODE, .local = 6, .from = 67}, data = {.kind = REQ_READ, .local = 4, .from = 0};
  gpc_code_note(&c, &first);
  gpc_code_note(&c, &beside);
  assert_non_null(gpc_code_port(&c, &first));
  assert_null(gpc_code_port(&c, &far));
  assert_null(gpc_code_port(&c, &data));
  gpc_code_note(&c, &far);
  assert_non_null(gpc_code_port(&c, &far));
  gpc_code_note(&c, &other);
  assert_null(gpc_code_port(&c, &first));
  assert_null(gpc_code_port(&c, &far_other)); /* who had the line that left has not the one that came */
  assert_non_null(gpc_code_port(&c, &beside));
  gpc_code_start(&c);
  assert_null(gpc_code_port(&c, &other));
  arena_free(&r.arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gpcs_share_code),
      cmocka_unit_test(displaced_and_emptied),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
