/* Callbacks that the driver keeps and never has reason to call: for its log, which is empty here since errors are told
 * on stderr, and for changes of the device (CUDA Driver API, "Error Log Management Functions",
 * cuDeviceRegisterAsyncNotification). */
#ifndef WS_CUDA_NOTIFY_H
#define WS_CUDA_NOTIFY_H

#include <stddef.h>

#include "cuda/core/api.h"

struct shim;

struct notify; /* one registration; its address is the program's handle */

/* out: NULL when the program has no use for the handle. */
CUresult notify_add(struct shim *, const void *callback, struct notify **out);
CUresult notify_remove(struct shim *, struct notify *);

/* An iterator of the log at its end; all of the log from there on, which is nothing. */
CUresult log_current(unsigned *iterator, unsigned flags);
CUresult log_to_file(unsigned *iterator, const char *path, unsigned flags);
CUresult log_to_memory(unsigned *iterator, char *buffer, size_t *size, unsigned flags);

#endif
