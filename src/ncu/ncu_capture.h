/* Launches of one process that is profiled, appended to a stream that all processes of the program share; what the
 * process says of itself ("==PROF== …").
 *
 *   struct ncu_capture *c = ncu_capture_new(&options, e);
 *   if (ncu_capture_next(c, symbol, context, stream)) … a timed run … ncu_capture_keep(c, &launch, &identity, e)
 *   ncu_capture_free(c)
 */
#ifndef WS_NCU_CAPTURE_H
#define WS_NCU_CAPTURE_H

#include "ncu/ncu_collect.h"
#include "ncu/ncu_filter.h"

/* As `warpstep ncu` hands them to the processes of the program. */
struct ncu_capture_options {
  const char *stream; /* file for launches; NULL: nothing is profiled */
  const char *log;    /* file for what is said; NULL: stdout */
  bool code;          /* instructions are kept, too */
  bool schedulers;    /* each is counted apart (host/scheduler_tally.h) */
  bool waits;         /* until the program calls cudaProfilerStart */
  bool quiet;
  struct ncu_filter filter;
};

struct ncu_capture;
/* The options must outlive it. NULL with *e filled: the stream, or the log, cannot be opened. */
struct ncu_capture *ncu_capture_new(struct ncu_capture_options *, struct err *e);
/* cudaProfilerStart, cudaProfilerStop. */
void ncu_capture_on(struct ncu_capture *, bool on);
/* Whether the next launch is profiled: to be asked once for each. Says so. */
bool ncu_capture_next(struct ncu_capture *, const char *symbol, uint64_t context, uint64_t stream);
/* The launch that ncu_capture_next said yes to has run. NULL: it did not end as it should, and nothing is kept. */
bool ncu_capture_keep(struct ncu_capture *, const struct ncu_launch *, const char *gpu, uint64_t context,
                      uint64_t stream, struct err *e);
/* The process ends. */
void ncu_capture_free(struct ncu_capture *);

#endif
