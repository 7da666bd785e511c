/* Sampling of launches: of those alike (kernel, grid, block, dynamic shared memory), the first N are timed, then
 * those whose number among them is a power of two; the others run without time and are taken to last as long as
 * the timed ones did on average. The first of all counts for itself alone as soon as there is another: it found
 * the caches cold, and the others do not.
 *
 * The error printed is the half-width of the 95 % interval of the estimated launches' total, from the spread
 * of the timed ones (Student's t; launches alike are taken as independent). It knows nothing of what is the same
 * in all of them: launches that were not timed leave no lines in the simulated L2.
 */
#ifndef WS_CUDA_SAMPLING_H
#define WS_CUDA_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sample_key {
  const char *kernel;
  uint32_t grid[3], block[3], shared;
};

struct sample_group {
  struct sample_group *next;
  struct sample_key key;       /* the name is its own */
  uint64_t launches, timed;    /* so far */
  double first;                /* cycles of the first */
  double cycles, spread;       /* mean of the other timed ones; sum of squared distances from it */
  double ps;                   /* mean of those, too */
};

/* The group of a launch; made when there is none. */
struct sample_group *sampling_group(struct sample_group **list, const struct sample_key *);
/* Whether the group's next launch is timed. first: N, >= 1. Counts the launch. */
bool sampling_next(struct sample_group *, uint64_t first);
/* What a timed one took. */
void sampling_add(struct sample_group *, uint64_t cycles, uint64_t ps);
/* 95 % half-width of the total of the launches that were not timed, cycles; negative: fewer than two
 * behind the first say nothing of the spread. */
double sampling_error(const struct sample_group *);
/* A line for each group with estimated launches, then their sum; nothing when there are none. */
void sampling_write(FILE *, const struct sample_group *);
void sampling_free(struct sample_group *);

#endif
