/* The results of a sweep for a person: a table, and a plot (SVG). */
#ifndef WS_STUDY_SWEEP_TABLE_H
#define WS_STUDY_SWEEP_TABLE_H

#include <stdio.h>

#include "study/sweep_store.h"

/* For each GPU: a line for each run with the cycles of the first combination of choices and how much faster the others
 * are, and the geometric mean of that. What has no result is "-". */
void sweep_table_write(FILE *, const struct sweep *, struct sweep_store *);

/* Speed relative to the first combination: a line for each GPU and run, its geometric mean over the runs of a GPU. */
void sweep_plot_write(FILE *, const struct sweep *, struct sweep_store *);

/* The last part of the path of what is run, n characters of it. */
const char *sweep_short_name(const char *run, int *n);

/* Combinations of values; number i of GPU g and run r is sweep_point_at(…). */
uint32_t sweep_combinations(const struct sweep *);
struct sweep_point sweep_point_of(const struct sweep *, unsigned gpu, unsigned run, uint32_t combination);
/* Of those runs of a GPU that have cycles in this and in the first combination: geometric mean of first / this. 0:
 * none. */
double sweep_mean_speed(const struct sweep *, struct sweep_store *, unsigned gpu, uint32_t combination,
                        unsigned *n_runs);

#endif
