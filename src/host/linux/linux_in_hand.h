/* Private to host/linux: lines of memory that the operating system has in its hands while it serves a call. It reads
 * and writes memory behind the cores' caches: before it touches a line, memory gets what caches have of it; when the
 * call has ended, caches get what it wrote. */
#ifndef WS_HOST_LINUX_LINUX_IN_HAND_H
#define WS_HOST_LINUX_LINUX_IN_HAND_H

#include <stdbool.h>
#include <stdint.h>

struct coh_system;
struct linux_lines;

struct linux_in_hand {
  struct linux_lines *written;
  uint32_t n, room;
};

/* The system is about to read, or write, [addr, addr + bytes), bytes > 0. What it has written in this call already is
 * newer than what caches have. */
void linux_in_hand_take(struct linux_in_hand *, struct coh_system *, uint64_t addr, uint64_t bytes, bool writes);
/* The call has ended. */
void linux_in_hand_let_go(struct linux_in_hand *, struct coh_system *);
void linux_in_hand_free(struct linux_in_hand *);

#endif
