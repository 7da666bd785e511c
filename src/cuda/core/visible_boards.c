#include "cuda/core/visible_boards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

CUuuid board_uuid(const char *name, unsigned node)
{
  CUuuid u = { "warpstep" };
  uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
  for (const char *c = name; *c; c++) h = (h ^ (uint8_t)*c) * UINT64_C(1099511628211);
  for (; node; node >>= 8) h = (h ^ (uint8_t)node) * UINT64_C(1099511628211);
  memcpy(u.bytes + 8, &h, sizeof h);
  return u;
}

void board_uuid_text(const char *name, unsigned node, char text[BOARD_UUID_TEXT])
{
  const CUuuid u = board_uuid(name, node);
  int n = snprintf(text, BOARD_UUID_TEXT, "GPU");
  for (unsigned i = 0; i < sizeof u.bytes; i++)
    n += snprintf(text + n, BOARD_UUID_TEXT - (size_t)n, "%s%02x",
                  i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)u.bytes[i]);
}

/* The GPU that the first n characters name, -1: none. */
static int named(const struct machine_preset *m, const char *text, size_t n)
{
  char *end, uuid[BOARD_UUID_TEXT];
  int found = -1;
  if (n && *text >= '0' && *text <= '9') {
    const unsigned long i = strtoul(text, &end, 10);
    return end == text + n && i < m->n_gpus ? (int)i : -1;
  }
  for (unsigned i = 0; n > 4 && i < m->n_gpus; i++) {
    board_uuid_text(m->params[i].name, i, uuid);
    if (n >= BOARD_UUID_TEXT || strncasecmp(uuid, text, n) != 0) continue;
    if (found >= 0) return -1; /* of several */
    found = (int)i;
  }
  return found;
}

unsigned visible_boards(const struct machine_preset *m, const char *text, unsigned node[MACHINE_MAX_GPUS])
{
  unsigned n = 0;
  for (; !text && n < m->n_gpus; n++) node[n] = n;
  while (text && *text && n < m->n_gpus) {
    while (*text == ' ') text++;
    const size_t length = strcspn(text, ",");
    const int i = named(m, text, length);
    if (i < 0) break;
    for (unsigned k = 0; k < n; k++)
      if (node[k] == (unsigned)i) return 0; /* the same twice: none */
    node[n++] = (unsigned)i;
    text += length;
    if (*text == ',') text++;
  }
  return n;
}
