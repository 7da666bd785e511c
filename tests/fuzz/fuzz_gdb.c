/* What gdb and users may write: bytes of a connection, hexadecimal text, expressions. */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "debug/expression.h"
#include "debug/gdb_packet.h"
#include "fuzz.h"

/* Whatever was understood goes through a frame and comes back as it was. */
static void there_and_back(const struct gdb_reader *r)
{
  struct gdb_reader *again = calloc(1, sizeof *again);
  char *frame = malloc(2 * r->n + 4);
  BUG_ON(!again || !frame);
  const size_t n = gdb_frame(r->data, r->n, frame);
  enum gdb_event last = GDB_NOTHING;
  for (size_t i = 0; i < n; i++) last = gdb_read_byte(again, (uint8_t)frame[i]);
  BUG_ON(last != GDB_PACKET || again->n != r->n || memcmp(again->data, r->data, r->n) != 0);
  free(frame);
  free(again);
}

static void read_text(const char *text)
{
  uint8_t bytes[64];
  const char *at = text;
  uint64_t number;
  struct debug_value v;
  struct err e;
  gdb_from_hex(text, bytes, sizeof bytes);
  gdb_number(&at, &number);
  expression_evaluate(text, NULL, NULL, &v, &e);
}

void fuzz_gdb(const uint8_t *data, size_t size)
{
  struct gdb_reader *r = calloc(1, sizeof *r);
  char *text = malloc(size + 1);
  BUG_ON(!r || !text);
  for (size_t i = 0; i < size; i++)
    if (gdb_read_byte(r, data[i]) == GDB_PACKET) there_and_back(r);
  memcpy(text, data, size);
  text[size] = '\0';
  read_text(text);
  free(text);
  free(r);
}
