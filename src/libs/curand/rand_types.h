/* cuRAND's host interface as its reference documents it: the numbers that programs pass, and what a generator is
 * here. Own declarations; the programs of tests/libs are compiled with a toolkit's headers where these are
 * installed.
 */
#ifndef WS_CURAND_TYPES_H
#define WS_CURAND_TYPES_H

#include <stdbool.h>

#include "libs/host/kernel_set.h"
#include "libs/kernels/rand_args.h"

#define PUBLIC __attribute__((visibility("default")))

typedef enum {
  RAND_SUCCESS = 0,
  RAND_NOT_INITIALIZED = 101,
  RAND_ALLOCATION_FAILED = 102,
  RAND_TYPE_ERROR = 103,
  RAND_OUT_OF_RANGE = 104,
  RAND_LENGTH_NOT_MULTIPLE = 105,
  RAND_LAUNCH_FAILURE = 201,
  RAND_INITIALIZATION_FAILED = 203,
  RAND_ARCH_MISMATCH = 204,
} rand_status;

/* curandRngType */
enum {
  RNG_DEFAULT = 100, RNG_XORWOW = 101, RNG_MRG32K3A = 121, RNG_MTGP32 = 141, RNG_MT19937 = 142, RNG_PHILOX = 161,
  RNG_QUASI_DEFAULT = 200, RNG_SOBOL32 = 201, RNG_SCRAMBLED_SOBOL32 = 202, RNG_SOBOL64 = 203,
  RNG_SCRAMBLED_SOBOL64 = 204,
};
/* curandOrdering */
enum { ORDER_PSEUDO_FIRST = 100, ORDER_PSEUDO_LAST = 104, ORDER_QUASI = 201 };
enum { RAND_VERSION = 10400, RAND_MOST_DIMENSIONS = 20000 };

struct generator {
  uint64_t magic;
  bool host;             /* numbers are made by the calling thread, in memory of the host */
  struct kernel_set kernels;
  driver_stream stream;
  enum ws_rand_kind kind;
  bool sobol64, scrambled;
  uint64_t seed, offset; /* as set */
  bool ready;            /* what is below stands for them */
  uint64_t position;     /* of the next word; Sobol: of the next point */
  uint32_t *state;       /* rand_args.h; on the host */
  uint64_t device_state; /* or on the device */
  uint32_t dimensions;
  uint64_t *directions;
  uint64_t device_directions;
  double lambda;         /* of the table below, which is of Poisson's distribution */
  double *table;
  uint64_t device_table;
  uint32_t least, entries;
};

/* Makes the state of a generator at its offset. False: no memory. */
bool rand_seed(struct generator *g);
size_t rand_state_words(const struct generator *g);
/* The next number after a seed. */
uint64_t rand_splitmix(uint64_t *s);
/* Directions of its dimensions. False: no memory. */
bool rand_directions(struct generator *g);
/* The table of a distribution, in `g`. False: no memory. */
bool rand_poisson_table(struct generator *g, double lambda);
/* The words that a kernel would write, by the calling thread. */
void rand_host_words(const struct ws_rand_args *a);
void rand_host_numbers(const struct ws_rand_number_args *a);

#endif
