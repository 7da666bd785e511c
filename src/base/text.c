#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 character at s; 0: none. The text ends with a 0. */
static size_t utf8_bytes(const uint8_t *s)
{
  static const struct {
    uint8_t first, last, low, high; /* lead bytes; range of the byte behind */
    uint8_t bytes;
  } forms[] = {
    {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
    {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
  };
  if (*s < 0x80) return 1;
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (*s < forms[i].first || *s > forms[i].last) continue;
    size_t n = forms[i].bytes;
    if (s[1] < forms[i].low || s[1] > forms[i].high) return 0;
    for (size_t k = 2; k < n; k++)
      if (s[k] < 0x80 || s[k] > 0xbf) return 0;
    return n;
  }
  return 0;
}

/* C0, DEL, C1. */
static bool is_control(const uint8_t *s)
{
  return *s < 0x20 || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0);
}

/* Bytes of the character at s; 0: none that may be shown. */
static size_t character(const uint8_t *s)
{
  return is_control(s) ? 0 : utf8_bytes(s);
}

bool text_is_utf8(const char *s)
{
  for (size_t n; *s; s += n)
    if ((n = utf8_bytes((const uint8_t *)s)) == 0) return false;
  return true;
}

char *text_safe(const char *s, char *out, size_t size)
{
  enum { ESCAPED = 4 };
  size_t used = 0;
  while (*s) {
    size_t n = character((const uint8_t *)s), wide = n ? n : ESCAPED;
    if (used + wide + 1 > size) break;
    if (n) memcpy(out + used, s, n);
    else snprintf(out + used, ESCAPED + 1, "\\x%02x", (uint8_t)*s);
    used += wide;
    s += n ? n : 1;
  }
  out[used] = '\0';
  return out;
}

bool text_table_is_safe(const void *table, size_t bytes)
{
  const uint8_t *s = table, *end = s + bytes;
  while (end > s && end[-1] != 0) end--; /* behind the last 0 is no string */
  while (s < end) {
    size_t n = *s ? character(s) : 1;
    if (!n) return false;
    s += n;
  }
  return true;
}

bool text_is_safe(const char *s)
{
  return text_table_is_safe(s, strlen(s) + 1);
}
