/* Launches as traces: what `trace export` and programs under `exec --trace` share. */
#ifndef WS_HOST_TRACING_H
#define WS_HOST_TRACING_H

#include "host/simulate.h"
#include "trace/export.h"

/* The launch `l` of the kernel: its trace is opened, written by a run without time, and closed. The result is that of
 * the run; false with e filled: the trace could not be written. */
bool traced_run(struct trace_export *, struct simulator *, struct launch *l,
                const struct module_instance *, const struct module_kernel *, uint64_t stream,
                const struct sim_options *, struct sim_result *, struct err *e);

#endif
