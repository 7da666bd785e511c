/* This process as a client of the Multi-Process Service (`exec --share mps`, host/mps_link.h): its kernels and copies
 * are in the GPU of the server, beside those of other clients.
 *
 *   addresses  device memory, reserved addresses and host memory that kernels reach lie in a part of their own of each
 *              client, so that one GPU can tell them apart
 *   memory     all clients take theirs from the GPU's; CUDA_MPS_PINNED_DEVICE_MEM_LIMIT is one more limit
 *   a part     of the SMs: CUDA_MPS_ACTIVE_THREAD_PERCENTAGE
 *   fault      of another client: this one's context is gone, too
 */
#ifndef WS_CUDA_MPS_H
#define WS_CUDA_MPS_H

#include "base/core_set.h"
#include "base/err.h"
#include "cuda/core/api.h"
#include "host/mps_part.h"

struct activity;
struct board;
struct context;
struct gmem;
struct shim;
struct mps;

/* When the options say so, before GPUs have memory; else s->mps is NULL. False, with s->failed_as the error that calls
 * report. */
bool mps_start(struct shim *, struct err *);
/* The GPU's image, empty, is one that the server follows from now on; its simulator is the server's. */
bool mps_follow(struct shim *, struct gmem *, struct err *);
void mps_serve(struct shim *, struct board *);
/* Of addresses [first, end), in whole pages, this client's part. */
struct mps_part mps_part_of(const struct shim *, uint64_t first, uint64_t end, uint64_t page);

/* A file that is mapped here, from an offset on: the client has a descriptor of its own. */
void mps_mapped(struct shim *, const void *host, uint64_t bytes, int file, uint64_t offset);
void mps_unmapped(struct shim *, const void *host);
/* … is host memory in the image at this address. */
void mps_show(struct shim *, uint64_t addr, const void *host, uint64_t bytes, const char *name);

/* Bytes of the GPU's memory: whether they are there; so many are left. */
bool mps_take(struct shim *, const struct board *, uint64_t bytes);
void mps_give(struct shim *, uint64_t bytes);
uint64_t mps_left(const struct shim *, const struct board *);

/* Clients that there are, this one among them; the process of the server. */
enum { MPS_MOST_SEEN = 48 };
struct mps_seen {
  unsigned process;
  uint64_t bytes; /* of the GPU's memory */
};
unsigned mps_clients(const struct shim *, struct mps_seen[MPS_MOST_SEEN]);
unsigned mps_server_process(const struct shim *);
/* Of the GPU's memory, what all clients have. */
uint64_t mps_taken(const struct shim *);

/* The context is limited to so many SMs of the client's (CU_EXEC_AFFINITY_TYPE_SM_COUNT). How many SMs a context has,
 * NULL: the client. */
CUresult mps_limit(struct shim *, struct context *, unsigned sms);
unsigned mps_sms(const struct shim *, const struct context *);

/* Its file of `--timeline` is one of several of the GPU. */
void mps_name(const struct shim *, struct activity *);

/* Some kernel has asked the heap that begins there for a block. */
bool mps_heap_asked(const struct shim *, uint64_t heap);

/* A call begins, or time has passed: what others have done meanwhile. */
void mps_look(struct shim *);
/* Some code is gone. */
void mps_forget_code(struct shim *);

#endif
