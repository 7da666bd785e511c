/* Device context: guest memory and the plain numbers that launches are checked against; modules that are
 * placed in its memory.
 */
#ifndef WS_HOST_DEVICE_H
#define WS_HOST_DEVICE_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/gmem.h"
#include "func/func.h"
#include "host/texture.h"
#include "load/module.h"

/* Limits of the simulated GPU; 0 = not limited. Dimensions are limited by the programming guide for
 * all targets alike: block 1024 x 1024 x 64, grid 2^31-1 x 65535 x 65535. */
struct device_limits {
  uint32_t threads_per_cta;
  uint32_t shared_per_cta;     /* bytes, static + dynamic */
  uint32_t regs_per_cta;       /* 32-bit registers of one SM's file(s) */
};

struct device_config {
  unsigned sm;                 /* what the simulated GPU is: 80, 86, 90 */
  unsigned page_bits;          /* see gmem_new */
  bool untimed;                /* launches only run without time (func_run*) */
  unsigned n_workers;          /* SMs (timed run) or host threads (function-only) */
  unsigned slots_per_worker;   /* resident CTAs per worker */
  unsigned warps_per_worker;   /* resident warps per worker; 0: no limit */
  unsigned n_smids;            /* SM ids the program sees; 0 = n_workers */
  unsigned n_warpids;          /* warp slots of an SM the program sees */
  uint64_t heap_bytes;         /* device malloc; 0 = none */
  uint64_t gap_bytes;          /* between allocations, at least: see gmem_set_gap */
  struct gmem *shared;         /* its memory is in this image, which others use, too; NULL: in one of its own */
  uint64_t memory_first, memory_end; /* where they lie: see gmem_set_range; end 0: anywhere */
  struct device_limits limits;
  FILE *const *print;          /* device printf: see func_params */
  const char *presets;         /* folder, for advice in messages; NULL: where presets_dir finds it */
};

struct device {
  struct device_config config;
  struct gmem *mem;
  uint64_t heap_base;          /* 0 = none */
  struct func_heap *heap;      /* NULL: none */
  uint64_t next_grid_id;
  struct func_rooms rooms;     /* of launches that have ended */
  struct tex_objects textures; /* what texture and surface handles name */
};

/* Function-only defaults: one worker with one slot, 64 KiB pages, 8 MiB heap, no limits. */
struct device_config device_config_default(unsigned sm);

/* d is filled; call device_free even after a failure. */
bool device_init(struct device *d, const struct device_config *, struct err *e);
/* Another heap, empty; bytes == 0: none. Blocks of the old one must not be used any more. False: no guest
 * memory for it; the old one stays. */
bool device_set_heap(struct device *d, uint64_t bytes, struct err *e);
/* All code must be unloaded before. */
void device_free(struct device *d);

/* A module and its place in the memory of a device. Zeroed: none. */
struct device_code {
  struct module *module;
  struct module_instance *instance;
};

/* Loads and places the module of a cubin, fat binary or program that runs on this device and has the
 * kernel; kernel == NULL: the only module with kernels (load/file.h). An error when none was compiled for
 * this device. device_unload even after a failure. */
bool device_load(struct device *d, const char *path, const char *kernel, struct device_code *,
                 struct err *e);
/* The same of several objects of nvcc -rdc=true, which are linked; with one path as device_load. */
bool device_link(struct device *d, const char *const *path, unsigned n, const char *kernel,
                 struct device_code *, struct err *e);
/* Places a parsed module and takes it over, in any case. */
bool device_place(struct device *d, struct module *, struct device_code *, struct err *e);
/* The same with its __managed__ variables there (module_instantiate_managed). */
bool device_place_managed(struct device *d, struct module *, uint64_t managed, struct device_code *, struct err *e);
void device_unload(struct device_code *);

#endif
