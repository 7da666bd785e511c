#include "base/text_out.h"

#include "base/host_memory.h"

enum { FIRST = 1 << 14, DIGITS = TEXT_OUT_DIGITS };

void text_out_open(struct text_out *t, FILE *f)
{
  *t = (struct text_out){.f = f, .data = mem_alloc(FIRST), .room = FIRST};
}

static void flush(struct text_out *t)
{
  fwrite(t->data, 1, t->n, t->f);
  t->n = 0;
}

void text_out_make_room(struct text_out *t, size_t bytes)
{
  if (t->f) flush(t);
  if (t->room - t->n >= bytes) return;
  while (t->room - t->n < bytes) t->room *= 2;
  t->data = mem_resize(t->data, t->room, 1);
}

void text_out_close(struct text_out *t)
{
  if (t->f) flush(t);
  mem_free(t->data);
  *t = (struct text_out){0};
}

#define TENS(ten) #ten "0" #ten "1" #ten "2" #ten "3" #ten "4" #ten "5" #ten "6" #ten "7" #ten "8" #ten "9"
/* "00" to "99". */
static const char two_digits[] = TENS(0) TENS(1) TENS(2) TENS(3) TENS(4) TENS(5) TENS(6) TENS(7) TENS(8) TENS(9);

void text_out_u64(struct text_out *t, uint64_t v)
{
  if (v < 10) {
    text_out_char(t, (char)('0' + v));
    return;
  }
  char digit[2 * DIGITS], *at = digit + DIGITS; /* behind them as many that are copied and not shown */
  memset(at, 0, DIGITS);
  for (; v >= 100; v /= 100) memcpy(at -= 2, two_digits + 2 * (v % 100), 2);
  if (v >= 10)
    memcpy(at -= 2, two_digits + 2 * v, 2);
  else
    *--at = (char)('0' + v);
  memcpy(text_out_room(t, DIGITS), at, DIGITS); /* a size the compiler knows */
  t->n += (size_t)(digit + DIGITS - at);
}
