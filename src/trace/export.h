/* Trace export: launches as traces that Accel-Sim reads.
 *
 *   struct trace_export *x = trace_export_new("traces", TRACE_XZ, TRACE_VERSION, &e);
 *   trace_export_copy(x, address, bytes, &e);             a copy to the device
 *   struct step_tap tap;
 *   trace_export_begin(x, &launch, &tap, &e);             … run the launch without time, with the tap …
 *   trace_export_end(x, &e);
 *   trace_export_free(x, true, &e);
 *
 * What a trace cannot say is lost: control bits, predicates, uniform registers, constants, immediates but
 * one. Program counters count from the start of the kernel; functions outside of it have the distance to it,
 * modulo 2^32. Runtime services (printf, malloc) are left out.
 */
#ifndef WS_TRACE_EXPORT_H
#define WS_TRACE_EXPORT_H

#include <stddef.h>

#include "base/err.h"
#include "isa/watch.h"
#include "load/module.h"
#include "trace/format.h"

struct trace_export;

struct trace_launch {
  const struct module_instance *code;
  const struct module_kernel *kernel;
  uint32_t grid[3], block[3];
  uint32_t shared; /* bytes per CTA, static and dynamic */
  uint64_t stream;
  uint64_t shared_window, local_window; /* generic addresses of shared and local memory */
};

/* Makes the directory when it is missing and starts kernelslist.g and stats.csv in it. NULL with e filled. */
struct trace_export *trace_export_new(const char *dir, enum trace_form, unsigned version,
                                      struct err *e);
/* A copy from the host to the device: Accel-Sim puts the range into its L2. */
bool trace_export_copy(struct trace_export *, uint64_t address, uint64_t bytes, struct err *e);
/* Starts the next kernel. *tap is for the run of it and valid until trace_export_end. The launch's code must live
 * as long. */
bool trace_export_begin(struct trace_export *, const struct trace_launch *, struct step_tap *tap,
                        struct err *e);
/* Ends it: writes what is left and closes the file. */
bool trace_export_end(struct trace_export *, struct err *e);
/* Writes the lists; not after a failure of a function above (which has filled its e), nor with `ok` false: those that
 * were there stay. False: they were not written; e is filled when that is new. */
bool trace_export_free(struct trace_export *, bool ok, struct err *e);

#endif
