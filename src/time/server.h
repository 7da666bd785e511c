/* A resource that serves bytes at a fixed rate, first come first served: a bandwidth cap. */
#ifndef WS_TIME_SERVER_H
#define WS_TIME_SERVER_H

#include "time/part.h"

struct server {
  uint64_t femtos_per_byte; /* ps would round away the fast ones */
  uint64_t free_at_fs;
};

/* Serves `bytes` arriving at `now`; returns when the service starts. */
static inline picos server_take(struct server *s, picos now, uint64_t bytes)
{
  uint64_t at = now * 1000 > s->free_at_fs ? now * 1000 : s->free_at_fs;
  s->free_at_fs = at + bytes * s->femtos_per_byte;
  return at / 1000;
}

#endif
