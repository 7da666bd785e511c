#include "base/gmem_view.h"

#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"

enum { LINE_SHIFT = 7 };

void gmem_log_init(struct gmem_log *log)
{
  *log = (struct gmem_log){0};
}

void gmem_log_free(struct gmem_log *log)
{
  mem_free(log->entry);
  mem_free(log->bytes);
  *log = (struct gmem_log){0};
}

void gmem_log_clear(struct gmem_log *log)
{
  log->n = log->used = 0;
  memset(log->filter, 0, sizeof log->filter);
}

/* Filter bit of a 128-byte line: a multiplicative hash to 10 bits. */
static unsigned line_bit(uint64_t line)
{
  return (unsigned)((line * 0x9e3779b97f4a7c15ull) >> 54);
}

static bool filter_hit(const struct gmem_log *log, uint64_t addr, size_t len)
{
  if (!len) return false;
  for (uint64_t l = addr >> LINE_SHIFT; l <= (addr + len - 1) >> LINE_SHIFT; l++) {
    unsigned b = line_bit(l);
    if (log->filter[b / 64] >> (b % 64) & 1) return true;
  }
  return false;
}

bool gmem_view_pending(const struct gmem_view *v, uint64_t addr, size_t len)
{
  return v->log && v->log->n && filter_hit(v->log, addr, len);
}

/* Bytes of the window; NULL: not all lie in it. */
static uint8_t *in_window(const struct gmem_view *v, uint64_t addr, size_t len)
{
  uint64_t at = addr - v->window->addr;
  return at <= sizeof v->window->bytes && len <= sizeof v->window->bytes - at ? v->window->bytes + at : NULL;
}

static bool read_window(const struct gmem_view *v, uint64_t addr, void *buf, size_t len)
{
  const uint8_t *from = in_window(v, addr, len);
  if (from) memcpy(buf, from, len);
  return from;
}

static bool write_window(const struct gmem_view *v, uint64_t addr, const void *buf, size_t len)
{
  uint8_t *to = in_window(v, addr, len);
  if (to) memcpy(to, buf, len);
  return to;
}

bool gmem_view_read(const struct gmem_view *v, uint64_t addr, void *buf, size_t len)
{
  if (v->window) return read_window(v, addr, buf, len);
  if (!gmem_read(v->image, addr, buf, len)) return false;
  if (!gmem_view_pending(v, addr, len)) return true;
  const struct gmem_log *log = v->log;
  for (uint32_t i = 0; i < log->n; i++) {
    const struct gmem_log_entry *e = &log->entry[i];
    uint64_t from = e->addr > addr ? e->addr : addr;
    uint64_t to = e->addr + e->len < addr + len ? e->addr + e->len : addr + len;
    if (from >= to) continue;
    memcpy((uint8_t *)buf + (from - addr), log->bytes + e->data + (from - e->addr), to - from);
  }
  return true;
}

static void log_reserve(struct gmem_log *log, uint32_t len)
{
  if (log->n == log->cap) {
    log->cap = log->cap ? 2 * log->cap : 256;
    log->entry = mem_resize(log->entry, log->cap, sizeof *log->entry);
  }
  if (len > log->bytes_cap - log->used) {
    BUG_ON(log->used > UINT32_MAX / 4 || len > UINT32_MAX / 4);
    log->bytes_cap = 2 * (log->used + len) + 4096;
    log->bytes = mem_resize(log->bytes, log->bytes_cap, 1);
  }
}

bool gmem_view_write(struct gmem_view *v, uint64_t addr, const void *buf, size_t len)
{
  struct gmem_log *log = v->log;
  if (v->window) return write_window(v, addr, buf, len);
  if (!log) return gmem_write(v->image, addr, buf, len);
  if (!gmem_mapped(v->image, addr, len)) return false;
  if (!len) return true;
  log_reserve(log, (uint32_t)len);
  log->entry[log->n++] = (struct gmem_log_entry){
      .when = v->now, .addr = addr, .len = (uint32_t)len, .data = log->used};
  memcpy(log->bytes + log->used, buf, len);
  log->used += (uint32_t)len;
  for (uint64_t l = addr >> LINE_SHIFT; l <= (addr + len - 1) >> LINE_SHIFT; l++) {
    unsigned b = line_bit(l);
    log->filter[b / 64] |= (uint64_t)1 << (b % 64);
  }
  return true;
}

void gmem_log_apply(const struct gmem_log *log, uint32_t i, struct gmem *image)
{
  BUG_ON(i >= log->n);
  const struct gmem_log_entry *e = &log->entry[i];
  bool ok = gmem_write(image, e->addr, log->bytes + e->data, e->len);
  BUG_ON(!ok); /* checked when it was logged; nothing is unmapped while a kernel runs */
}
