/* Files of a Linux process: its descriptors, and host memory behind its buffers. */
#ifndef WS_HOST_LINUX_LINUX_FILE_H
#define WS_HOST_LINUX_LINUX_FILE_H

#include <sys/uio.h>

#include "host/linux/linux_process.h"

/* Descriptors 0, 1, 2 as the simulator has them; all others closed. */
void linux_files_init(struct linux_process *);
void linux_files_free(struct linux_process *);

/* The host's descriptor; -1: the guest's is not open. */
int linux_file_host(const struct linux_process *, uint64_t fd);
/* A new descriptor from `least` on for a host's, which it takes over; a negative number is an errno (the host's is
 * closed then). */
int64_t linux_file_new(struct linux_process *, int host, uint64_t least, bool close_on_exec);

/* The same for a duplicate of the guest's descriptor `of`, which is open. */
int64_t linux_file_duplicate(struct linux_process *, uint64_t of, uint64_t least, bool close_on_exec);

enum { LINUX_IOV = 64 };
/* Host memory behind [addr, addr + bytes), as far as it goes into LINUX_IOV pieces and the guest has the right.
 * Returns the number of pieces, 0: not even the first byte; *covered: their bytes. */
int linux_file_buffer(struct linux_process *, uint64_t addr, uint64_t bytes, enum rv64_access, struct iovec *iov,
                      uint64_t *covered);

#endif
