/* Snapshot: one launch with all that it needs to happen again: machine code, arguments, the device's memory
 * before, and what memory held after. `warpstep capture` writes snapshots, `warpstep run` replays them.
 *
 *   take     before the launch: allocations, their contents, heap, textures
 *   finish   after it: what changed, what the device printed
 *   restore  builds the same memory, at the same addresses, in another device
 *   compare  memory as it is against memory as it was after the captured launch
 *
 * Memory is kept as runs of bytes that differ from zero (before) or from before (after), so untouched
 * memory costs nothing.
 *
 * Not kept: contents of caches (a replay starts cold), the clocks (a kernel that reads them gives other
 * values), memory outside of allocations.
 */
#ifndef WS_HOST_SNAPSHOT_H
#define WS_HOST_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "host/device.h"
#include "host/launch.h"
#include "host/simulate.h"

struct snapshot_bytes {
  const uint8_t *data;
  size_t bytes;
};

enum snapshot_part {
  SNAPSHOT_PARAMS, /* the parameter block */
  SNAPSHOT_BEFORE, /* runs: u64 address, u64 bytes, the bytes; ascending addresses */
  SNAPSHOT_AFTER,  /* runs */
  SNAPSHOT_PRINT,  /* device printf */
  SNAPSHOT__N,
};

struct snapshot {
  struct arena arena;      /* owns names and lists */
  const char *gpu;         /* preset it was captured on */
  const char *kernel;      /* symbol */
  uint32_t grid[3], block[3], cluster[3], shared, stack; /* shared: dynamic, bytes; stack: bytes per thread */
  uint64_t number;         /* of the launch in its program, from 1 */
  unsigned n_code;         /* several: objects that are linked */
  struct snapshot_bytes *code;
  struct snapshot_bytes part[SNAPSHOT__N];
  uint64_t module_memory;  /* where the module's variables lie, 0: it has none */
  uint64_t module_managed; /* … its __managed__ variables, 0: among the others */
  uint64_t next_address;   /* where the next allocation would have been */
  bool some_sms;           /* it may run on these alone */
  struct core_set sms;
  size_t n_ranges, n_heap;
  struct gmem_range *range;          /* ascending, without overlaps */
  struct func_heap_block *heap;      /* device heap; n_heap == 0: none */
  uint32_t n_textures;
  struct tex_object *texture;        /* by handle */
  uint8_t fault;           /* enum fault_kind; FAULT_NONE: it ended, and AFTER and PRINT count */
  uint64_t warp_insts;
  bool timed;
  uint64_t cycles;         /* timed */
};

/* What a launch of this device is about to find. The code is copied. Free with snapshot_free. */
struct snapshot *snapshot_take(const struct device *, const struct launch_desc *, const char *gpu,
                               const struct snapshot_bytes *code, unsigned n_code);
/* What it left behind. */
void snapshot_finish(struct snapshot *, const struct device *, const struct sim_result *,
                     const char *print, size_t print_bytes);
void snapshot_free(struct snapshot *);

/* Places code and memory in a device that was made without a heap and has no memory yet; device_unload(code)
 * even after a failure. The snapshot must outlive the device. Errors: the GPU cannot run the code; a
 * snapshot that contradicts itself. */
bool snapshot_restore(const struct snapshot *, struct device *, struct device_code *, struct err *e);

/* One allocation against what it should hold after the launch. */
struct snapshot_result {
  const char *name;
  uint64_t addr;           /* of the allocation */
  uint64_t changed;        /* 32-bit words that the captured launch changed */
  uint64_t wrong;          /* words that are not as they should be */
  uint64_t first_wrong;    /* offset in bytes, a multiple of 4 */
  uint32_t got, want;      /* there */
};

/* Compares allocation i. */
void snapshot_compare(const struct snapshot *, const struct device *, size_t i,
                      struct snapshot_result *);

/* Files. *taken: the file was there already, and stays. */
bool snapshot_write(const struct snapshot *, const char *path, bool *taken, struct err *e);
/* A damaged file is an error that says so: nothing of it is used. */
struct snapshot *snapshot_read(const char *path, struct err *e);
/* The same of a file's bytes; the name is for messages. */
struct snapshot *snapshot_read_memory(const uint8_t *data, size_t bytes, const char *name, struct err *e);
/* Whether the file starts as a snapshot does. */
bool snapshot_is_file(const char *path);

#endif
