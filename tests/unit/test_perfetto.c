/* Traces for Perfetto: the file is read back with the field numbers of perfetto's protos/perfetto/trace (trace_packet.proto,
 * track_descriptor.proto, track_event.proto, interned_data.proto), a line for each packet, and held against lines by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/perfetto.h"

/* A message, and the field that was read last. */
struct message {
  const uint8_t *at, *end;
  unsigned field;
  uint64_t number;
  struct bytes {
    const uint8_t *data;
    size_t n;
  } bytes;
};

static uint64_t varint(struct message *m)
{
  uint64_t v = 0;
  for (unsigned shift = 0;; shift += 7) {
    assert_true(m->at < m->end && shift < 64);
    v |= (uint64_t)(*m->at & 0x7f) << shift;
    if (!(*m->at++ & 0x80)) return v;
  }
}

/* The next field; false: the message ends. Numbers, doubles (whose whole part is taken) and bytes are all that there is. */
static bool next(struct message *m)
{
  if (m->at == m->end) return false;
  uint64_t tag = varint(m);
  m->field = (unsigned)(tag >> 3);
  if ((tag & 7) == 1) {
    double v;
    assert_true(m->end - m->at >= 8);
    memcpy(&v, m->at, sizeof v);
    m->number = (uint64_t)v;
    m->at += sizeof v;
    return true;
  }
  m->number = varint(m);
  if ((tag & 7) == 0) return true;
  assert_int_equal(tag & 7, 2);
  assert_true(m->number <= (uint64_t)(m->end - m->at));
  m->bytes = (struct bytes){m->at, m->number};
  m->at += m->number;
  return true;
}

static struct message within(const struct message *m)
{
  return (struct message){.at = m->bytes.data, .end = m->bytes.data + m->bytes.n};
}

static void put(FILE *f, const char *what, const struct message *m, bool text)
{
  if (text)
    fprintf(f, " %s=%.*s", what, (int)m->bytes.n, (const char *)m->bytes.data);
  else
    fprintf(f, " %s=%llu", what, (unsigned long long)m->number);
}

/* Names of fields; text: its bytes are one. `in`: a message within. */
struct meaning {
  unsigned field;
  const char *name;
  bool text;
  const struct meaning *in;
};

static const struct meaning named[] = {{1, "iid", false, NULL}, {2, "name", true, NULL}, {0}};
static const struct meaning interned[] = {{2, "event", false, named}, {3, "annotation", false, named}, {0}};
static const struct meaning annotation[] = {{1, "iid", false, NULL}, {3, "uint", false, NULL}, {6, "text", true, NULL}, {0}};
static const struct meaning event[] = {{4, "arg", false, annotation}, {9, "type", false, NULL}, {10, "name", false, NULL},
                                       {11, "track", false, NULL}, {44, "value", false, NULL}, {0}};
static const struct meaning counter[] = {{6, "unit", true, NULL}, {0}};
static const struct meaning track[] = {{1, "uuid", false, NULL}, {2, "name", true, NULL}, {5, "parent", false, NULL},
                                       {8, "counter", false, counter}, {11, "order", false, NULL}, {12, "rank", false, NULL}, {0}};
static const struct meaning packet[] = {{8, "at", false, NULL}, {10, "sequence", false, NULL}, {11, "event", false, event},
                                        {12, "interned", false, interned}, {13, "flags", false, NULL}, {60, "track", false, track},
                                        {0}};

static void put_message(FILE *f, struct message m, const struct meaning *fields)
{
  while (next(&m)) {
    const struct meaning *k = fields;
    while (k->field && k->field != m.field) k++;
    assert_int_equal(k->field, m.field); /* no field of another meaning */
    if (k->in) {
      fprintf(f, " %s{", k->name);
      put_message(f, within(&m), k->in);
      fputs(" }", f);
    } else {
      put(f, k->name, &m, k->text);
    }
  }
}

/* What the trace says, a packet a line; the caller frees it. */
static char *read_back(const struct perfetto *p)
{
  char *raw, *text;
  size_t n, n_text;
  FILE *f = open_memstream(&raw, &n);
  perfetto_write(p, f);
  fclose(f);
  f = open_memstream(&text, &n_text);
  struct message all = {.at = (uint8_t *)raw, .end = (uint8_t *)raw + n};
  while (next(&all)) {
    assert_int_equal(all.field, 1);
    put_message(f, within(&all), packet);
    fputc('\n', f);
  }
  fclose(f);
  free(raw);
  return text;
}

static void a_trace(void **state)
{
  static const char want[] =
      " track{ uuid=1 name=streams order=3 rank=1 } sequence=1 flags=1\n"
      " track{ uuid=2 name=stream 7 parent=1 order=3 rank=2 } sequence=1 flags=2\n"
      " interned{ annotation{ iid=1 name=bytes } } sequence=1 flags=2\n"
      " interned{ annotation{ iid=2 name=how } } sequence=1 flags=2\n"
      " interned{ event{ iid=1 name=copy } } sequence=1 flags=2\n"
      " at=300 event{ type=1 track=2 name=1 arg{ iid=1 uint=4294967296 } arg{ iid=2 text=host to device } } sequence=1 flags=2\n"
      " at=100000 event{ type=2 track=2 } sequence=1 flags=2\n"
      " interned{ event{ iid=2 name=event } } sequence=1 flags=2\n"
      " at=127 event{ type=3 track=2 name=2 } sequence=1 flags=2\n"
      " at=128 event{ type=1 track=1 name=1 arg{ iid=2 text= } } sequence=1 flags=2\n"
      " at=128 event{ type=2 track=1 } sequence=1 flags=2\n";
  const struct perfetto_arg args[2] = {{"bytes", UINT64_C(1) << 32, NULL}, {"how", 0, "host to device"}}, none = {"how", 1, ""};
  (void)state;
  struct perfetto *p = perfetto_new();
  uint64_t group = perfetto_track(p, 0, "streams"), row = perfetto_track(p, group, "stream 7");
  perfetto_slice(p, row, 300, 100000, "copy", args, 2);
  perfetto_instant(p, row, 127, "event");
  perfetto_slice(p, group, 128, 128, "copy", &none, 1);
  char *have = read_back(p);
  assert_string_equal(have, want);
  assert_int_equal(perfetto_lost(p), 0);
  free(have);
  perfetto_free(p);
  perfetto_free(NULL);
}

static void counters(void **state)
{
  static const char want[] =
      " track{ uuid=1 name=links order=3 rank=1 } sequence=1 flags=1\n"
      " track{ uuid=2 name=gpu0 > gpu1 parent=1 order=3 rank=2 counter{ unit=MB/s } } sequence=1 flags=2\n"
      " at=7 event{ type=4 track=2 value=25000 } sequence=1 flags=2\n"
      " at=1000 event{ type=4 track=2 value=0 } sequence=1 flags=2\n";
  (void)state;
  struct perfetto *p = perfetto_new();
  const uint64_t group = perfetto_track(p, 0, "links"), rate = perfetto_counter(p, group, "gpu0 > gpu1", "MB/s");
  perfetto_value(p, rate, 7, 25000.5);
  perfetto_value(p, rate, 1000, 0);
  char *have = read_back(p);
  assert_string_equal(have, want);
  free(have);
  perfetto_free(p);
}

/* Each name has one number, however many there are. */
static void many_names(void **state)
{
  enum { NAMES = 1000 };
  char name[32], line[128];
  (void)state;
  struct perfetto *p = perfetto_new();
  for (unsigned k = 0; k < 2; k++)
    for (unsigned i = 0; i < NAMES; i++) {
      snprintf(name, sizeof name, "name %u", i);
      perfetto_instant(p, 1, i, name);
    }
  char *have = read_back(p), *at = have;
  for (unsigned i = 0; i < NAMES; i++) {
    snprintf(line, sizeof line,
             " interned{ event{ iid=%u name=name %u } } sequence=1 flags=%u\n at=%u event{ type=3 track=1 name=%u } sequence=1 flags=2\n",
             i + 1, i, i ? 2 : 1, i, i + 1);
    assert_memory_equal(at, line, strlen(line));
    at += strlen(line);
  }
  for (unsigned i = 0; i < NAMES; i++) {
    snprintf(line, sizeof line, " at=%u event{ type=3 track=1 name=%u } sequence=1 flags=2\n", i, i + 1);
    assert_memory_equal(at, line, strlen(line));
    at += strlen(line);
  }
  assert_true(*at == '\0');
  free(have);
  perfetto_free(p);
}

/* One of several files that may come to be one: its sequence and its tracks are its own. */
static void numbered(void **state)
{
  static const char want[] =
      " track{ uuid=12884901889 name=SMs order=3 rank=1 } sequence=4 flags=1\n"
      " track{ uuid=12884901890 name=SM 0 parent=12884901889 order=3 rank=2 } sequence=4 flags=2\n";
  (void)state;
  struct perfetto *p = perfetto_new();
  perfetto_number(p, 3);
  perfetto_track(p, perfetto_track(p, 0, "SMs"), "SM 0");
  char *have = read_back(p);
  assert_string_equal(have, want);
  free(have);
  perfetto_free(p);
}

/* More values than a slice may have are left out; what is too many is counted. */
static void limits(void **state)
{
  enum { ARGS = 9, MOST = 8 };
  struct perfetto_arg args[ARGS];
  char name[ARGS][8];
  (void)state;
  struct perfetto *p = perfetto_new();
  for (unsigned i = 0; i < ARGS; i++) {
    snprintf(name[i], sizeof name[i], "a%u", i);
    args[i] = (struct perfetto_arg){name[i], i, NULL};
  }
  perfetto_slice(p, 1, 0, 1, "s", args, ARGS);
  char *have = read_back(p);
  assert_non_null(strstr(have, "name=a7"));
  assert_non_null(strstr(have, "arg{ iid=8 uint=7 } }"));
  assert_null(strstr(have, "name=a8"));
  free(have);
  for (unsigned i = 1; i < PERFETTO_MAX_SLICES; i++) perfetto_instant(p, 1, 0, "i");
  assert_int_equal(perfetto_lost(p), 0);
  perfetto_instant(p, 1, 0, "i");
  perfetto_slice(p, 1, 0, 1, "s", NULL, 0);
  assert_int_equal(perfetto_lost(p), 2);
  perfetto_free(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_trace), cmocka_unit_test(counters), cmocka_unit_test(many_names),
                                     cmocka_unit_test(numbered), cmocka_unit_test(limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
