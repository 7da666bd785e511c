#include "cuda/core/visible_boards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cuda/core/board.h"

CUuuid board_uuid(const char *name, unsigned node)
{
  CUuuid u = { "warpstep" };
  uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
  for (const char *c = name; *c; c++) h = (h ^ (uint8_t)*c) * UINT64_C(1099511628211);
  for (; node; node >>= 8) h = (h ^ (uint8_t)node) * UINT64_C(1099511628211);
  memcpy(u.bytes + 8, &h, sizeof h);
  return u;
}

static void uuid_text(const char *kind, CUuuid u, char text[BOARD_UUID_TEXT])
{
  int n = snprintf(text, BOARD_UUID_TEXT, "%s", kind);
  for (unsigned i = 0; i < sizeof u.bytes; i++)
    n += snprintf(text + n, BOARD_UUID_TEXT - (size_t)n, "%s%02x",
                  i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)u.bytes[i]);
}

void board_uuid_text(const char *name, unsigned node, char text[BOARD_UUID_TEXT])
{
  uuid_text("GPU", board_uuid(name, node), text);
}

/* Two instances of one size are two. */
CUuuid instance_uuid(const struct boards *x, const char *name, unsigned instance)
{
  char whole[PARAM_TEXT_MAX + MIG_PROFILE_TEXT + 8];
  snprintf(whole, sizeof whole, "%s MIG %s", name, x->mig[instance].profile);
  return board_uuid(whole, instance_id(instance));
}

void instance_uuid_text(const struct boards *x, const char *name, unsigned instance, char text[BOARD_UUID_TEXT])
{
  uuid_text("MIG", instance_uuid(x, name, instance), text);
}

/* "MIG-GPU-UUID/GI/CI" of n characters. */
static bool is_older_name(const char *name, unsigned instance, const char *text, size_t n)
{
  char gpu[BOARD_UUID_TEXT], whole[2 * BOARD_UUID_TEXT];
  board_uuid_text(name, 0, gpu);
  snprintf(whole, sizeof whole, "MIG-%s/%u/0", gpu, instance_id(instance));
  return strlen(whole) == n && strncasecmp(whole, text, n) == 0;
}

int visible_instance(const struct boards *x, const char *name, const char *text)
{
  char uuid[BOARD_UUID_TEXT];
  int found = -1;
  if (!text) return 0;
  while (*text == ' ') text++;
  const size_t n = strcspn(text, ",");
  if (n == 1 && *text == '0') return 0;
  for (unsigned i = 0; n > 4 && i < x->n_mig; i++) {
    if (is_older_name(name, i, text, n)) return (int)i;
    instance_uuid_text(x, name, i, uuid);
    if (n >= BOARD_UUID_TEXT || strncasecmp(uuid, text, n) != 0) continue;
    if (found >= 0) return -1; /* of several */
    found = (int)i;
  }
  return found;
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
