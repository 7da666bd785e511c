/* One worker's view of guest memory (base/gmem.h): reads come from the image overlaid with the view's own pending
 * writes; writes go to the view's log when it has one (a timed run, where other SMs must not see them before the window
 * ends), else straight to the image.
 */
#ifndef WS_BASE_GMEM_VIEW_H
#define WS_BASE_GMEM_VIEW_H

#include "base/gmem.h"

/* Pending writes of one worker, in program order. */
struct gmem_log_entry {
  uint64_t when; /* stamp given by the caller: cycle of the write */
  uint64_t addr;
  uint32_t len;  /* bytes */
  uint32_t data; /* offset in bytes[] */
};

struct gmem_log {
  struct gmem_log_entry *entry;
  uint8_t *bytes;
  uint32_t n, cap; /* entries */
  uint32_t used, bytes_cap;
  uint64_t filter[16]; /* bloom filter over 128-byte lines: no bit, no pending write there */
};

void gmem_log_init(struct gmem_log *);
void gmem_log_free(struct gmem_log *);
void gmem_log_clear(struct gmem_log *);

/* A line of 128 bytes that stands for the image's: of memory that is elsewhere. */
struct gmem_window {
  uint64_t addr; /* multiple of 128 */
  uint8_t bytes[128];
};

struct gmem_view {
  struct gmem *image;
  struct gmem_log *log; /* NULL: write through to the image */
  uint64_t now;         /* stamp for new log entries */
  bool concurrent;      /* other threads, or processes, update words of the image at the same time */
  struct gmem_window *window; /* NULL: none. Else all accesses lie in it, and none touches image or log */
};

/* As gmem_read and gmem_write, through the view. */
bool gmem_view_read(const struct gmem_view *, uint64_t addr, void *buf, size_t len);
bool gmem_view_write(struct gmem_view *, uint64_t addr, const void *buf, size_t len);

/* False: no pending write of the view touches [addr, addr+len), the image can be read directly. True
 * may be wrong (a filter decides). len > 0. */
bool gmem_view_pending(const struct gmem_view *, uint64_t addr, size_t len);

/* Applies entry i of the log to the image. */
void gmem_log_apply(const struct gmem_log *, uint32_t i, struct gmem *image);

#endif
