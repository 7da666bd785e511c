/* Private to api/: what the handles of warpstep.h are. */
#ifndef WS_API_INTERNAL_H
#define WS_API_INTERNAL_H

#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/host_memory.h"
#include "config/presets.h"
#include "host/device.h"
#include "host/simulate.h"
#include "time/mem/outer_memory.h"
#include "view/report.h"
#include "warpstep/warpstep.h"

struct ws_device {
  struct heap *heap;       /* all that the device and its modules have of the host but this struct and `print` */
  bool lost;               /* memory ran out while it was being changed */
  struct preset preset;
  const char *preset_name; /* in preset.strings */
  struct device device;
  struct simulator *simulator;
  FILE *print;             /* to print_fn; NULL: none */
  ws_print_fn *print_fn;
  void *print_context;
  struct ws_module *modules;
  uint64_t allocated;      /* bytes of live allocations */
  struct ws_run *run;      /* that is open; NULL: none */
  struct outer_port port;  /* to memory_fn */
  ws_memory_fn *memory_fn; /* NULL: the GPU has DRAM */
  void *memory_context;
  uint64_t clock_ps;       /* so far launches have come, of a device with an outer memory or runs */
  char text[256];          /* of ws_device_parameter */
};

struct ws_kernel {
  ws_module *module;
  const struct device_code *part;
  const struct module_kernel *kernel;
};

struct ws_module {
  ws_device *device;
  struct ws_module *next; /* of the device */
  struct arena arena;
  struct device_code *part;
  unsigned n_parts, n_kernels;
  struct ws_kernel *kernel;
};

/* Fill a ws_error (may be NULL) and return the status. */
int ws_fail(ws_error *, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4), cold));
int ws_fail_err(ws_error *, int status, const struct err *);

int ws_fail_memory(ws_error *) __attribute__((cold));

/* Calls change(d, call, error) with the device's heap for all it allocates, and returns its status. WS_NO_HOST_MEMORY:
 * memory ran out, now or earlier: the device is lost. */
typedef int ws_change(ws_device *d, void *call, ws_error *error);
int ws_device_change(ws_device *d, ws_change *change, void *call, ws_error *error);

/* The same for a run that is open, which other changes must not meet. */
int ws_run_change(ws_device *d, ws_change *change, void *call, ws_error *error);
/* Of ws_device_destroy: its result is not the device's. */
void ws_run_drop(ws_run *);

/* Parts of ws_launch: what a launch may ask for; its place on the device. */
int ws_launch_check(const ws_kernel *, const struct ws_launch *given, struct ws_launch *, ws_error *);
/* block: of the kernel's parameters' bytes, which must live as long as the launch. */
bool ws_launch_init(ws_device *, const ws_kernel *, const struct ws_launch *, uint8_t *block, struct launch *,
                    struct err *);

/* Copies a struct that opens with its size between versions of the library: what an older caller does
 * not know is zero (in), what it has no room for is left out (out). False: size is 0, or more than this
 * library knows. */
bool ws_struct_in(void *to, size_t room, const void *from);
bool ws_struct_out(void *to, const void *from, size_t bytes);

/* The profile of a result: rows, and for each its cycles by state. */
struct profile_rows {
  size_t n, n_states;
  struct ws_profile_row *row;
  uint64_t *state;           /* [row * n_states + state] */
  const char *const *name;   /* of each state; constants of the library */
};
/* Copies what ran into the arena. */
void profile_rows_copy(struct profile_rows *, struct arena *, const struct report *);

/* What a launch leaves behind, copied: it outlives device and module. NULL: no host memory. */
ws_result *ws_result_new(const ws_kernel *, const struct launch *, const struct sim_result *,
                         const struct ws_launch *);

#endif
