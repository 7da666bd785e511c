#include "debug/gdb_packet.h"

#include <string.h>

static int digit(uint8_t c)
{
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void begin(struct gdb_reader *r)
{
  r->at = GDB_INSIDE;
  r->n = 0;
  r->sum = r->said = 0;
  r->too_long = r->bad_sum = false;
}

static enum gdb_event between(struct gdb_reader *r, uint8_t c)
{
  if (c == '$') begin(r);
  return c == 3 ? GDB_INTERRUPT : c == '-' ? GDB_AGAIN : GDB_NOTHING;
}

static void put(struct gdb_reader *r, uint8_t c)
{
  if (r->n < GDB_PACKET_MOST)
    r->data[r->n++] = (char)c;
  else
    r->too_long = true;
}

static enum gdb_event inside(struct gdb_reader *r, uint8_t c)
{
  if (c == '#') {
    r->at = GDB_SUM_1;
    return GDB_NOTHING;
  }
  if (c == '$') { /* the one before was cut off */
    begin(r);
    return GDB_DAMAGED;
  }
  r->sum = (uint8_t)(r->sum + c);
  if (c == '}')
    r->at = GDB_ESCAPED;
  else
    put(r, c);
  return GDB_NOTHING;
}

static enum gdb_event end_packet(struct gdb_reader *r)
{
  r->at = GDB_BETWEEN;
  r->data[r->n] = '\0';
  return r->too_long || r->bad_sum || r->sum != r->said ? GDB_DAMAGED : GDB_PACKET;
}

enum gdb_event gdb_read_byte(struct gdb_reader *r, uint8_t c)
{
  switch (r->at) {
  case GDB_BETWEEN: return between(r, c);
  case GDB_INSIDE: return inside(r, c);
  case GDB_ESCAPED:
    r->sum = (uint8_t)(r->sum + c);
    put(r, c ^ 0x20);
    r->at = GDB_INSIDE;
    return GDB_NOTHING;
  default:
    r->bad_sum |= digit(c) < 0;
    r->said = (uint8_t)(r->said << 4 | (digit(c) & 15));
    if (r->at == GDB_SUM_2) return end_packet(r);
    r->at = GDB_SUM_2;
    return GDB_NOTHING;
  }
}

size_t gdb_frame(const void *data, size_t n, char *out)
{
  static const char hex[] = "0123456789abcdef";
  const uint8_t *in = data;
  uint8_t sum = 0;
  size_t k = 0;
  out[k++] = '$';
  for (size_t i = 0; i < n; i++) {
    const bool special = in[i] == '$' || in[i] == '#' || in[i] == '}' || in[i] == '*';
    if (special) out[k++] = '}', sum = (uint8_t)(sum + '}');
    const uint8_t c = special ? in[i] ^ 0x20 : in[i];
    out[k++] = (char)c;
    sum = (uint8_t)(sum + c);
  }
  out[k++] = '#';
  out[k++] = hex[sum >> 4];
  out[k++] = hex[sum & 15];
  return k;
}

void gdb_to_hex(const void *data, size_t n, char *out)
{
  static const char hex[] = "0123456789abcdef";
  const uint8_t *in = data;
  for (size_t i = 0; i < n; i++) {
    *out++ = hex[in[i] >> 4];
    *out++ = hex[in[i] & 15];
  }
  *out = '\0';
}

long gdb_from_hex(const char *text, void *out, size_t most)
{
  uint8_t *to = out;
  size_t n = 0;
  for (; text[0] && n < most; text += 2) {
    const int high = digit((uint8_t)text[0]), low = high < 0 ? -1 : digit((uint8_t)text[1]);
    if (low < 0) return -1;
    to[n++] = (uint8_t)(high << 4 | low);
  }
  return text[0] ? -1 : (long)n;
}

bool gdb_number(const char **at, uint64_t *n)
{
  unsigned digits = 0;
  for (*n = 0; digit((uint8_t) * *at) >= 0; (*at)++, digits++) *n = *n << 4 | (unsigned)digit((uint8_t) * *at);
  return digits > 0 && digits <= 16;
}
