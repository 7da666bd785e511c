/* Guest memory: allocation, mapping, faults' descriptions, views and logs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/gmem_view.h"
#include "base/host_memory.h"

static void test_alloc(void **state)
{
  (void)state;
  struct gmem *g = gmem_new(16);
  uint64_t a = gmem_alloc(g, 1000, "a"), b = gmem_alloc(g, 1, "b");
  assert_int_equal(a % 512, 0);
  assert_int_equal(b % 512, 0);
  assert_true(b >= a + 1000);
  assert_null(gmem_ptr(g, 0, 4));
  assert_null(gmem_ptr(g, 0x1234, 4));
  assert_null(gmem_ptr(g, (uint64_t)1 << 49, 4));
  assert_null(gmem_ptr(g, UINT64_MAX, 4));
  for (unsigned i = 0; i < 1000; i++) assert_int_equal(*gmem_ptr(g, a + i, 1), 0);
  /* Mapped but outside any allocation is readable; the next page is not. */
  assert_non_null(gmem_ptr(g, a + 60000, 4));
  assert_null(gmem_ptr(g, a + 65536, 4));
  gmem_free(g);
}

static void test_aligned(void **state)
{
  (void)state;
  struct gmem *g = gmem_new(16);
  gmem_set_range(g, 0x100000, 0x140000); /* four pages */
  assert_int_equal(gmem_alloc(g, 1, "small"), 0x100000);
  assert_int_equal(gmem_alloc_at(g, 0x10000, 0x10000, "a page"), 0x110000);
  assert_int_equal(gmem_alloc(g, 1, "small"), 0x120000);
  assert_int_equal(gmem_alloc_at(g, 1, 0x1000, "aligned"), 0x121000);
  assert_int_equal(gmem_alloc_at(g, 0x10001, 0x10000, "too much"), 0);
  gmem_free(g);
}

/* Pages of an address space that has its own list of them. */
static void test_map_at(void **state)
{
  (void)state;
  struct gmem *g = gmem_new(12);
  const uint64_t far = 0x3ffffff000, limit = (uint64_t)1 << 49;
  assert_true(gmem_map_at(g, 0x10000, 3 * 4096));
  *gmem_ptr(g, 0x11000, 1) = 7;
  assert_true(gmem_map_at(g, 0x10000, 5 * 4096)); /* what is there stays */
  assert_int_equal(*gmem_ptr(g, 0x11000, 1), 7);
  assert_non_null(gmem_ptr(g, 0x14fff, 1));
  assert_null(gmem_ptr(g, 0x15000, 1));
  assert_true(gmem_map_at(g, far, 4096));
  assert_false(gmem_map_at(g, limit, 4096));
  assert_false(gmem_map_at(g, limit - 4096, 8192));
  assert_int_equal(gmem_unmap_at(g, 0x11000, 2 * 4096), 2);
  assert_null(gmem_ptr(g, 0x11000, 1));
  assert_non_null(gmem_ptr(g, 0x10000, 1));
  assert_non_null(gmem_ptr(g, 0x13000, 1));
  assert_true(gmem_map_at(g, 0x11000, 4096)); /* zeros again */
  assert_int_equal(*gmem_ptr(g, 0x11000, 1), 0);
  assert_int_equal(gmem_unmap_at(g, 0, limit), 5); /* all: 4 here, and the far one */
  assert_null(gmem_ptr(g, far, 1));
  gmem_free(g);
}

static void test_pages(void **state)
{
  (void)state;
  struct gmem *g = gmem_new(12);
  uint64_t a = gmem_alloc(g, 3 * 4096, "pages");
  uint8_t in[6000], out[6000];
  for (unsigned i = 0; i < sizeof in; i++) in[i] = (uint8_t)(i * 7);
  assert_null(gmem_ptr(g, a + 4090, 16)); /* crosses a page */
  assert_true(gmem_write(g, a + 1000, in, sizeof in));
  assert_true(gmem_read(g, a + 1000, out, sizeof out));
  assert_memory_equal(in, out, sizeof in);
  /* Partly unmapped: nothing is transferred. */
  memset(out, 0xee, sizeof out);
  assert_false(gmem_read(g, a + 3 * 4096 - 10, out, 20));
  assert_int_equal(out[0], 0xee);
  assert_false(gmem_write(g, a + 3 * 4096 - 10, in, 20));
  assert_true(gmem_read(g, a + 3 * 4096 - 10, out, 10));
  assert_int_equal(out[0], 0);
  gmem_free(g);
}

static void test_release(void **state)
{
  (void)state;
  struct gmem *g = gmem_new(12);
  uint64_t a = gmem_alloc(g, 8192, "a"), b = gmem_alloc(g, 512, "b");
  memset(gmem_ptr(g, b, 512), 1, 512);
  assert_false(gmem_release(g, a + 512));
  assert_true(gmem_release(g, a));
  assert_false(gmem_release(g, a));
  assert_null(gmem_ptr(g, a, 4));
  assert_int_equal(*gmem_ptr(g, b, 1), 1);
  uint64_t c = gmem_alloc(g, 512, "c");
  assert_true(c > b); /* addresses are not reused: a stale pointer faults */
  assert_int_equal(*gmem_ptr(g, c, 1), 0);
  gmem_free(g);
}

static void test_zero_after_stray_write(void **state)
{
  (void)state;
  struct gmem *g = gmem_new(16);
  uint64_t a = gmem_alloc(g, 512, "a");
  memset(gmem_ptr(g, a + 512, 1024), 0xff, 1024); /* past the end, same page */
  uint64_t b = gmem_alloc(g, 1024, "b");
  assert_int_equal(b, a + 512);
  for (unsigned i = 0; i < 1024; i++) assert_int_equal(*gmem_ptr(g, b + i, 1), 0);
  gmem_free(g);
}

/* Host memory in the guest: the same bytes, found and described like an allocation, left to its owner. */
static void test_map_host(void **state)
{
  (void)state;
  static _Alignas(4096) uint8_t host[3 * 4096];
  const uint64_t at = UINT64_C(0x400000000000);
  char text[200];
  struct gmem *g = gmem_new(12);
  uint64_t a = gmem_alloc(g, 4096, "a");
  assert_false(gmem_map_host(g, at + 8, host, 4096, "crooked"));
  assert_false(gmem_map_host(g, at, host + 8, 4096, "crooked"));
  assert_false(gmem_map_host(g, at, host, 100, "crooked"));
  assert_false(gmem_map_host(g, a, host, 4096, "taken"));
  assert_true(gmem_map_host(g, at + 4096, host + 4096, 2 * 4096, "second"));
  assert_false(gmem_map_host(g, at + 8192, host, 4096, "taken"));
  assert_true(gmem_map_host(g, at, host, 4096, "first"));
  host[4095] = 1, host[4096] = 2;
  uint8_t both[2], nine = 9;
  assert_true(gmem_read(g, at + 4095, both, 2));
  assert_int_equal(both[0], 1);
  assert_int_equal(both[1], 2);
  assert_true(gmem_write(g, at + 3 * 4096 - 1, &nine, 1));
  assert_int_equal(host[3 * 4096 - 1], 9);
  assert_null(gmem_ptr(g, at + 3 * 4096, 1));
  gmem_describe(g, at + 4096 + 5, text, sizeof text);
  assert_non_null(strstr(text, "5 bytes into buffer 'second'"));
  /* Later device memory goes where it would have gone. */
  assert_int_equal(gmem_alloc(g, 4096, "b"), a + 4096);
  assert_true(gmem_release(g, at));
  assert_null(gmem_ptr(g, at, 1));
  assert_int_equal(host[4095], 1);
  assert_true(gmem_map_host(g, at, host, 4096, "again"));
  gmem_free(g);
  assert_int_equal(host[3 * 4096 - 1], 9);
}

static void test_describe(void **state)
{
  (void)state;
  struct gmem *g = gmem_new(12);
  char s[128];
  gmem_describe(g, 0, s, sizeof s);
  assert_string_equal(s, "no device memory is allocated");
  uint64_t a = gmem_alloc(g, 100, "x");
  gmem_describe(g, a + 116, s, sizeof s);
  assert_non_null(strstr(s, "16 bytes past the end of buffer 'x'"));
  gmem_describe(g, a + 5, s, sizeof s);
  assert_non_null(strstr(s, "5 bytes into buffer 'x'"));
  gmem_describe(g, a - 3, s, sizeof s);
  assert_non_null(strstr(s, "3 bytes before buffer 'x'"));
  gmem_describe(g, 0, s, sizeof s);
  assert_string_equal(s, "a null pointer");
  gmem_describe(g, 24, s, sizeof s);
  assert_string_equal(s, "24 bytes behind a null pointer");
  gmem_describe(g, a + (UINT64_C(1) << 32), s, sizeof s);
  assert_string_equal(s, "not near any allocation");
  gmem_free(g);
}

static void test_log(void **state)
{
  (void)state;
  struct gmem *g = gmem_new(12);
  uint64_t a = gmem_alloc(g, 8192, "a");
  struct gmem_log log;
  gmem_log_init(&log);
  struct gmem_view v = {.image = g, .log = &log, .now = 7};
  uint32_t x = 0x11223344, y = 0xaabb, z;
  assert_true(gmem_view_write(&v, a + 4094, &x, 4)); /* across pages */
  v.now = 9;
  assert_true(gmem_view_write(&v, a + 4095, &y, 2)); /* overlaps the first */
  assert_false(gmem_view_write(&v, a + 8190, &x, 4));
  assert_int_equal(log.n, 2);
  assert_int_equal(log.entry[0].when, 7);
  assert_int_equal(log.entry[1].when, 9);
  assert_true(gmem_view_pending(&v, a + 4096, 1));
  /* The view sees its writes in order, the image does not. */
  assert_true(gmem_view_read(&v, a + 4094, &z, 4));
  assert_int_equal(z, 0x11aabb44);
  assert_true(gmem_read(g, a + 4094, &z, 4));
  assert_int_equal(z, 0);
  gmem_log_apply(&log, 0, g);
  gmem_log_apply(&log, 1, g);
  assert_true(gmem_read(g, a + 4094, &z, 4));
  assert_int_equal(z, 0x11aabb44);
  gmem_log_clear(&log);
  assert_false(gmem_view_pending(&v, a, 8192));
  gmem_log_free(&log);
  gmem_free(g);
}

/* Many random writes: the view agrees with a flat array at every step. */
static void test_log_random(void **state)
{
  (void)state;
  struct gmem *g = gmem_new(12);
  enum { SIZE = 16384 };
  static uint8_t flat[SIZE];
  uint64_t a = gmem_alloc(g, SIZE, "a"), rng = 1;
  struct gmem_log log;
  gmem_log_init(&log);
  struct gmem_view v = {.image = g, .log = &log};
  for (unsigned i = 0; i < 2000; i++) {
    rng = rng * 6364136223846793005u + 1442695040888963407u;
    unsigned at = (unsigned)(rng >> 33) % (SIZE - 32), len = 1 + (unsigned)(rng >> 20) % 32;
    uint8_t buf[32];
    for (unsigned k = 0; k < len; k++) flat[at + k] = buf[k] = (uint8_t)(rng >> (k & 31));
    assert_true(gmem_view_write(&v, a + at, buf, len));
    unsigned from = (unsigned)(rng >> 40) % (SIZE - 32);
    assert_true(gmem_view_read(&v, a + from, buf, 32));
    assert_memory_equal(buf, flat + from, 32);
  }
  for (uint32_t i = 0; i < log.n; i++) gmem_log_apply(&log, i, g);
  for (unsigned i = 0; i < SIZE; i++) assert_int_equal(*gmem_ptr(g, a + i, 1), flat[i]);
  gmem_log_free(&log);
  gmem_free(g);
}

/* Shared pages are those of a file, at the guest's addresses; pointers to them stay. */
static void test_share(void **state)
{
  (void)state;
  enum { PAGE = 1 << 16, BYTES = 3 * PAGE };
  struct gmem *g = gmem_new(16);
  uint64_t before = gmem_alloc(g, 100, "before"), a = gmem_alloc(g, BYTES, "a");
  uint32_t first = 0x01234567, last = 0x89abcdef, got = 0;
  uint8_t *host = gmem_ptr(g, a, 4);
  assert_true(gmem_write(g, before, &last, 4) && gmem_write(g, a, &first, 4));
  assert_true(gmem_write(g, a + BYTES - 4, &last, 4));
  assert_int_equal(gmem_share(g, a + BYTES, 4), -1);
  assert_int_equal(gmem_share(g, a, BYTES + 1), -1);
  int fd = gmem_share(g, a, BYTES);
  assert_true(fd >= 0 && fd == gmem_share(g, before, 100));
  assert_ptr_equal(gmem_ptr(g, a, 4), host);
  assert_true(pread(fd, &got, 4, (off_t)a) == 4 && got == first);
  assert_true(pread(fd, &got, 4, (off_t)(a + BYTES - 4)) == 4 && got == last);
  assert_true(pread(fd, &got, 4, (off_t)before) == 4 && got == last);
  assert_int_equal(pwrite(fd, &last, 4, (off_t)a), 4); /* somebody else writes */
  assert_true(gmem_read(g, a, &got, 4) && got == last);
  assert_true(gmem_write(g, a + 8, &first, 4)); /* and reads */
  assert_true(pread(fd, &got, 4, (off_t)(a + 8)) == 4 && got == first);
  assert_true(gmem_release(g, a));
  gmem_free(g);
}

/* What a listener was told, in order: R for a release. */
struct told {
  char what[8];
  uint64_t addr[8];
  unsigned n;
};

static void told_allocated(void *ctx, uint64_t addr, uint64_t bytes, const char *name)
{
  struct told *t = ctx;
  (void)bytes;
  t->what[t->n] = name[0];
  t->addr[t->n++] = addr;
}

static void told_released(void *ctx, uint64_t addr)
{
  struct told *t = ctx;
  t->what[t->n] = 'R';
  t->addr[t->n++] = addr;
}

/* An image that follows another one has its bytes, where this says that it has allocated; a page in which both an
 * earlier and a later allocation lie is not cleared by the follower, and what is released takes no memory. */
static void test_follow(void **state)
{
  (void)state;
  enum { PAGE = 1 << 16, BYTES = 3 * PAGE };
  struct told t = {.n = 0};
  const struct gmem_listener listener = {&t, told_allocated, told_released};
  struct gmem *g = gmem_new(16), *f = gmem_new(16);
  uint32_t first = 0x01234567, last = 0x89abcdef, got = 0;
  assert_true(gmem_back(g));
  gmem_listen(g, &listener);
  gmem_follow(f, dup(gmem_share_file(g)));
  const uint64_t a = gmem_alloc(g, BYTES, "a"), b = gmem_alloc(g, 100, "b");
  assert_true(gmem_write(g, a + BYTES - 4, &first, 4) && gmem_write(g, b, &last, 4));
  for (unsigned i = 0; i < t.n; i++) {
    gmem_set_next_address(f, t.addr[i]);
    assert_int_equal(gmem_alloc(f, i ? 100 : BYTES, "there"), t.addr[i]);
  }
  assert_true(gmem_read(f, a + BYTES - 4, &got, 4) && got == first);
  assert_true(gmem_read(f, b, &got, 4) && got == last);
  assert_true(gmem_write(f, a, &last, 4) && gmem_read(g, a, &got, 4) && got == last);
  assert_int_equal(gmem_share(g, a, BYTES), gmem_share_file(g)); /* all of it is shared already */
  assert_true(gmem_release(g, a) && gmem_release(f, a));
  assert_null(gmem_ptr(f, a, 1));
  assert_true(gmem_read(f, b, &got, 4) && got == last);
  assert_true(pread(gmem_share_file(g), &got, 4, (off_t)a) == 4 && got == 0);
  assert_true(t.n == 3 && memcmp(t.what, "abR", 3) == 0 && t.addr[2] == a);
  gmem_free(f);
  gmem_free(g);
}

/* Sizes and places at the ends of the address space, and of 64 bits. */
static void test_ends(void **state)
{
  (void)state;
  const uint64_t top = 1ull << 49;
  uint8_t b[16] = {0};
  struct gmem *g = gmem_new(16);
  uint64_t a = gmem_alloc(g, 100, "a");
  assert_non_null(gmem_ptr(g, a + 1, 1));
  assert_null(gmem_ptr(g, a + 1, SIZE_MAX));
  assert_null(gmem_ptr(g, a + 1, (size_t)0 - (a + 1)));
  assert_false(gmem_read(g, a, b, (size_t)1 << 40));
  assert_false(gmem_read(g, top - 8, b, 16));
  assert_false(gmem_read(g, UINT64_MAX - 7, b, 16));
  assert_int_equal(gmem_alloc(g, UINT64_MAX, "too much"), 0);
  assert_int_equal(gmem_alloc(g, top, "too much"), 0);
  gmem_set_next_address(g, top - 1); /* as a saved image may say */
  assert_int_equal(gmem_alloc(g, 1, "behind the end"), 0);
  assert_int_equal(gmem_alloc(g, UINT64_MAX - 1024, "behind the end"), 0);
  struct gmem_log log;
  struct gmem_view v = {.image = g, .log = &log};
  gmem_log_init(&log);
  assert_true(gmem_view_write(&v, a, b, 1));
  assert_true(gmem_view_write(&v, 0, b, 0)); /* nothing, at once */
  assert_true(gmem_view_read(&v, 0, b, 0));
  assert_int_equal(log.n, 1);
  gmem_log_free(&log);
  gmem_free(g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alloc),
    cmocka_unit_test(test_aligned),
    cmocka_unit_test(test_map_at), cmocka_unit_test(test_pages),
      cmocka_unit_test(test_release),  cmocka_unit_test(test_zero_after_stray_write),
      cmocka_unit_test(test_map_host), cmocka_unit_test(test_describe), cmocka_unit_test(test_log),
      cmocka_unit_test(test_log_random), cmocka_unit_test(test_share),
      cmocka_unit_test(test_follow), cmocka_unit_test(test_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
