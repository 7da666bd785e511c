#include "host/perfetto.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

/* Field numbers. */
enum {
  TRACE_PACKET = 1,
  PACKET_TIMESTAMP = 8,
  PACKET_SEQUENCE = 10,
  PACKET_EVENT = 11,
  PACKET_INTERNED = 12,
  PACKET_FLAGS = 13,
  PACKET_TRACK = 60,
  TRACK_UUID = 1,
  TRACK_NAME = 2,
  TRACK_PARENT = 5,
  TRACK_COUNTER = 8,
  TRACK_CHILD_ORDER = 11,
  TRACK_RANK = 12,
  EVENT_ANNOTATION = 4,
  EVENT_TYPE = 9,
  EVENT_NAME_IID = 10,
  EVENT_TRACK = 11,
  EVENT_DOUBLE = 44,
  COUNTER_UNIT_NAME = 6,
  INTERNED_EVENT_NAME = 2,
  INTERNED_ANNOTATION_NAME = 3,
  NAME_IID = 1,
  NAME_TEXT = 2,
  ANNOTATION_NAME_IID = 1,
  ANNOTATION_UINT = 3,
  ANNOTATION_TEXT = 6,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { ORDER_EXPLICIT = 3 };                    /* of children: by their ranks */
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 }; /* of names with numbers: none yet; used */
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, FIRST_SEQUENCE = 1, TRACK_BITS = 32 };

struct bytes {
  uint8_t *data;
  size_t n, room;
};

/* Names and their numbers, from 1. */
struct names {
  struct name {
    char *text;
    uint64_t iid;
  } *slot; /* a hash table, open addressing */
  size_t n, room;
};

struct perfetto {
  struct bytes out;            /* packets */
  struct bytes packet, inner, part; /* being put together */
  struct names events, annotations;
  uint64_t n_tracks, n_slices, lost;
  uint32_t number; /* among files that may come to be one */
  bool begun;
};

/* --- protobuf ----------------------------------------------------------------------------------- */

static void put_byte(struct bytes *b, uint8_t v)
{
  if (b->n == b->room) {
    b->room = b->room ? 2 * b->room : 256;
    b->data = mem_resize(b->data, b->room, 1);
  }
  b->data[b->n++] = v;
}

static void put_varint(struct bytes *b, uint64_t v)
{
  for (; v >= 0x80; v >>= 7) put_byte(b, (uint8_t)(v | 0x80));
  put_byte(b, (uint8_t)v);
}

static void put_number(struct bytes *b, unsigned field, uint64_t v)
{
  put_varint(b, field << 3 | WIRE_VARINT);
  put_varint(b, v);
}

/* IEEE 754, the lowest byte first. */
static void put_double(struct bytes *b, unsigned field, double v)
{
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  put_varint(b, field << 3 | WIRE_FIXED64);
  for (unsigned i = 0; i < 8; i++) put_byte(b, (uint8_t)(bits >> 8 * i));
}

static void put_bytes(struct bytes *b, unsigned field, const void *data, size_t n)
{
  put_varint(b, field << 3 | WIRE_BYTES);
  put_varint(b, n);
  for (size_t i = 0; i < n; i++) put_byte(b, ((const uint8_t *)data)[i]);
}

static void put_text(struct bytes *b, unsigned field, const char *text)
{
  put_bytes(b, field, text, strlen(text));
}

/* A message within; `m` is empty then. */
static void put_message(struct bytes *b, unsigned field, struct bytes *m)
{
  put_bytes(b, field, m->data, m->n);
  m->n = 0;
}

/* --- packets ------------------------------------------------------------------------------------ */

static void end_packet(struct perfetto *p)
{
  put_number(&p->packet, PACKET_SEQUENCE, FIRST_SEQUENCE + (uint64_t)p->number);
  put_number(&p->packet, PACKET_FLAGS, p->begun ? FLAG_NEEDS_STATE : FLAG_CLEARED);
  p->begun = true;
  put_message(&p->out, TRACE_PACKET, &p->packet);
}

static uint64_t hash(const char *s)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  for (; *s; s++) h = (h ^ (uint8_t)*s) * UINT64_C(0x100000001b3);
  return h;
}

static struct name *slot_of(const struct names *t, const char *text)
{
  size_t i = hash(text) & (t->room - 1);
  while (t->slot[i].text && strcmp(t->slot[i].text, text) != 0) i = (i + 1) & (t->room - 1);
  return &t->slot[i];
}

static void grow(struct names *t)
{
  struct names old = *t;
  t->room = old.room ? 2 * old.room : 64;
  t->slot = mem_zeroed(t->room, sizeof *t->slot);
  for (size_t i = 0; i < old.room; i++)
    if (old.slot[i].text) *slot_of(t, old.slot[i].text) = old.slot[i];
  mem_free(old.slot);
}

/* Number of a name; a new one is told by a packet of its own. */
static uint64_t intern(struct perfetto *p, struct names *t, unsigned field, const char *text)
{
  if (2 * (t->n + 1) > t->room) grow(t);
  struct name *s = slot_of(t, text);
  if (s->text) return s->iid;
  size_t n = strlen(text) + 1;
  s->text = mem_alloc(n);
  memcpy(s->text, text, n);
  s->iid = ++t->n;
  put_number(&p->part, NAME_IID, s->iid);
  put_text(&p->part, NAME_TEXT, text);
  put_message(&p->inner, field, &p->part);
  put_message(&p->packet, PACKET_INTERNED, &p->inner);
  end_packet(p);
  return s->iid;
}

static void put_args(struct perfetto *p, const struct perfetto_arg *a, unsigned n, const uint64_t *iid)
{
  for (unsigned i = 0; i < n; i++) {
    put_number(&p->part, ANNOTATION_NAME_IID, iid[i]);
    if (a[i].text)
      put_text(&p->part, ANNOTATION_TEXT, a[i].text);
    else
      put_number(&p->part, ANNOTATION_UINT, a[i].number);
    put_message(&p->inner, EVENT_ANNOTATION, &p->part);
  }
}

static void put_event(struct perfetto *p, uint64_t at)
{
  put_number(&p->packet, PACKET_TIMESTAMP, at);
  put_message(&p->packet, PACKET_EVENT, &p->inner);
  end_packet(p);
}

static bool has_room(struct perfetto *p)
{
  if (p->n_slices < PERFETTO_MAX_SLICES) return ++p->n_slices;
  p->lost++;
  return false;
}

/* --- interface ---------------------------------------------------------------------------------- */

struct perfetto *perfetto_new(void)
{
  return mem_zeroed(1, sizeof(struct perfetto));
}

void perfetto_number(struct perfetto *p, uint32_t number)
{
  p->number = number;
}

static void free_names(struct names *t)
{
  for (size_t i = 0; i < t->room; i++) mem_free(t->slot[i].text);
  mem_free(t->slot);
}

void perfetto_free(struct perfetto *p)
{
  if (!p) return;
  mem_free(p->out.data);
  mem_free(p->packet.data);
  mem_free(p->inner.data);
  mem_free(p->part.data);
  free_names(&p->events);
  free_names(&p->annotations);
  mem_free(p);
}

/* unit: of a track of numbers; NULL: of one of slices. */
static uint64_t new_track(struct perfetto *p, uint64_t parent, const char *name, const char *unit)
{
  uint64_t uuid = ((uint64_t)p->number << TRACK_BITS) + ++p->n_tracks;
  put_number(&p->inner, TRACK_UUID, uuid);
  put_text(&p->inner, TRACK_NAME, name);
  if (parent) put_number(&p->inner, TRACK_PARENT, parent);
  put_number(&p->inner, TRACK_CHILD_ORDER, ORDER_EXPLICIT);
  put_number(&p->inner, TRACK_RANK, p->n_tracks);
  if (unit) put_text(&p->part, COUNTER_UNIT_NAME, unit);
  if (unit) put_message(&p->inner, TRACK_COUNTER, &p->part);
  put_message(&p->packet, PACKET_TRACK, &p->inner);
  end_packet(p);
  return uuid;
}

uint64_t perfetto_track(struct perfetto *p, uint64_t parent, const char *name)
{
  return new_track(p, parent, name, NULL);
}

uint64_t perfetto_counter(struct perfetto *p, uint64_t parent, const char *name, const char *unit)
{
  return new_track(p, parent, name, unit);
}

void perfetto_value(struct perfetto *p, uint64_t track, uint64_t at, double value)
{
  if (!has_room(p)) return;
  put_number(&p->inner, EVENT_TYPE, TYPE_COUNTER);
  put_number(&p->inner, EVENT_TRACK, track);
  put_double(&p->inner, EVENT_DOUBLE, value);
  put_event(p, at);
}

enum { MAX_ARGS = 8 };

void perfetto_slice(struct perfetto *p, uint64_t track, uint64_t begin, uint64_t end, const char *name,
                    const struct perfetto_arg *a, unsigned n_args)
{
  uint64_t iid[MAX_ARGS];
  if (n_args > MAX_ARGS) n_args = MAX_ARGS;
  if (!has_room(p)) return;
  for (unsigned i = 0; i < n_args; i++) iid[i] = intern(p, &p->annotations, INTERNED_ANNOTATION_NAME, a[i].name);
  uint64_t name_iid = intern(p, &p->events, INTERNED_EVENT_NAME, name);
  put_number(&p->inner, EVENT_TYPE, TYPE_BEGIN);
  put_number(&p->inner, EVENT_TRACK, track);
  put_number(&p->inner, EVENT_NAME_IID, name_iid);
  put_args(p, a, n_args, iid);
  put_event(p, begin);
  put_number(&p->inner, EVENT_TYPE, TYPE_END);
  put_number(&p->inner, EVENT_TRACK, track);
  put_event(p, end);
}

void perfetto_instant(struct perfetto *p, uint64_t track, uint64_t at, const char *name)
{
  if (!has_room(p)) return;
  uint64_t name_iid = intern(p, &p->events, INTERNED_EVENT_NAME, name);
  put_number(&p->inner, EVENT_TYPE, TYPE_INSTANT);
  put_number(&p->inner, EVENT_TRACK, track);
  put_number(&p->inner, EVENT_NAME_IID, name_iid);
  put_event(p, at);
}

uint64_t perfetto_lost(const struct perfetto *p)
{
  return p->lost;
}

void perfetto_write(const struct perfetto *p, FILE *f)
{
  fwrite(p->out.data, 1, p->out.n, f); /* the stream keeps whether all of it was taken */
}
