/* What the slices of a GPU's L2 and the caches of CPUs on the same memory tell each other (time/coh/coh_asker.h is the
 * other end): slices ask for rights to lines that CPUs may have, and are told when they have them.
 *
 *   lines    of COH_LINE_BYTES (64), by address; a slice's line is two of them
 *   rights   of the GPU's L2 as a whole; slices look at them, and change none. They change between runs of the GPU
 *   turns    the GPU and the CPUs run one after the other, for a turn each (host/linux/linux_cores.h). What is asked in
 *            a turn is heard in the next one of the CPUs, what is granted there in the next one of the GPU
 *   clocks   times of the program's clock outside, of the GPU's inside: that is ahead by `skew`
 *   alone    while `follows` is false nobody hears: the GPU runs by itself, with all rights, and grants itself what it
 *            has asked for
 */
#ifndef WS_TIME_MEM_L2_RIGHTS_H
#define WS_TIME_MEM_L2_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "time/part.h"

enum { RIGHTS_LINE_BYTES = 64 };

enum l2_right { L2_RIGHT_NONE, L2_RIGHT_READ, L2_RIGHT_WRITE };

struct l2_ask {
  picos at; /* ps of the GPU's clock */
  uint64_t line;
  uint32_t slice;
  bool write;
};

struct l2_grant {
  picos at; /* ps of the GPU's clock */
  uint64_t line;
  bool write;
  bool of_cache; /* a CPU's cache had the bytes: memory need not be read */
};

/* What the slices of a GPU waited for. */
#define L2_RIGHTS_STAT_LIST(X)                                                                     \
  X(read_asks, "rights to read that slices asked for, lines of 64 bytes")                          \
  X(write_asks, "rights to write")                                                                 \
  X(parked, "requests that waited for a right")                                                    \
  X(waited_ps, "ps that they waited, all together")                                                \
  X(of_caches, "rights that came with bytes of a CPU's cache")                                     \
  X(lost_sectors, "sectors in slices that CPUs had taken when they were asked for again")          \
  X(ungranted, "requests that went on without: nobody followed the GPU")

struct l2_rights_stats {
#define X(id, what) uint64_t id;
  L2_RIGHTS_STAT_LIST(X)
#undef X
};

/* A slice's letters, in the order of their times. */
struct l2_mail {
  struct l2_rights_stats stats; /* the slice counts */
  struct l2_ask *ask;
  struct l2_grant *grant;
  uint32_t n_asks, room_asks, n_grants, first_grant, room_grants;
};

struct l2_rights {
  enum l2_right (*right)(void *ctx, uint64_t line);
  void *ctx;
  uint64_t skew; /* ps */
  bool follows;
  struct l2_mail *mail; /* [n_slices]; NULL: the GPU is not there yet */
  uint32_t n_slices;
  struct l2_rights_stats past; /* of GPUs that were there before */
};

/* By the GPU when it is built; again: another one, of which nothing is known. */
void l2_rights_open(struct l2_rights *, uint32_t n_slices);
void l2_rights_free(struct l2_rights *);
struct l2_rights_stats l2_rights_sum(const struct l2_rights *);

/* A slice's side: one asks. Letters to it come with the earliest first, NULL: none; when it has been read, pop. */
void l2_rights_ask(struct l2_rights *, const struct l2_ask *);
const struct l2_grant *l2_rights_granted(const struct l2_rights *, uint32_t slice);
void l2_rights_pop(struct l2_rights *, uint32_t slice);

/* The CPUs' side, while the GPU stands. All asks by time, slice and order, with the program's times; none are left. */
void l2_rights_take(struct l2_rights *, void (*see)(void *ctx, const struct l2_ask *), void *ctx);
/* `at`: of the program's clock. */
void l2_rights_grant(struct l2_rights *, uint32_t slice, const struct l2_grant *);

#endif
