/* Sampling of launches: of those alike (kernel, grid, block, dynamic shared memory), the first N are
 * timed, then those whose number among them is a power of two; the others run without time. What they
 * would have taken follows from the timed ones: their mean, or, where cycles follow the warp instructions
 * that a launch executes (which are known of all), the line through them. The first of all counts for
 * itself alone as soon as there is another: it found the caches cold, and the others do not.
 *
 * What a launch executes is only known behind it. One that executed less or more than all that were timed,
 * by a twentieth, is one that they say nothing of: the next two of its group are timed, too. When in the
 * end no timed ones lie around what the others executed, their error is unknown, and the report says so.
 *
 * The error printed is the half-width of the 95 % interval of the estimated launches' total, from the
 * distances of the timed ones from the mean or the line (Student's t; launches alike are taken as
 * independent; prediction interval of a linear regression). It knows nothing of what is the same in all of
 * them: launches that were not timed leave no lines in the simulated L2. So it is never less than what
 * cold caches changed for the first launch, once, nor less than one cycle for each estimated launch: that
 * timed ones are equal does not make the others known.
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

/* What the timed launches but the first took: means, and sums of squared distances from them. */
struct sample_sums {
  uint64_t n;
  double insts, cycles; /* means */
  double ii, ic, cc;    /* squares of insts, products, squares of cycles */
};

struct sample_group {
  struct sample_group *next;
  struct sample_key key;    /* the name is its own */
  uint64_t launches, timed; /* so far */
  double first, first_insts; /* cycles of the first, what it executed */
  uint64_t owed;            /* launches to time because of what an earlier one executed */
  uint64_t timed_least, timed_most, guessed_least, guessed_most; /* warp instructions */
  struct sample_sums sums;
  uint64_t guessed;         /* launches that were not timed, */
  double guessed_insts;     /* and what they executed */
};

/* The group of a launch; made when there is none. */
struct sample_group *sampling_group(struct sample_group **list, const struct sample_key *);
/* Whether the group's next launch is timed. first: N, >= 1. Counts the launch. */
bool sampling_next(struct sample_group *, uint64_t first);
/* What a timed one executed and took. */
void sampling_add(struct sample_group *, uint64_t warp_insts, uint64_t cycles);
/* What one that was not timed would have taken, cycles, as far as is known now. Counts it. */
double sampling_guess(struct sample_group *, uint64_t warp_insts);
/* All launches, cycles. */
double sampling_total(const struct sample_group *);
/* 95 % half-width of the total of the launches that were not timed, cycles; negative: not known, since
 * fewer than two were timed behind the first, which says nothing of the spread, or since others executed
 * less or more than all of them. */
double sampling_error(const struct sample_group *);
/* A line for each group with estimated launches, then their sum; nothing when there are none. */
void sampling_write(FILE *, const struct sample_group *);
void sampling_free(struct sample_group *);

#endif
