/* A cache of coherent memory: a private one of a CPU core (its L1 and L2 together), the L2 of a GPU, or a GPU's L1.
 * What it does is in the tables of the protocol (coh_protocol.h); here is where lines are and what actions mean.
 *
 *   in       operations of a core (coh_cache_offer) or, from the network, of the caches below; forwards, answers
 *   out      requests, answers, ends; replies, to the core's queue or to the network
 *   cycle    one message of each network: replies and answers first, forwards, then one operation
 *   values   lines hold their bytes. A store is performed, and seen by all, when the cache has the only copy (role
 *            CACHE); a line that is old can only be in an L1 that writes through
 *   misses   as many as there are places for those that wait; an operation on a line on which one waits waits too, and
 *            keeps those behind it
 *   reserved one line at most, by a load with COH_RESERVE, until it is written back or taken away. While this cache
 *            alone has it, others wait for it for some time, so that a loop of such pairs gets on
 *   beside   the L2 of a GPU has its lines' bytes where memory has them, and reads and writes memory by channels of its
 *            own: what homes send it, and what it writes back, is that it may (config: memory)
 *   places   least recently used of a set; a line that must be written back keeps its place until that is done
 *   not modelled: banks; prefetch; what a core's own L1 would answer faster
 */
#ifndef WS_TIME_COH_COH_CACHE_H
#define WS_TIME_COH_COH_CACHE_H

#include "time/coh/coh_protocol.h"

/* An atomic on a value of 1, 2, 4 or 8 bytes; codes are the step source's. Returns the new value. */
typedef uint64_t coh_atomic_fn(unsigned op, unsigned bytes, uint64_t before, uint64_t operand, uint64_t compare);

struct coh_cache;

struct coh_cache_config {
  enum coh_role role;        /* COH_L1 or COH_CACHE */
  uint32_t sets, ways;       /* sets: a power of two */
  uint32_t stripes;          /* caches among which lines go in turn, this being one of them; 0: 1 */
  uint32_t misses;           /* that wait at a time, >= 1 */
  picos period;              /* of a cycle, ps, > 0 */
  picos latency;             /* from a message to what it causes, ps */
  picos hold;                /* for so long others wait for a line that was reserved, ps */
  uint16_t above, n_above;   /* nodes: the homes of lines; of an L1, the caches above it. By line number in turn */
  uint16_t n_caches;         /* that homes know: nodes 0 … n_caches - 1 */
  coh_atomic_fn *atomic;
  /* Where the bytes of a line are, of a cache beside memory; NULL: the cache holds them. */
  uint8_t *(*memory)(void *ctx, uint64_t line);
  void *memory_ctx;
  /* Told of each operation as it is performed, with the line's bytes behind it; NULL: nobody. */
  void (*performed)(void *ctx, const struct coh_cache *, const struct coh_msg *op, const uint8_t *bytes);
  void *ctx;
};

struct coh_cache_stats {
  uint64_t ops, hits, misses, forwards, writebacks;
};

struct coh_entry {
  uint64_t line;
  uint32_t used;  /* when, in operations */
  uint16_t miss;  /* place in `miss`, while one waits */
  uint8_t state;  /* enum coh_state */
};

/* What waits for a line. */
struct coh_miss {
  struct coh_msg op;
  int32_t acks;   /* answers that are to come */
  bool counted;   /* the one that says how many has come */
  bool shared;    /* somebody said so */
  bool filled;    /* the bytes of a cache have come */
  bool of_cache;  /* … of a cache, and not of a home that knew that they are memory's */
  bool used;
};

/* Lines that were stored to since somebody looked last. */
enum { COH_NOTES = 256 };
struct coh_notes {
  uint64_t line[COH_NOTES];
  uint32_t n;
  bool full; /* there were more */
};

struct coh_cache {
  const struct coh_protocol *protocol;
  struct coh_cache_config cfg;
  struct coh_port *port;
  struct coh_queue *reply; /* the port's, or the core's */
  struct coh_entry *entry; /* [sets][ways] */
  uint8_t (*data)[COH_LINE_BYTES];
  struct coh_miss *miss;
  uint64_t *row_hits;      /* times that each row was taken */
  uint32_t clock, n_transient;
  bool reserved;
  uint64_t reserved_line;
  picos held_until;
  struct coh_notes *notes; /* NULL: nobody looks */
  struct coh_cache_stats stats;
};

/* `reply`: where replies go; NULL: to the network, to who sent the operation. */
void coh_cache_init(struct coh_cache *, const struct coh_protocol *, const struct coh_cache_config *, struct coh_port *,
                    struct coh_queue *reply, struct arena *);

/* An operation comes, at `now`. False: not now. Its reply arrives `latency` later when the line is there. */
bool coh_cache_offer(struct coh_cache *, const struct coh_msg *op, picos now);
/* A core's way past its replies: a load, store or atomic on a line whose state allows it at once. Its bytes, to be read
 * or changed now; the operation is counted and the state is that behind it. NULL: it has to be offered. */
uint8_t *coh_cache_touch(struct coh_cache *, uint64_t line, enum coh_type);
/* Reserves a line whose bytes are here, as a load with COH_RESERVE does at `now`. */
void coh_cache_reserve(struct coh_cache *, uint64_t line, picos now);
static inline bool coh_cache_reserved(const struct coh_cache *c, uint64_t line)
{
  return c->reserved && c->reserved_line == line;
}
/* Whether the line is still reserved; nothing is any longer. */
bool coh_cache_unreserve(struct coh_cache *, uint64_t line);
/* When a forward that waits for a reserved line can be taken; TIME_NEVER: none waits. */
picos coh_cache_next(const struct coh_cache *, picos now);
/* A cycle for what came by the network. True: something was done. */
bool coh_cache_cycle(struct coh_cache *, picos now);
/* Lines on which something is under way. */
bool coh_cache_busy(const struct coh_cache *);

/* The state of a line: COH_ST_I when it is not here. */
enum coh_state coh_cache_state(const struct coh_cache *, uint64_t line);
/* Between windows, for reports and tests: the state of a line, and its bytes if it is here (NULL: it is not). */
enum coh_state coh_cache_peek(const struct coh_cache *, uint64_t line, const uint8_t **bytes);
/* Between windows, for who sees memory without time: each line of [first, first + lines) whose bytes are here and
 * current is given to `see`; or all bytes of it that are here, current or not, are to be changed by it. */
typedef void coh_bytes_fn(void *ctx, uint64_t line, uint8_t *bytes);
void coh_cache_each(struct coh_cache *, uint64_t first, uint64_t lines, bool current, coh_bytes_fn *see, void *ctx);
void coh_cache_dump(const struct coh_cache *, FILE *);

#endif
