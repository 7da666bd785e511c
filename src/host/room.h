/* What limits the CTAs of an SM, and what less of it would give. */
#ifndef WS_HOST_ROOM_H
#define WS_HOST_ROOM_H

#include "host/simulate.h"

/* CTAs per SM when only this counted. */
struct room_limits {
  unsigned slots, warps, registers, shared; /* UINT_MAX: it never limits */
  unsigned ctas;                            /* all of them, whatever the grid */
  unsigned warps_of_cta, max_warps;
  unsigned regs_per_thread, shared_bytes;   /* of the kernel; static and dynamic, per CTA */
};

/* The next number of CTAs that less of one thing would give. */
struct room_step {
  unsigned ctas;  /* 0: less of it gives nothing, something else limits */
  unsigned value; /* registers of a thread, or bytes of shared memory of a CTA, that are few enough */
};

struct room {
  struct room_limits is;
  struct room_step registers, shared;
};

/* False: not even one CTA fits. */
bool room_of(const struct params *, const struct launch *, struct room *);

#endif
