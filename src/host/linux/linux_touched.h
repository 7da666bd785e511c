/* Which pages of a process have been touched: what the operating system has brought so far, where the image has pages
 * from their mapping on (linux_vm.eager), since GPUs look at it, too. */
#ifndef WS_HOST_LINUX_LINUX_TOUCHED_H
#define WS_HOST_LINUX_LINUX_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

struct linux_touched {
  uint64_t *bit; /* of each page below LINUX_TASK_SIZE */
};

void linux_touched_init(struct linux_touched *);
void linux_touched_free(struct linux_touched *);
/* The page of an address below LINUX_TASK_SIZE. Whether it had been touched; it has been now. */
bool linux_touched_add(struct linux_touched *, uint64_t addr);
/* All pages of a range, of which only what lies below LINUX_TASK_SIZE counts: touched, or no more. */
void linux_touched_set(struct linux_touched *, uint64_t addr, uint64_t bytes, bool touched);

#endif
