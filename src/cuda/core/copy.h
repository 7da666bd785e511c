/* Copies and fills between any two kinds of memory: what they do, and when. Where kernels share the GPU they go on its
 * copy engines (host/live_gpu.h), which move their bytes; else their time is known beforehand, and bytes are moved when
 * it has passed. Given to a stream by enqueue.h. */
#ifndef WS_CUDA_COPY_H
#define WS_CUDA_COPY_H

#include "cuda/core/memory.h"
#include "host/front.h"

struct stream;
struct task;

/* One side. Addresses as the program gave them. */
struct copy_side {
  uint64_t addr;         /* first byte */
  uint64_t pitch, slice; /* bytes from row to row, from plane to plane */
  bool device;           /* access through the guest's memory */
};

struct copy {
  struct copy_side dst, src;
  uint64_t width, height, depth; /* bytes, rows, planes */
};

/* One row. */
struct copy copy_linear(uint64_t dst, uint64_t src, uint64_t bytes);
/* Whether a side is the GPU's: what was said, or that the GPU alone has what lies there. Addresses are unified, so
 * a driver knows where a pointer leads; a kind of copy that says otherwise is undefined (CUDA Runtime API,
 * cudaMemcpy), and programs with one run on GPUs. */
bool copy_side_of_gpu(struct shim *, uint64_t addr, bool said);
/* Sets which sides are device memory from a cudaMemcpyKind; COPY_DEFAULT: from the addresses. False:
 * no such kind. */
bool copy_direct(struct shim *, struct copy *, int kind);

bool copy_is_empty(const struct copy *);
/* Whether the host waits for its end: as the blocking functions of the interface do (not for copies inside the
 * device), and for pageable memory, which the host stages (CUDA Runtime API, "API synchronization behavior"). */
bool copy_host_waits(struct shim *, const struct copy *, bool blocking);
/* CUDA_ERROR_INVALID_VALUE: outside of what is allocated. What a stream (NULL: none) captures may name memory that the
 * graph will allocate. */
CUresult copy_check(struct shim *, const struct copy *, const struct stream *);
uint64_t copy_size(const struct copy *);
/* Whether a side is memory of the host that is not pinned. */
bool copy_is_pageable(struct shim *, const struct copy *);
const char *copy_name(const struct copy *);
/* The engine that it takes, and of which GPU. */
enum command_place copy_place(struct shim *, const struct copy *, unsigned *gpu);
/* Whose memory the sides are, of a copy between two GPUs. False: it is none. */
bool copy_between(struct shim *, const struct copy *, struct board **dst, struct board **src);
/* A copy of the host to the device that it waits for, for a trace that is written: as NVBit's tracer, traces only name
 * those. */
void copy_note_in_trace(struct shim *, const struct copy *);
/* Its time has come; it has ended; on the copy engines. */
enum command_way copy_start(struct task *, uint64_t now, uint64_t *end);
void copy_finish(struct task *);
struct live_end;
void copy_moved(struct task *, const struct live_end *, const struct board *by);

/* Fills rows of device memory with a value of 1, 2 or 4 bytes. */
struct fill {
  struct copy_side to;
  uint32_t value;
  unsigned value_bytes;
  uint64_t width, height; /* bytes, rows */
};

/* The same for fills; a value's place must be a multiple of its size. */
bool fill_is_empty(const struct fill *);
bool fill_is_on_host(struct shim *, const struct fill *); /* the host sees it, too */
CUresult copy_fill_check(struct shim *, const struct fill *, const struct stream *);
enum command_way fill_start(struct task *, uint64_t now, uint64_t *end);
void fill_finish(struct task *);

#endif
