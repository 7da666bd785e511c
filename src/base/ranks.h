/* Ranks: processes that do the same, each of which has the results of a part of the work and tells the others. A rank
 * knows nothing of the others but what they gather: all send some bytes, and all get those of all, by rank. Who carries
 * them is a process at the other end of a socket (cli/rank_hub.h), MPI or not.
 *
 *   alike   What all of them must have done alike so far is noted in a sum, which goes along. A rank that finds another
 *           sum elsewhere says so to the other end, and ends: the program did not do the same in all ranks
 *   ends    A rank without the others is good for nothing: when the socket is closed, the process ends. Who closed it
 *           says why
 */
#ifndef WS_BASE_RANKS_H
#define WS_BASE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { RANKS_MAX = 64, RANKS_EXIT_STATUS = 2 };

/* In front of the bytes of each rank, on the socket in both directions. */
struct rank_frame {
  uint64_t bytes;
  uint64_t sum;   /* of what was noted */
  uint64_t noted; /* how often */
};

/* In the place of a number of bytes, for the other end: the rank has found that others do not do the same; it has
 * closed its socket. */
#define RANK_DIFFERS (UINT64_MAX - 1)
#define RANK_ENDED   UINT64_MAX

/* What the other end says first. */
struct rank_hello {
  uint32_t rank, n;
};

struct rank_bytes {
  const uint8_t *data;
  uint64_t n;
};

struct ranks {
  int fd;
  unsigned rank, n;
  uint64_t sum, noted;
  uint64_t gathered; /* how often */
  struct rank_frame frame[RANKS_MAX];
  struct rank_bytes bytes[RANKS_MAX];
  uint8_t *room; /* for those of all */
  size_t room_bytes;
  uint8_t *mine; /* what goes next; ranks_put */
  size_t n_mine, room_mine;
};

/* By this socket, which stays open as long as the process lives. NULL with *e filled: nobody is there. */
struct ranks *ranks_join(int fd, struct err *e);

/* Appends to what this rank sends next. */
void ranks_put(struct ranks *, const void *, size_t bytes);
/* All ranks meet: each sends what it has put. Those of rank i are bytes[i], until the next meeting. */
const struct rank_bytes *ranks_meet(struct ranks *);
/* The same where one has gone ahead of the others: what they have noted so far need not be alike. */
const struct rank_bytes *ranks_catch_up(struct ranks *);
/* The same of one rank: what it has put; it alone may have put something. */
struct rank_bytes ranks_hear(struct ranks *, unsigned from);
/* Whether any says so. */
bool ranks_any(struct ranks *, bool);

/* All ranks do this at this point. */
void ranks_note(struct ranks *, const void *, size_t bytes);
/* What is noted so far, for others who come to this point later; and there. */
struct rank_noted {
  uint64_t sum, noted;
};
struct rank_noted ranks_noted(const struct ranks *);
void ranks_compare(const struct ranks *, const struct rank_noted *);

/* All of it to this socket; false: nobody reads there any more. */
bool rank_send(int fd, const void *, size_t bytes);
/* From what a rank has sent, piece by piece; false: there is not so much left. */
bool rank_take(struct rank_bytes *, void *, size_t bytes);
const void *rank_take_all(struct rank_bytes *, size_t bytes); /* where they lie; NULL: not so many */

#endif
