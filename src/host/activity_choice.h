/* What goes into a file of `--timeline` (host/activity.h). */
#ifndef WS_HOST_ACTIVITY_CHOICE_H
#define WS_HOST_ACTIVITY_CHOICE_H

#include "base/err.h"
#include "host/pipe_log.h"

struct activity_choice {
  bool warps;                  /* those that `which` names, else none */
  struct pipe_choice which;
  unsigned first_sm, last_sm;  /* whose CTAs and warps */
  uint64_t from, to;           /* what begins in [from, to), units of the file */
};

/* All but warps. */
struct activity_choice activity_choice_default(void);
/* "3" or "0-7". */
bool activity_choice_sms(struct activity_choice *, const char *text, struct err *e);
/* Whether a GPU of n_sms has these SMs. */
bool activity_choice_fits(const struct activity_choice *, unsigned n_sms, struct err *e);
bool activity_choice_warps(struct activity_choice *, const char *text, struct err *e);
/* "100:200", "100:" or ":200". */
bool activity_choice_window(struct activity_choice *, const char *text, struct err *e);
/* The same in microseconds, of a file with a unit of 1000 ps. */
bool activity_choice_us(struct activity_choice *, const char *text, struct err *e);

#endif
