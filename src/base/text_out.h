/* Text on its way into a file or into memory, piece by piece. Reports of a hundred thousand small pieces are written by
 * it, where printf would cost more than the launch that they are about.
 *
 *   struct text_out t;
 *   text_out_open(&t, f);              f NULL: into memory, t.data[0 … t.n-1]
 *   text_out_text(&t, "R"); text_out_u64(&t, 12);
 *   text_out_close(&t);                what is left goes to f; memory is freed
 *
 * What a file does not take is known to the file (ferror), whose owner asks (base/output.h).
 */
#ifndef WS_BASE_TEXT_OUT_H
#define WS_BASE_TEXT_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct text_out {
  FILE *f;
  char *data;
  size_t n, room;
};

void text_out_open(struct text_out *, FILE *);
void text_out_close(struct text_out *);

/* Makes room for so many bytes more behind data + n; the caller writes them and adds to n. */
void text_out_make_room(struct text_out *, size_t bytes);

static inline char *text_out_room(struct text_out *t, size_t bytes)
{
  if (t->room - t->n < bytes) text_out_make_room(t, bytes);
  return t->data + t->n;
}

static inline void text_out_bytes(struct text_out *t, const void *bytes, size_t n)
{
  memcpy(text_out_room(t, n), bytes, n);
  t->n += n;
}

static inline void text_out_char(struct text_out *t, char c)
{
  *text_out_room(t, 1) = c;
  t->n++;
}

static inline void text_out_text(struct text_out *t, const char *s)
{
  text_out_bytes(t, s, strlen(s));
}

enum { TEXT_OUT_DIGITS = 20 /* of UINT64_MAX */ };

/* In decimal digits. Asks for room for TEXT_OUT_DIGITS, however few they are. */
void text_out_u64(struct text_out *, uint64_t);

#endif
