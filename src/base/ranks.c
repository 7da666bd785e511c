#include "base/ranks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/host_memory.h"

/* --- the socket --------------------------------------------------------------------------------- */

static bool read_all(int fd, void *to, size_t bytes)
{
  for (uint8_t *at = to; bytes;) {
    const ssize_t n = read(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

bool rank_send(int fd, const void *from, size_t bytes)
{
  for (const uint8_t *at = from; bytes;) {
    const ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

/* Who has closed it says why. */
static void end_unless(bool there)
{
  if (!there) _exit(RANKS_EXIT_STATUS);
}

struct ranks *ranks_join(int fd, struct err *e)
{
  struct rank_hello h;
  if (!read_all(fd, &h, sizeof h) || h.n < 1 || h.n > RANKS_MAX || h.rank >= h.n) {
    err_set(e, "ranks: nobody answers at descriptor %d: was the program started by 'warpstep exec --ranks'?", fd);
    return NULL;
  }
  struct ranks *r = mem_zeroed(1, sizeof *r);
  *r = (struct ranks){.fd = fd, .rank = h.rank, .n = h.n, .sum = UINT64_C(0xcbf29ce484222325)};
  return r;
}

/* --- meetings ----------------------------------------------------------------------------------- */

void ranks_put(struct ranks *r, const void *data, size_t bytes)
{
  if (r->n_mine + bytes > r->room_mine) {
    r->room_mine = 2 * (r->n_mine + bytes);
    r->mine = mem_resize(r->mine, r->room_mine, 1);
  }
  if (bytes) memcpy(r->mine + r->n_mine, data, bytes);
  r->n_mine += bytes;
}

static void differ(const struct ranks *r)
{
  const struct rank_frame f = {RANK_DIFFERS, r->sum, r->noted};
  fflush(NULL);
  rank_send(r->fd, &f, sizeof f);
  _exit(RANKS_EXIT_STATUS);
}

struct rank_noted ranks_noted(const struct ranks *r)
{
  return (struct rank_noted){r->sum, r->noted};
}

void ranks_compare(const struct ranks *r, const struct rank_noted *its)
{
  if (its->sum != r->sum || its->noted != r->noted) differ(r);
}

static void compare_all(const struct ranks *r)
{
  for (unsigned i = 1; i < r->n; i++)
    if (r->frame[i].sum != r->frame[0].sum || r->frame[i].noted != r->frame[0].noted)
      differ(r);
}

static void receive(struct ranks *r)
{
  size_t all = 0, at = 0;
  end_unless(read_all(r->fd, r->frame, r->n * sizeof *r->frame));
  for (unsigned i = 0; i < r->n; i++) all += r->frame[i].bytes;
  if (all > r->room_bytes) {
    mem_free(r->room);
    r->room = mem_alloc(r->room_bytes = 2 * all);
  }
  end_unless(read_all(r->fd, r->room, all));
  for (unsigned i = 0; i < r->n; at += r->frame[i++].bytes)
    r->bytes[i] = (struct rank_bytes){r->room + at, r->frame[i].bytes};
}

const struct rank_bytes *ranks_catch_up(struct ranks *r)
{
  const struct rank_frame f = {r->n_mine, r->sum, r->noted};
  end_unless(rank_send(r->fd, &f, sizeof f) && rank_send(r->fd, r->mine, r->n_mine));
  r->n_mine = 0;
  r->gathered++;
  receive(r);
  return r->bytes;
}

const struct rank_bytes *ranks_meet(struct ranks *r)
{
  ranks_catch_up(r);
  compare_all(r);
  return r->bytes;
}

struct rank_bytes ranks_hear(struct ranks *r, unsigned from)
{
  BUG_ON(r->n_mine && from != r->rank);
  return ranks_meet(r)[from];
}

bool ranks_any(struct ranks *r, bool mine)
{
  bool any = false;
  ranks_put(r, &(uint8_t){mine}, 1);
  const struct rank_bytes *all = ranks_meet(r);
  for (unsigned i = 0; i < r->n; i++) any |= all[i].n && all[i].data[0];
  return any;
}

/* --- what is alike ------------------------------------------------------------------------------ */

/* Eight bytes at a time; no more than a sum: nobody means harm here. */
void ranks_note(struct ranks *r, const void *data, size_t bytes)
{
  const uint8_t *at = data;
  uint64_t sum = r->sum ^ bytes;
  for (; bytes; ) {
    uint64_t word = 0;
    const size_t n = bytes < sizeof word ? bytes : sizeof word;
    memcpy(&word, at, n);
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    sum ^= sum >> 29;
    at += n;
    bytes -= n;
  }
  r->sum = sum;
  r->noted++;
}

/* --- what a rank has sent ------------------------------------------------------------------------ */

const void *rank_take_all(struct rank_bytes *b, size_t bytes)
{
  if (b->n < bytes) return NULL;
  const void *at = b->data;
  b->data += bytes;
  b->n -= bytes;
  return at;
}

bool rank_take(struct rank_bytes *b, void *to, size_t bytes)
{
  const void *at = rank_take_all(b, bytes);
  if (at && bytes) memcpy(to, at, bytes);
  return at;
}
