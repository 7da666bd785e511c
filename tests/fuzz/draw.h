/* Fields from a fuzzer's bytes: a target that builds its file from these reaches what lies behind the syntax. Bytes that
 * are missing read as 0. */
#ifndef WS_FUZZ_DRAW_H
#define WS_FUZZ_DRAW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct draw {
  const uint8_t *data;
  size_t left;
};

/* Text that grows up to its room; what does not fit is left out. */
struct fuzz_text {
  char at[1 << 14];
  size_t n;
};

unsigned field_byte(struct draw *);
/* 0 to n - 1. */
unsigned field_pick(struct draw *, unsigned n);
/* Mostly small, often at the edge of a type or beside a power of two, else any. */
uint64_t field_number(struct draw *);
/* The number as a file would have it: decimal, negative, hexadecimal, now and then no number. */
const char *field_numeral(struct draw *, char text[40]);

void fuzz_add(struct fuzz_text *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A file of these bytes that can be opened by its path until it is closed; ends in `suffix` when that is not "". */
struct fuzz_file {
  char path[64];
  int fd;
};
void fuzz_file_open(struct fuzz_file *, const char *suffix, const void *data, size_t bytes);
void fuzz_file_close(struct fuzz_file *);

#endif
