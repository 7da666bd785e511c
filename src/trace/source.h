/* Step source of a trace: what the warps did is known; the timing model asks for it step by step.
 *
 * A warp is one path here, in the order of the trace: switches between the paths of a diverged warp are jumps.
 * BAR waits as the barrier's number and count say. Addresses of the shared side of LDGSTS are not in traces: its
 * lanes write consecutive words.
 */
#ifndef WS_TRACE_SOURCE_H
#define WS_TRACE_SOURCE_H

#include "isa/step.h"
#include "trace/code.h"
#include "trace/reader.h"

struct trace_source;

/* Both must outlive the source. Slots: resident CTAs per worker. */
struct trace_source *trace_source_new(const struct trace_kernel *, const struct trace_code *);
void trace_source_free(struct trace_source *);
struct step_source *trace_step_source(struct trace_source *);

#endif
