/* Which of several processes has a GPU, and for how long: contexts of different processes have it in turns, time
 * slices, in which one has all of it. Each process simulates its own GPU and asks here before its kernels go on; the
 * answer is to run, or to stand while another one runs.
 *
 *   order    questions are answered by their simulated times, the earliest first, once all that could ask earlier have
 *            asked (who that is, the caller knows): so answers follow from simulated times alone
 *   slices   begin when a process gets the GPU. At their end the one that has waited longest is next; where nobody
 *            waits, another slice begins. A process without kernels gives the GPU back at once
 *   switch   kernels that a slice's end has stopped are saved, and restored with their next slice (`state`): so long
 *            nobody runs
 */
#ifndef WS_BASE_TIME_SLICES_H
#define WS_BASE_TIME_SLICES_H

#include <stdbool.h>
#include <stdint.h>

enum { TIME_SLICES_MAX = 48, TIME_SLICES_NOBODY = -1 };

/* What a process says first. */
struct slice_hello {
  uint64_t slice; /* ps: of its slices */
  uint64_t state; /* ps: to save its kernels, and to restore them */
};

/* "My kernels are at `now`: what until `until`?" Without kernels any more: over, at `now`. */
struct slice_ask {
  uint64_t now, until; /* ps */
  bool over;           /* not answered */
};

struct slice_answer {
  uint64_t until; /* ps, > now: the kernels may run so far, or stand so long; then they ask again */
  bool run;
};

struct slice_user {
  bool there;
  bool asks;    /* its question is not answered */
  bool busy;    /* it has kernels: it will ask again, or say that they are over */
  bool stopped; /* its kernels were, by the end of a slice */
  uint64_t order; /* between users alike */
  uint64_t waits; /* ps: since then, while it waits */
  bool is_waiting;
  struct slice_hello hello;
  struct slice_ask ask;
};

struct time_slices {
  struct slice_user user[TIME_SLICES_MAX];
  int owner;          /* who has the GPU */
  uint64_t begin, end; /* ps: of its slice, behind the switch */
  uint64_t free;      /* ps: nobody has had it since */
  uint64_t slices;    /* that have begun */
};

void time_slices_init(struct time_slices *);
/* A user comes; TIME_SLICES_NOBODY: there are too many. */
int time_slices_enter(struct time_slices *, const struct slice_hello *, uint64_t order);
/* It is gone, with what it had. */
void time_slices_leave(struct time_slices *, int user);
/* False: a question that makes no sense. */
bool time_slices_ask(struct time_slices *, int user, const struct slice_ask *);
/* The next answer, once all that could ask have asked; the user it is for. TIME_SLICES_NOBODY: none asks. */
int time_slices_answer(struct time_slices *, struct slice_answer *);

#endif
