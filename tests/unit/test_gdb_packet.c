/* Packets of gdb's protocol: framing by the examples of its manual, damage, escapes, lengths; expressions of users. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "debug/expression.h"
#include "debug/gdb_packet.h"

/* What the bytes come to: counts of events; the last packet is in the reader. */
struct counts {
  unsigned packet, damaged, interrupt, again;
};

static struct counts feed(struct gdb_reader *r, const void *data, size_t n)
{
  struct counts c = {0};
  for (size_t i = 0; i < n; i++) {
    switch (gdb_read_byte(r, ((const uint8_t *)data)[i])) {
    case GDB_PACKET: c.packet++; break;
    case GDB_DAMAGED: c.damaged++; break;
    case GDB_INTERRUPT: c.interrupt++; break;
    case GDB_AGAIN: c.again++; break;
    default: break;
    }
  }
  return c;
}

static struct counts feed_text(struct gdb_reader *r, const char *s)
{
  return feed(r, s, strlen(s));
}

static void test_checksums(void **state)
{
  struct gdb_reader r = {0};
  (void)state;
  assert_int_equal(feed_text(&r, "$OK#9a").packet, 1); /* 'O' + 'K' = 0x4f + 0x4b */
  assert_string_equal(r.data, "OK");
  assert_int_equal(feed_text(&r, "$OK#9A").packet, 1);
  assert_int_equal(feed_text(&r, "$OK#9b").damaged, 1);
  assert_int_equal(feed_text(&r, "$OK#zz").damaged, 1);
  assert_int_equal(feed_text(&r, "$#00").packet, 1);
  assert_int_equal(r.n, 0);
  assert_int_equal(feed_text(&r, "+-$cut$OK#9a").damaged, 1); /* one begins inside another */
  assert_string_equal(r.data, "OK");
  assert_int_equal(feed_text(&r, "-").again, 1);
  assert_int_equal(feed_text(&r, "\003").interrupt, 1);
  assert_int_equal(feed_text(&r, "#9a").packet, 0);
}

static void test_escapes(void **state)
{
  struct gdb_reader r = {0};
  uint8_t all[256];
  char frame[2 * sizeof all + 4];
  (void)state;
  for (unsigned i = 0; i < sizeof all; i++) all[i] = (uint8_t)i;
  const size_t n = gdb_frame(all, sizeof all, frame);
  assert_int_equal(n, sizeof all + 4 + 4); /* four bytes need an escape: $ # } * */
  assert_int_equal(feed(&r, frame, n).packet, 1);
  assert_int_equal(r.n, sizeof all);
  assert_memory_equal(r.data, all, sizeof all);
}

static void test_length(void **state)
{
  struct gdb_reader *r = calloc(1, sizeof *r);
  const size_t longest = GDB_PACKET_MOST;
  char *data = malloc(longest + 1), *frame = malloc(2 * longest + 8);
  (void)state;
  memset(data, 'a', longest + 1);
  assert_int_equal(feed(r, frame, gdb_frame(data, longest, frame)).packet, 1);
  assert_int_equal(r->n, longest);
  assert_int_equal(feed(r, frame, gdb_frame(data, longest + 1, frame)).damaged, 1);
  assert_int_equal(feed_text(r, "$OK#9a").packet, 1); /* it goes on behind it */
  free(frame);
  free(data);
  free(r);
}

/* Packets with bytes changed, lost and doubled: never more than came, and always terminated. */
static void test_mutated(void **state)
{
  struct gdb_reader *r = calloc(1, sizeof *r);
  uint32_t seed = 1;
  (void)state;
  for (unsigned round = 0; round < 200000; round++) {
    char bytes[64] = "$vCont;s:1f;c#", text[3];
    uint8_t sum = 0;
    for (const char *p = bytes + 1; *p != '#'; p++) sum = (uint8_t)(sum + *p);
    static const char hex[] = "0123456789abcdef";
    text[0] = hex[sum >> 4], text[1] = hex[sum & 15], text[2] = '\0';
    strcat(bytes, text);
    seed = seed * 1664525 + 1013904223;
    const size_t n = strlen(bytes), at = seed >> 8 & 15;
    if (seed >> 30 == 0) bytes[at] = (char)(seed >> 16);
    else if (seed >> 30 == 1) memmove(bytes + at, bytes + at + 1, n - at);
    const struct counts c = feed(r, bytes, n);
    assert_true(c.packet <= 1 && r->n <= GDB_PACKET_MOST);
    if (seed >> 30 >= 2 && r->at == GDB_BETWEEN) assert_true(c.packet == 1 || c.damaged == 1);
    if (c.packet) assert_int_equal(strlen(r->data) <= r->n, true);
  }
  free(r);
}

static void test_hex(void **state)
{
  uint8_t out[4];
  char text[9];
  uint64_t n;
  const char *at = "1fX", *wide = "11112222333344445";
  (void)state;
  gdb_to_hex("\x01\xff\x20\x00", 4, text);
  assert_string_equal(text, "01ff2000");
  assert_int_equal(gdb_from_hex(text, out, sizeof out), 4);
  assert_memory_equal(out, "\x01\xff\x20\x00", 4);
  assert_int_equal(gdb_from_hex("01f", out, sizeof out), -1);
  assert_int_equal(gdb_from_hex("0g", out, sizeof out), -1);
  assert_int_equal(gdb_from_hex("0102030405", out, sizeof out), -1); /* more than there is room for */
  assert_true(gdb_number(&at, &n) && n == 0x1f && *at == 'X');
  assert_false(gdb_number(&wide, &n));
}

static int64_t evaluated(const char *text)
{
  struct debug_value v;
  struct err e;
  if (!expression_evaluate(text, NULL, NULL, &v, &e)) fail_msg("%s: %s", text, e.msg);
  return v.kind == DEBUG_INT ? v.i : (int64_t)(v.f * 1000);
}

/* As C has it. */
static void test_expressions(void **state)
{
  (void)state;
  assert_int_equal(evaluated("1 + 2 * 3 - 4 / 2"), 5);
  assert_int_equal(evaluated("(1 + 2) * 3 % 4"), 1);
  assert_int_equal(evaluated("1 << 4 | 3 & 2 ^ 1"), (1 << 4) | ((3 & 2) ^ 1));
  assert_int_equal(evaluated("-7 / 2"), -3);
  assert_int_equal(evaluated("!0 && 3 > 2 || 1 / 0"), 1);
  assert_int_equal(evaluated("~0x0f & 0xff"), 0xf0);
  assert_int_equal(evaluated("s32(0xffffffff)"), -1);
  assert_int_equal(evaluated("s8(200) == -56"), 1);
  assert_int_equal(evaluated("f32(0x3fc00000)"), 1500);
  assert_int_equal(evaluated("1.5 * 2 + 1"), 4000);
  assert_int_equal(evaluated("2.5 > 2"), 1);
  assert_int_equal(evaluated("0x7fffffffffffffff + 1 < 0"), 1);
  /* Comparisons are of the numbers: C would take -1 for the largest. */
  assert_int_equal(evaluated("0xffffffffffffffff > 1"), 1);
  assert_int_equal(evaluated("-1 < 0xffffffffffffffff"), 1);
  assert_int_equal(evaluated("-2 < -1"), 1);
  /* The sign comes in from the left, of negative numbers alone; a distance of the width or more leaves nothing else. */
  assert_int_equal(evaluated("-5 >> 1"), -3);
  assert_int_equal(evaluated("s8(0x80) >> 70"), -1);
  assert_int_equal(evaluated("0xfffffffffffffffe >> 63"), 1);
  assert_int_equal(evaluated("5 >> 64"), 0);
  assert_int_equal(evaluated("name[1 + 2] + 1"), 2); /* only how it is written is looked at: every value is 1 */
  /* IEEE 754: what is no number is not equal to itself, and neither above nor below. */
  assert_int_equal(evaluated("0.0 / 0.0 == 0.0 / 0.0"), 0);
  assert_int_equal(evaluated("0.0 / 0.0 != 1.0"), 1);
  assert_int_equal(evaluated("0.0 / 0.0 >= 1.0 || 0.0 / 0.0 <= 1.0"), 0);
}

static void test_wrong_expressions(void **state)
{
  static const char *const wrong[] = {"", "1 +", "(1", "1 2", "1.5 % 2", "R1[", "R1[32]", "f32(", "u32 nowhere[0]", "u32 shared[",
                                      "shared[1.5]", "name[", "name[1.5]", "name[1", "0x", "9abc", "&&", "f32(1.5)"};
  struct debug_value v;
  (void)state;
  for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    struct err e = {""};
    if (expression_evaluate(wrong[i], NULL, NULL, &v, &e)) fail_msg("'%s' was taken", wrong[i]);
    assert_true(e.msg[0] != '\0');
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checksums), cmocka_unit_test(test_escapes),     cmocka_unit_test(test_length),
      cmocka_unit_test(test_mutated),   cmocka_unit_test(test_hex),         cmocka_unit_test(test_expressions),
      cmocka_unit_test(test_wrong_expressions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
