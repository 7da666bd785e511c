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
CUuuid instance_uuid(const struct boards *x, unsigned instance)
{
  const struct board_instance *i = &x->mig[instance];
  char whole[PARAM_TEXT_MAX + MIG_PROFILE_TEXT + 8];
  snprintf(whole, sizeof whole, "%s MIG %s", x->machine.params[i->node].name, i->is.profile);
  return board_uuid(whole, instance_id(i->number) | i->node << 8);
}

void instance_uuid_text(const struct boards *x, unsigned instance, char text[BOARD_UUID_TEXT])
{
  uuid_text("MIG", instance_uuid(x, instance), text);
}

int board_first_instance(const struct boards *x, unsigned node)
{
  for (unsigned i = 0; i < x->n_mig; i++)
    if (x->mig[i].node == node) return (int)i;
  return -1;
}

/* "MIG-GPU-UUID/GI/CI" of n characters. */
static bool is_older_name(const struct boards *x, unsigned instance, const char *text, size_t n)
{
  const struct board_instance *i = &x->mig[instance];
  char gpu[BOARD_UUID_TEXT], whole[2 * BOARD_UUID_TEXT];
  board_uuid_text(x->machine.params[i->node].name, i->node, gpu);
  snprintf(whole, sizeof whole, "MIG-%s/%u/0", gpu, instance_id(i->number));
  return strlen(whole) == n && strncasecmp(whole, text, n) == 0;
}

/* The instance that the first n characters name, -1: none. */
static int named_instance(const struct boards *x, const char *text, size_t n)
{
  char uuid[BOARD_UUID_TEXT];
  int found = -1;
  for (unsigned i = 0; n > 4 && i < x->n_mig; i++) {
    if (is_older_name(x, i, text, n)) return (int)i;
    instance_uuid_text(x, i, uuid);
    if (n >= BOARD_UUID_TEXT || strncasecmp(uuid, text, n) != 0) continue;
    if (found >= 0) return -1; /* of several */
    found = (int)i;
  }
  return found;
}

static bool is_number(const char *text)
{
  return *text >= '0' && *text <= '9';
}

/* The GPU that the first n characters name, -1: none. */
static int named(const struct machine_preset *m, const char *text, size_t n)
{
  char *end, uuid[BOARD_UUID_TEXT];
  int found = -1;
  if (n && is_number(text)) {
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

/* A whole GPU, or an instance. */
struct seen {
  int node, instance; /* -1: none */
};

/* The UUID of a GPU that is cut names nothing. */
static struct seen seen(const struct boards *x, const char *text, size_t n)
{
  struct seen s = {named(&x->machine, text, n), named_instance(x, text, n)};
  const int first = s.node < 0 ? -1 : board_first_instance(x, (unsigned)s.node);
  if (first < 0) return s;
  return (struct seen){-1, is_number(text) ? first : -1};
}

static unsigned one_instance(const struct boards *x, int i, unsigned *node, int *instance)
{
  *instance = i;
  *node = x->mig[i].node;
  return 1;
}

unsigned visible_boards(const struct boards *x, const char *text, unsigned node[MACHINE_MAX_GPUS], int *instance)
{
  const unsigned most = x->machine.n_gpus;
  unsigned n = 0;
  bool twice = false;
  *instance = -1;
  if (!text && x->n_mig) return one_instance(x, 0, node, instance);
  for (; !text && n < most; n++) node[n] = n;
  while (text && *text && (n < most || x->n_mig)) {
    while (*text == ' ') text++;
    const size_t length = strcspn(text, ",");
    const struct seen s = seen(x, text, length);
    if (s.instance >= 0) return one_instance(x, s.instance, node, instance);
    if (s.node < 0) break;
    for (unsigned k = 0; k < n; k++) twice |= node[k] == (unsigned)s.node;
    if (twice) return 0; /* the same twice: none */
    node[n++] = (unsigned)s.node;
    text += length;
    if (*text == ',') text++;
  }
  return n;
}
