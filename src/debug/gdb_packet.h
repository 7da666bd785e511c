/* Packets of gdb's remote serial protocol (gdb manual, "Overview" of its appendix): "$data#checksum", '}' before a byte
 * stands for that byte XOR 0x20. What comes in is anybody's: packets have a fixed longest length, and whatever is
 * malformed is refused and read over.
 */
#ifndef WS_DEBUG_GDB_PACKET_H
#define WS_DEBUG_GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GDB_PACKET_MOST = 16384 };

enum gdb_event {
  GDB_NOTHING,   /* more bytes are needed, or one meant nothing */
  GDB_PACKET,    /* data[0 .. n), and a 0 behind it */
  GDB_DAMAGED,   /* a packet whose checksum is wrong, or that is too long */
  GDB_INTERRUPT, /* the user pressed Ctrl-C */
  GDB_AGAIN,     /* '-': the last answer did not arrive */
};

struct gdb_reader {
  enum { GDB_BETWEEN, GDB_INSIDE, GDB_ESCAPED, GDB_SUM_1, GDB_SUM_2 } at;
  uint8_t sum, said; /* of the bytes; as the packet says */
  bool too_long, bad_sum;
  size_t n;
  char data[GDB_PACKET_MOST + 1];
};

/* Takes one byte. */
enum gdb_event gdb_read_byte(struct gdb_reader *, uint8_t);

/* The packet of n bytes: writes at most 2 n + 4 bytes to out; returns how many. */
size_t gdb_frame(const void *data, size_t n, char *out);

/* Hexadecimal digits. gdb_from_hex: at most `most` bytes; returns how many, -1: no digits, or an odd number. */
void gdb_to_hex(const void *data, size_t n, char *out); /* 2 n characters and a 0 */
long gdb_from_hex(const char *text, void *out, size_t most);
/* A number in front of *at, which goes on behind it. False: none, or one over 64 bits. */
bool gdb_number(const char **at, uint64_t *n);

#endif
