/* Records: collected, handed over in the program's buffers, read from them. */
#include <stdlib.h>
#include <string.h>

#include "cuda/cupti/cupti_state.h"

struct cupti_name {
  struct cupti_name *next;
  char text[];
};

size_t cupti_record_bytes(int kind)
{
  switch (kind) {
  case KIND_MEMCPY: return sizeof(struct cupti_copy_record);
  case KIND_MEMSET: return sizeof(struct cupti_fill_record);
  case KIND_KERNEL:
  case KIND_CONCURRENT_KERNEL: return sizeof(struct cupti_kernel_record);
  case KIND_DRIVER:
  case KIND_RUNTIME: return sizeof(struct cupti_api_record);
  case KIND_SYNCHRONIZATION: return sizeof(struct cupti_sync_record);
  case KIND_EXTERNAL: return sizeof(struct cupti_external_record);
  default: return 0;
  }
}

void cupti_keep(struct cupti *c, const void *record, size_t bytes)
{
  pthread_mutex_lock(&c->lock);
  if (c->bytes + bytes > c->room) {
    const size_t room = c->room ? 2 * c->room : 1 << 16;
    uint8_t *more = realloc(c->record, room);
    if (more) c->record = more, c->room = room;
  }
  if (c->bytes + bytes <= c->room) {
    memcpy(c->record + c->bytes, record, bytes);
    c->bytes += bytes;
  } else {
    c->dropped++;
  }
  pthread_mutex_unlock(&c->lock);
}

const char *cupti_keep_name(struct cupti *c, const char *text)
{
  pthread_mutex_lock(&c->lock);
  struct cupti_name *n = c->names;
  while (n && strcmp(n->text, text) != 0) n = n->next;
  if (!n) {
    n = shim_alloc(sizeof *n + strlen(text) + 1);
    strcpy(n->text, text);
    n->next = c->names;
    c->names = n;
  }
  pthread_mutex_unlock(&c->lock);
  return n->text;
}

/* As many whole records as fit into the program's buffer, from `from` on. */
static size_t fill(uint8_t *to, size_t room, size_t most, const uint8_t *from, size_t bytes)
{
  size_t at = 0;
  for (size_t n = 0; at < bytes && (most == 0 || n < most); n++) {
    int32_t kind;
    memcpy(&kind, from + at, sizeof kind);
    const size_t size = cupti_record_bytes(kind);
    if (at + size > room) break;
    at += size;
  }
  if (at) memcpy(to, from, at);
  return at;
}

static struct cupti_buffer ask(cupti_buffer_wanted wanted)
{
  struct cupti_buffer b = {0};
  wanted(&b.at, &b.bytes, &b.most);
  return b;
}

void cupti_ask_ahead(struct cupti *c)
{
  pthread_mutex_lock(&c->lock);
  const cupti_buffer_wanted wanted = c->asked ? NULL : c->buffer_wanted;
  if (wanted) c->asked = true;
  pthread_mutex_unlock(&c->lock);
  if (!wanted) return;
  const struct cupti_buffer b = ask(wanted);
  pthread_mutex_lock(&c->lock);
  c->first = b;
  pthread_mutex_unlock(&c->lock);
}

/* What is to be handed over, taken. */
struct load {
  uint8_t *record;
  size_t bytes;
  struct cupti_buffer first;
  cupti_buffer_wanted wanted;
  cupti_buffer_full full;
};

static struct load take(struct cupti *c)
{
  pthread_mutex_lock(&c->lock);
  const struct load l = {c->record, c->bytes, c->first, c->buffer_wanted, c->buffer_full};
  c->record = NULL;
  c->bytes = c->room = 0;
  if (c->first.at) c->asked = false;
  c->first = (struct cupti_buffer){0};
  pthread_mutex_unlock(&c->lock);
  return l;
}

/* Those of a program that has no buffer for them, or too small ones, are lost, as the reference has it. */
void cupti_hand_over(struct cupti *c)
{
  const struct load l = take(c);
  struct cupti_buffer b = l.first;
  size_t at = 0, lost = 0;
  while (l.wanted && l.full && (b.at || at < l.bytes)) {
    if (!b.at) b = ask(l.wanted);
    if (!b.at) break;
    const size_t used = fill(b.at, b.bytes, b.most, l.record + at, l.bytes - at);
    at += used;
    l.full(NULL, 0, b.at, b.bytes, used);
    if (!used) break;
    b.at = NULL;
  }
  for (int32_t kind; at < l.bytes; at += cupti_record_bytes(kind), lost++) memcpy(&kind, l.record + at, sizeof kind);
  free(l.record);
  if (!lost) return;
  pthread_mutex_lock(&c->lock);
  c->dropped += lost;
  pthread_mutex_unlock(&c->lock);
}
