/* A domain: parts that advance together, window by window, on one or several host threads. A GPU is one.
 *
 *   phases   per window [t, t+W) they follow each other: the parts of a parallel phase run in any order, on any
 *            thread, those of a serial one alone, in their order
 *   windows  those in which nobody has anything to do are skipped. A run ends between windows, never inside one, so
 *            that a run in pieces is the run in one
 *   threads  a team (time/team.h) that is lent for a run; the result is the same for every number of threads, and
 *            for none
 *   params   window: the smallest latency between its parts
 *
 * What several domains do to each other: time/machine/machine.h.
 */
#ifndef WS_TIME_DOMAIN_H
#define WS_TIME_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "time/part.h"
#include "time/team.h"

struct domain;

enum { DOMAIN_MAX_PHASES = 4 };

struct phase {
  struct part *part;
  unsigned n;
  bool serial; /* its parts run each window: those of the phases before may just have sent them something */
};

struct domain_config {
  picos window; /* W > 0 */
  struct phase phase[DOMAIN_MAX_PHASES];
  unsigned n_phases;
  uint64_t watchdog_windows; /* windows without progress before the domain counts as stuck */
  /* Called behind each window by the thread that runs the domain; false: the run ends with a notice. */
  bool (*between)(void *ctx, picos now);
  void *ctx;
};

/* Why a run ended. */
enum domain_end {
  DOMAIN_REACHED, /* all windows that begin before `until` have run */
  DOMAIN_IDLE,    /* no part has anything to do, and none waits */
  DOMAIN_STUCK,   /* parts wait, and nothing can happen, or nothing has for long: domain_dump tells. A message may
                     help; another run goes on by one window at least, if there is one */
  DOMAIN_NOTICE,  /* `between` said so, at the end of a window */
};

struct domain *domain_new(const struct domain_config *);
void domain_free(struct domain *);

/* Runs the windows that begin before `until`, ps, on the team (NULL: on the caller's thread alone). */
enum domain_end domain_run(struct domain *, picos until, struct team *);

/* The same, but that REACHED also means that no part has anything to do: whether some wait takes a look at all of them,
 * and a domain among others does not end for it. */
enum domain_end domain_advance(struct domain *, picos until, struct team *);
/* Windows that have run: what parts have counted is the same as long as it is. */
uint64_t domain_windows(const struct domain *);
/* In the last window: the first part of a phase that ran; the number of its parts: none did. */
unsigned domain_first_run(const struct domain *, unsigned phase);

/* End of the last window, ps; before the first, the time set by domain_idle_until. */
picos domain_now(const struct domain *);
/* Nothing happens until `when`, ps: the next window begins then. In the past: no effect. */
void domain_idle_until(struct domain *, picos when);

/* When the next window begins in which a part has something to do, ps; TIME_NEVER: all wait for messages. */
picos domain_next(const struct domain *);
/* How it stands when no message comes: IDLE, STUCK, or REACHED: there is something to do. */
enum domain_end domain_state(const struct domain *);
/* Nothing has happened for so long that it is stuck. */
bool domain_is_quiet(const struct domain *);

/* How a domain stands between windows, in a process that lets it pass. */
struct domain_report {
  picos now;
  picos next; /* the first event of a part; TIME_NEVER: there is none */
  bool waits; /* some part does */
  bool quiet; /* nothing has happened for long: it is stuck */
};
struct domain_report domain_report(const struct domain *);
/* Another process lets it pass: here it has no windows, and stands as is reported from there. Messages that come to it
 * count, as they do there. */
void domain_follow(struct domain *, const struct domain_report *);

void domain_dump(const struct domain *, FILE *);

#endif
