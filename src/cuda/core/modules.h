/* Modules of the program: code placed in a device's memory, its kernels and variables. Images may be
 * cubins, fat binaries (also behind the wrapper that nvcc puts into programs) and, with an installed
 * ptxas, PTX.
 *
 * A module is on one GPU, with variables of its own. What programs see as one thing on all of them (the code of a
 * program, libraries) has a module on each, made when it is first needed there: module_on, function_on.
 */
#ifndef WS_CUDA_MODULES_H
#define WS_CUDA_MODULES_H

#include "cuda/core/board.h"
#include "cuda/core/image_size.h"
#include "cuda/core/jit.h"
#include "host/device.h"

struct shim;
struct shim_part;

struct function {
  struct function *next;
  struct loaded_module *module; /* NULL: it went away, and this waits for module_give_function */
  const struct module_kernel *kernel;
  uint32_t max_dynamic_shared; /* bytes; above 48 KiB only after the program asked for it */
  int carveout, cache;
  bool non_portable_cluster; /* clusters of more than 8 CTAs are allowed */
  struct kept_launch *kept;  /* what the next cuLaunchGrid takes (driver_launch_grid.c); NULL: nothing was set */
};

/* One of the files that a link makes into one module. */
struct link_file {
  uint8_t *elf;
  size_t bytes;
};

/* __managed__ variables: one for all GPUs, at the host's address. Instances of a module share them. */
struct managed_variables {
  uint64_t addr;
  unsigned users;
};

struct loaded_module {
  struct loaded_module *next;
  struct board *board;
  uint32_t id; /* of all modules that there ever were */
  struct managed_variables *managed; /* NULL: there are none */
  struct library *library; /* that it is an instance of; NULL: it stands for itself */
  struct device_code code;
  struct link_file *file; /* what it was made of: kept for captures, else NULL */
  unsigned n_files;
  struct function *functions;
};

/* An image that is loaded on each GPU. The program has the first instance as its handle. */
struct library {
  struct loaded_module *on[BOARDS_MAX]; /* by number; NULL: not yet */
  struct loaded_module *first;
  void *image;
  size_t bytes;
};

/* The entry of a fat binary that this GPU runs, machine code or else PTX (with a 0 behind it), unpacked;
 * the caller frees it. */
CUresult module_pick(struct shim *, const struct board *, const uint8_t *container, uint8_t **image, size_t *bytes);
/* A file's bytes with a 0 behind them (PTX is text), which the caller frees; NULL: *r says why. */
char *module_read_file(const char *path, size_t *bytes, CUresult *r);
/* What cuLinkComplete gives for several inputs: an image that module_open takes, and that only holds the
 * files one behind the other. They are linked when it is loaded (load/link.h). The caller frees it. */
uint8_t *module_join(const struct link_file *, unsigned n, size_t *bytes);

/* Loads the part of an image that this GPU runs. Its own headers say how long it is; room: bytes that
 * there are at most, or IMAGE_UNKNOWN (image_size.h). */
CUresult module_open(struct shim *, struct board *, const void *image, size_t room, struct jit *,
                     struct loaded_module **out);
/* The same image as that of `first`, whose __managed__ variables it shares; NULL: it is the first one, and they lie at
 * managed_at, where they were before a reset, when nothing else does (0: anywhere). */
CUresult module_open_beside(struct shim *, struct board *, const struct loaded_module *first, uint64_t managed_at,
                            const void *image, size_t room, struct loaded_module **out);
/* From now on it is the first instance of a library whose image this is; its bytes are copied. */
void module_make_library(struct loaded_module *, const void *image, size_t room);
/* The instance on a GPU. CUDA_ERROR_INVALID_HANDLE: it is of another one, and no library. */
CUresult module_on(struct shim *, struct loaded_module *, struct board *, struct loaded_module **out);
/* The kernel of the same name there. */
CUresult function_on(struct shim *, struct function *, struct board *, struct function **out);
/* With all instances, where it is the first of a library. */
void module_close(struct shim *, struct loaded_module *);
bool module_is_open(const struct shim *, const struct loaded_module *);

/* A kernel by its symbol's name. */
CUresult module_get_function(struct shim *, struct loaded_module *, const char *name,
                             struct function **out);
bool module_is_function(const struct shim *, const struct function *);
/* Takes a kernel's handle out of its module, so that it stays when that is closed; the caller has it then.
 * And gives it to another module, where it stands for the kernel of that name. */
void module_take_function(struct function *);
CUresult module_give_function(struct loaded_module *, const char *name, struct function *);
/* Address and size of a variable; either may be NULL. */
CUresult module_get_variable(struct shim *, struct loaded_module *, const char *name, CUdeviceptr *addr,
                             size_t *bytes);
/* Whether the address lies in a variable of a module. */
bool module_has_address(const struct shim *, uint64_t addr);

extern const struct shim_part module_part;

/* ptx.c: translates PTX text for a GPU, or for what jit says, with the installed ptxas. The result is freed by the
 * caller; NULL: *r says why, and the log is in jit. */
void *ptx_translate(unsigned sm, const char *ptx, struct jit *, size_t *bytes, CUresult *r);

#endif
