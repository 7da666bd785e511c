/* The JSON writer (base/json_out.h) against jansson: random documents are built both ways, and the bytes are the same. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/json_out.h"
#include "base/text.h"

static uint64_t random64(uint64_t *s)
{
  *s = *s * 6364136223846793005u + 1442695040888963407u;
  return *s >> 33 ^ *s << 17;
}

static const char *const string[] = {"", "plain", "a \"quote\" \\ and /", "\b\f\n\r\t\x01\x1f\x7f", "</script><!--",
                                     "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc2\x80\xed\x9f\xbf"};
enum { STRINGS = sizeof string / sizeof string[0] };

static const double real[] = {0.0, -0.0, 1, -3, 0.1, 1.0 / 3, 1e15, 1e16, -1.5e300, 2.5e-7, 1e-5, 123456.789, 4e-320};
enum { REALS = sizeof real / sizeof real[0] };

/* Puts one random value by the writer and returns the same as a tree. */
static json_t *put_random(struct json_out *j, const char *key, unsigned depth, uint64_t *seed)
{
  uint64_t v = random64(seed);
  switch (v % (depth < 5 ? 8 : 6)) {
  case 0: json_out_u64(j, key, v >> (v >> 8 & 63) >> 1); return json_integer((json_int_t)(v >> (v >> 8 & 63) >> 1));
  case 1: json_out_real(j, key, real[v / 8 % REALS]); return json_real(real[v / 8 % REALS]);
  case 2: json_out_text(j, key, string[v / 8 % STRINGS]); return json_string(string[v / 8 % STRINGS]);
  case 3: json_out_bool(j, key, v & 8); return json_boolean(v & 8);
  case 4: json_out_null(j, key); return json_null();
  case 5: {
    double x = (double)(int64_t)random64(seed) / (double)(1 + (v >> 20));
    json_out_real(j, key, x);
    return json_real(x);
  }
  default: break;
  }
  bool array = v & 8;
  json_t *tree = array ? json_array() : json_object();
  if (array) json_out_array(j, key);
  else json_out_object(j, key);
  for (unsigned n = v / 16 % 5, i = 0; i < n; i++) {
    char name[16];
    snprintf(name, sizeof name, "k%u", i);
    json_t *value = put_random(j, array ? NULL : name, depth + 1, seed);
    if (array) json_array_append_new(tree, value);
    else json_object_set_new(tree, name, value);
  }
  json_out_end(j);
  return tree;
}

static void compare(unsigned indent, size_t flags)
{
  uint64_t seed = 12345;
  for (unsigned round = 0; round < 3000; round++) {
    struct text_out text;
    struct json_out j;
    text_out_open(&text, NULL);
    json_out_open(&j, &text, (struct json_form){.indent = indent});
    json_out_array(&j, NULL);
    json_t *tree = json_array();
    for (unsigned i = 0; i < 4; i++) json_array_append_new(tree, put_random(&j, NULL, 1, &seed));
    json_out_end(&j);
    text_out_char(&text, '\0');
    char *expected = json_dumps(tree, flags | JSON_REAL_PRECISION(15));
    assert_string_equal(text.data, expected);
    free(expected);
    json_decref(tree);
    text_out_close(&text);
  }
}

static void test_compact(void **state)
{
  (void)state;
  compare(0, JSON_COMPACT);
}

static void test_indented(void **state)
{
  (void)state;
  compare(2, JSON_INDENT(2));
}

/* What a document of one value is. */
static char *one(struct json_form form, void (*put)(struct json_out *, const void *), const void *value)
{
  struct text_out text;
  struct json_out j;
  text_out_open(&text, NULL);
  json_out_open(&j, &text, form);
  put(&j, value);
  char *copy = strndup(text.data, text.n);
  text_out_close(&text);
  return copy;
}

static void put_text(struct json_out *j, const void *value)
{
  json_out_text(j, NULL, value);
}

static void put_real(struct json_out *j, const void *value)
{
  json_out_real(j, NULL, *(const double *)value);
}

static void put_foreign(struct json_out *j, const void *value)
{
  json_out_foreign(j, NULL, value);
}

static void assert_one(struct json_form form, void (*put)(struct json_out *, const void *), const void *value,
                       const char *expected)
{
  char *text = one(form, put, value);
  assert_string_equal(text, expected);
  free(text);
}

/* Inside a script no tag begins, whoever wrote the value, and it is the same value. */
static void test_script(void **state)
{
  (void)state;
  const struct json_form script = {.in_script = true};
  char *text = one(script, put_text, "a</script><!--");
  assert_null(strchr(text, '<'));
  json_t *read = json_loads(text, JSON_DECODE_ANY, NULL);
  assert_string_equal(json_string_value(read), "a</script><!--");
  json_decref(read);
  free(text);
  assert_one(script, put_foreign, "{\"a\":\"<b<\"}", "{\"a\":\"\\u003cb\\u003c\"}");
  assert_one((struct json_form){0}, put_foreign, "{\"a\":\"<b<\"}", "{\"a\":\"<b<\"}");
}

static void test_no_value(void **state)
{
  (void)state;
  const struct json_form form = {0};
  assert_one(form, put_text, NULL, "null");
  assert_one(form, put_text, "\xff" "a\n", "\"\\\\xffa\\\\x0a\"");
  assert_one(form, put_real, &(double){NAN}, "null");
  assert_one(form, put_real, &(double){-INFINITY}, "null");
}

/* What is UTF-8 is what jansson takes for it: all of one to three bytes, and lead bytes of four. */
static void test_utf8(void **state)
{
  (void)state;
  for (uint32_t v = 0x000001; v <= 0xffffff; v += v < 0x10000 ? 1 : 97) {
    char s[8] = {(char)(v & 0xff), (char)(v >> 8 & 0xff), (char)(v >> 16), 0};
    json_t *j = json_string(s);
    assert_int_equal(text_is_utf8(s), j != NULL);
    json_decref(j);
  }
  for (uint32_t v = 0; v < 0x10000; v++) {
    char s[8] = {(char)(0xf0 | (v & 15)), (char)(0x80 | (v >> 4 & 0x7f)), (char)(0x80 | (v >> 11 & 31)), (char)0xbf, 0};
    json_t *j = json_string(s);
    assert_int_equal(text_is_utf8(s), j != NULL);
    json_decref(j);
  }
}

/* More than a buffer, into a file. */
static void test_file(void **state)
{
  (void)state;
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  struct text_out t;
  text_out_open(&t, f);
  char *big = calloc(1, 100001);
  memset(big, 'x', 100000);
  for (uint64_t i = 0; i < 20000; i++) {
    text_out_u64(&t, i * i * i);
    text_out_char(&t, ' ');
    if (i % 5000 == 0) text_out_text(&t, big);
  }
  text_out_u64(&t, UINT64_MAX);
  text_out_close(&t);
  fclose(f);
  const char *at = text;
  for (uint64_t i = 0; i < 20000; i++) {
    char *end;
    assert_true(strtoull(at, &end, 10) == i * i * i);
    at = end + 1;
    if (i % 5000 == 0) {
      assert_memory_equal(at, big, 100000);
      at += 100000;
    }
  }
  assert_string_equal(at, "18446744073709551615");
  free(big);
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_compact), cmocka_unit_test(test_indented), cmocka_unit_test(test_script),
      cmocka_unit_test(test_no_value), cmocka_unit_test(test_utf8), cmocka_unit_test(test_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
