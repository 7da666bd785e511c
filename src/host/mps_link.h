/* A client of the Multi-Process Service: its launches and copies go on in the GPU of the server (mps_server.h), beside
 * those of other clients. A simulator that has such a link (simulator_serve_by) has no GPU of its own; live_gpu.h is
 * served by what is here.
 *
 *   memory  the image's pages are a file's, which the server maps; it follows allocations. Host memory that kernels
 *           reach is a file's, too, and shown by mps_link_show
 *   code    goes there with its first launch
 *   lost    when the server is gone, all that was given to it has ended as by a fault of another launch
 */
#ifndef WS_HOST_MPS_LINK_H
#define WS_HOST_MPS_LINK_H

#include "host/gpu_server.h"
#include "host/mps_wire.h"

struct mps_link;

/* Connected to a server by this socket, whose other end has the page. Waits until it is let in; NULL with *status: it
 * is not. */
struct mps_link *mps_link_new(int fd, struct mps_page *, const struct mps_join *, struct mps_welcome *);
/* The image, which is empty: before anything else. False: the host has no memory. */
bool mps_link_memory(struct mps_link *, struct gmem *);
/* Host memory of a file is at this address of the image from now on, until it is released there. */
bool mps_link_show(struct mps_link *, uint64_t addr, uint64_t bytes, int file, uint64_t offset, const char *name);
/* What kernels print goes there. */
void mps_link_print(struct mps_link *, FILE *const *);
/* Code that is no longer there: another one may come to its place. */
void mps_link_forget(struct mps_link *);
/* Where the device's heap begins that a kernel has asked for a block; 0: none has. */
uint64_t mps_link_heap(const struct mps_link *);
/* Time that others have let pass while this client did not look, ps; 0: none. */
uint64_t mps_link_passed(const struct mps_link *);
/* Bytes of the GPU's memory, of which it has `all`; false: clients have the rest. */
bool mps_link_take(struct mps_link *, uint64_t bytes, uint64_t all);
void mps_link_give(struct mps_link *, uint64_t bytes);
uint64_t mps_link_taken(const struct mps_link *); /* by all clients */
/* The process of a client, 0: there is no such one; what it has of them. slot: 0 to MPS_CLIENTS - 1. */
unsigned mps_link_client(const struct mps_link *, unsigned slot, uint64_t *bytes);
/* The server is gone. */
bool mps_link_lost(const struct mps_link *);
/* A fault of any client: enum fault_kind, FAULT_NONE: none. */
unsigned mps_link_fault(const struct mps_link *);

/* Its part of host/live_gpu.h, with the link as context. */
extern const struct gpu_server mps_link_server;

#endif
