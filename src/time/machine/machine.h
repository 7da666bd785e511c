/* The machine: all domains, the host threads that run them, and what passes between them. It owns time.
 *
 *   epochs   each domain runs its windows that begin within an epoch, alone; then, in the machine phase, the parts of
 *            the machine (links and the like) run one after another and move what was sent. An epoch begins with the
 *            earliest event of all domains
 *   epoch    Λ, at most the smallest (latency between two domains - W of the sender, - W of the receiver): nothing
 *            sent in an epoch can arrive in what a domain has run. Results do not depend on which Λ below that
 *   threads  one domain that has something to do gets all, several share them, or get all of them in turn. Results do
 *            not depend on it
 */
#ifndef WS_TIME_MACHINE_MACHINE_H
#define WS_TIME_MACHINE_MACHINE_H

#include "time/domain.h"

struct machine;

/* Where several processes simulate one machine, each lets some of its domains pass; the parts of the machine phase run
 * in all of them. */
struct machine_ranks {
  void *ctx;
  /* A run begins, up to `until`: how all domains stand becomes known to all. It is about to end. */
  void (*begin)(void *ctx, picos until);
  void (*end)(void *ctx);
  /* An epoch up to `to` begins, in which these domains have something to do. Leaves those of this process: returns how
   * many. */
  unsigned (*plan)(void *ctx, picos to, unsigned *domain, unsigned n);
  /* They have run: what those of others have sent, how they stand (domain_follow), how their runs ended, by domain. */
  void (*meet)(void *ctx, enum domain_end *end);
};

struct machine_config {
  unsigned threads; /* host threads, >= 1 */
  struct domain *const *domain; /* the caller's; >= 1 */
  unsigned n_domains;           /* further ones may come: machine_add */
  picos epoch;       /* Λ; TIME_NEVER: nothing passes between domains */
  struct part *part; /* of the machine phase, in their order: run(from, to) moves what domains sent in [from, to) and in
                        windows that began there. An epoch begins with their next event, too, if they have one */
  unsigned n_parts;
  const struct machine_ranks *ranks; /* NULL: this process has all domains */
  bool in_turn; /* domains run one behind the other, each with all threads: what they call outside is not for several */
};

enum machine_stop {
  MACHINE_REACHED, /* all windows that begin before `until` have run */
  MACHINE_IDLE,    /* nobody has anything to do, and nobody waits */
  MACHINE_STUCK,   /* somebody waits, and nobody can do anything, or has for long: machine_dump tells */
  MACHINE_NOTICE,  /* a domain's `between` asked for the caller */
};

struct machine *machine_new(const struct machine_config *);
void machine_free(struct machine *);

/* Another domain comes, as number `at` of them: between runs, or in the machine phase. It has run nothing yet. */
void machine_add(struct machine *, struct domain *, unsigned at);

/* Runs the windows that begin before `until`, ps (TIME_NEVER: as long as there is something to do). A run in pieces is
 * the run in one: no window is cut. After a notice the domain that gave it stands behind its window, others may be an
 * epoch ahead; the next run goes on from there. With several domains at work `between` may be called on any of the
 * machine's threads. */
enum machine_stop machine_run(struct machine *, picos until);

/* Between runs, in a process that goes on from a checkpoint: host threads are made anew, `threads` of them, 0: as many
 * as there were. */
void machine_renew_threads(struct machine *, unsigned threads);

/* So far all domains have come, ps: those that have something to do begin their next window there or later. */
picos machine_now(const struct machine *);

void machine_dump(const struct machine *, FILE *);

#endif
