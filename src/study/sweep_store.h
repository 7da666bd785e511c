/* Results of a sweep: one SQLite file, one row for each point that has ended.
 *
 *   result(gpu, run, settings)       the point (study/sweep.h); primary key
 *          status                    exit status of the run; 128 + signal; -1: it took too long
 *          cycles, time_ns, warp_insts, host_seconds   NULL where the run did not get so far
 *          why                       the last line of a run that failed; of one without a timed launch ours
 *          report                    what `--json` writes, for json_extract
 *   study(key, value)                name, version; and what results depend on besides their point: `build`, the
 *                                    checksum of the program; `folder`, where runs start; `gpu NAME`, the
 *                                    parameters of each (sweep_identity)
 *
 * A row appears when its run has ended, as a whole, and is on the disk when sweep_store_add returns: whatever ends the
 * process, no finished point is lost or repeated.
 */
#ifndef WS_STUDY_SWEEP_STORE_H
#define WS_STUDY_SWEEP_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "study/sweep.h"

struct sweep_store;

struct sweep_result {
  int status;
  bool timed;
  double cycles, time_ns, warp_insts, host_seconds; /* the first three: of a timed run that ended well */
  const char *why, *report;                         /* may be NULL */
};

/* Makes the file where there is none. Results of another build, folder or GPU of the same name are refused: they cannot
 * be compared. Only one process at a time (a lock beside SQLite's own, for as long as it is open). NULL with e
 * filled. */
struct sweep_store *sweep_store_open(const char *path, const struct sweep *, const char *build, const char *presets,
                                     struct err *e);
/* To read only. */
struct sweep_store *sweep_store_look(const char *path, struct err *e);
void sweep_store_close(struct sweep_store *);

/* Status of a point that has ended. False: it has not. */
bool sweep_store_has(struct sweep_store *, const struct sweep *, const struct sweep_point *, int *status);
bool sweep_store_add(struct sweep_store *, const struct sweep *, const struct sweep_point *,
                     const struct sweep_result *, struct err *e);
/* The numbers of a point; report and why stay NULL. */
bool sweep_store_get(struct sweep_store *, const struct sweep *, const struct sweep_point *, struct sweep_result *);
/* The rows of another file of the same sweep and build that are not here yet, or failed here. */
bool sweep_store_merge(struct sweep_store *, const char *path, struct err *e);

#endif
