/* Messages between parts. Ids only, never pointers into another block. */
#ifndef WS_TIME_MSG_H
#define WS_TIME_MSG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/bug.h"
#include "isa/inst.h"
#include "time/part.h"

/* Grids that a GPU runs at a time, each in a slot of its own. CUDA programming guide, technical specifications: 128
 * (compute capability 7.5 on). */
enum { GRID_SLOTS = 128, GRID_NONE = GRID_SLOTS };

/* The granule of messages: a line and its sectors. Caches have tags of as much; none of another line is modelled
 * (params.def: l1.line, l2.line), one with shorter lines would look its parts of the sectors up. */
enum { LINE_BYTES = 128, SECTOR_BYTES = 32, SECTORS_PER_LINE = 4, WORD_BYTES = 4,
       ALL_SECTORS = (1 << SECTORS_PER_LINE) - 1 /* a mask */ };

/* Of the sectors, those of which all words are in the mask. */
static inline unsigned whole_sectors(unsigned sectors, uint32_t words)
{
  _Static_assert(SECTOR_BYTES / WORD_BYTES == 8 && SECTORS_PER_LINE == 4, "a byte of the mask for each sector");
  words &= words >> 4;
  words &= words >> 2;
  words &= words >> 1; /* now bit 8 i says it of sector i: the product has it in bit 28 + i */
  return ((words & 0x01010101) * 0x10204080) >> 28 & sectors;
}

/* Words of a line that lie wholly in its bytes [from, to). */
static inline uint32_t words_within(unsigned from, unsigned to)
{
  unsigned first = (from + WORD_BYTES - 1) / WORD_BYTES, end = to / WORD_BYTES;
  return first < end ? (uint32_t)(bits_ones(end) & ~bits_ones(first)) : 0;
}

/* Sectors in a mask of a line's sectors. */
static inline unsigned count_sectors(unsigned mask)
{
  return (unsigned)(0x4332322132212110ull >> 4 * (mask & 0xf)) & 0xf;
}

/* A line by its name in messages and caches: its address space and its number there, address / LINE_BYTES. Addresses
 * have 49 bits (base/gmem.c), so there is room: equal addresses of two spaces are different lines wherever lines are
 * compared. Local memory has names of its own above all of them, and in L1 so has memory of other nodes: a page may
 * come here while L1 still has lines of it as it was there. */
enum { LINE_SPACE_SHIFT = 44 };
#define LINE_LOCAL ((uint64_t)1 << 56)
#define LINE_ELSEWHERE ((uint64_t)1 << 57)

static inline uint64_t line_of_space(unsigned space)
{
  return (uint64_t)space << LINE_SPACE_SHIFT;
}

static inline uint64_t line_number(uint64_t line)
{
  return line & (((uint64_t)1 << LINE_SPACE_SHIFT) - 1);
}

enum req_kind {
  REQ_READ,  /* weak load of the sectors named; answered, and when they are elsewhere their bytes come before */
  REQ_WRITE, /* weak store: traffic only, its bytes travel in the SM's write log; answered */
  REQ_STRONG, /* atomic or strong access: performed at its slice for the lanes in the line; answered */
  REQ_FILL,       /* between L2 partitions: sectors asked for by REQ_READ */
  REQ_INVALIDATE, /* between L2 partitions: the copies of these sectors are old */
  REQ_CODE,    /* line of the L1 instruction cache: read as data are; answered */
  REQ_PREFETCH, /* line of code that shall be in L2; answered without data when it is */
  REQ_SERVICE, /* runtime service call: the warp is stepped on arrival; answered */
  REQ_WORK, /* CTAs that have not been launched, which the dispatcher gives away; answered */
  REQ_AGAIN, /* only as an answer: the line's page is there now, and its REQ_STRONG is to be sent again */
};

/* What a request does in L2, as Nsight Compute tells them apart (lts__t_sectors_op_*). */
#define L2_OP_LIST(X)                                                                              \
  X(READ, "read")                                                                                  \
  X(WRITE, "write")                                                                                \
  X(ATOM, "atom") /* returns the old value */                                                      \
  X(RED, "red")   /* returns nothing */                                                            \
  X(CODE, "code") /* read for instruction caches: op_read there, of another unit than L1 */

enum l2_op {
#define X(id, name) L2_OP_##id,
  L2_OP_LIST(X)
#undef X
  L2_OP__N
};

extern const char *const l2_op_name[L2_OP__N]; /* time/mem/l2_stats.c */

/* Core -> memory side. */
struct mem_req {
  picos arrive;
  uint64_t line;  /* space and number: line_of_space */
  uint64_t local; /* line number inside its slice; the crossbar fills it in, and marks it in answers of far homes */
  uint16_t txn;   /* transaction id of the sender, comes back in the reply */
  uint16_t from;  /* requester: number of the core */
  uint8_t kind;    /* enum req_kind */
  uint8_t sectors; /* mask of the line's sectors */
  uint8_t op;      /* enum mem_op; REQ_STRONG: what is performed */
  uint8_t wide;             /* atomics: updates of 64 bits */
  uint8_t repeats : 7;      /* … most of one word */
  uint8_t floats : 1;       /* … that add floating point */
  uint8_t grid;    /* slot of the grid it is sent for; GRID_NONE: code, which grids share */
  uint8_t scope;   /* enum mem_scope; REQ_STRONG: whom it is ordered with */
  uint8_t to;      /* where its memory is: node of the machine + 1 (base/place.h); 0: here */
  uint32_t words;  /* stores: words of the line that are written whole; reductions of the copy engine: the piece of
                      the copy; REQ_READ of memory elsewhere: the miss in L1 that waits for it */
};
_Static_assert(sizeof(struct mem_req) == 40, "queues hold thousands: no more host lines than needed");

/* Read through the near partition, which may have a copy. */
static inline bool mem_req_is_weak_read(unsigned kind)
{
  return kind == REQ_READ || kind == REQ_CODE || kind == REQ_PREFETCH;
}

static inline bool mem_op_writes(unsigned op)
{
  return op == MEM_STORE || op == MEM_ATOMIC || op == MEM_RED;
}

/* Bytes that it takes to its slice: a read brings none, strong or not. */
static inline unsigned mem_req_data_bytes(unsigned kind, unsigned op, unsigned sectors)
{
  const bool data = kind == REQ_WRITE || (kind == REQ_STRONG && mem_op_writes(op));
  return data ? count_sectors(sectors) * SECTOR_BYTES : 0;
}

/* Weak requests and strong ones alike. */
static inline enum l2_op mem_req_op(unsigned kind, unsigned op)
{
  static const uint8_t of[] = {[MEM_LOAD] = L2_OP_READ, [MEM_STORE] = L2_OP_WRITE, [MEM_ATOMIC] = L2_OP_ATOM,
                               [MEM_RED] = L2_OP_RED, [MEM_LDGSTS] = L2_OP_READ, [MEM_LDSM] = L2_OP_READ};
  if (kind == REQ_CODE || kind == REQ_PREFETCH) return L2_OP_CODE;
  return kind == REQ_READ ? L2_OP_READ : kind == REQ_WRITE ? L2_OP_WRITE : (enum l2_op)of[op];
}

/* Memory side -> SM. */
struct mem_reply {
  picos arrive;
  uint64_t line;
  uint16_t txn;
  uint8_t kind;
  uint8_t sectors;
  bool far; /* of a line at home in the other partition of L2 */
};

/* Those that the memory side's serial part serves, in no slice. */
static inline bool mem_req_is_service(unsigned kind)
{
  return kind == REQ_SERVICE || kind == REQ_WORK;
}

enum probe_kind {
  PROBE_SHARE,      /* another core reads: what is dirty is given back, copies may stay */
  PROBE_INVALIDATE, /* another core writes: copies go */
};

/* Memory side -> core, which answers with one: the third channel (time/noc/probe_net.h). */
struct probe {
  picos arrive;
  uint64_t line;   /* as in mem_req */
  uint16_t core;   /* that is asked, that answers */
  uint8_t kind;    /* enum probe_kind */
  uint8_t sectors; /* asked for; in an answer: of those, the dirty ones it gives back */
};

/* Dispatcher -> SM. */
struct cta_launch {
  picos arrive;
  uint64_t cta;
  uint32_t grid;     /* its slot */
  bool announced;    /* not the CTA yet, but that the grid has started: `cta` is a share of what that takes */
  uint32_t carveout; /* bytes of the L1 array that are shared memory; only changes while the SM is empty */
};

/* SM -> dispatcher. */
struct cta_done {
  picos arrive;
  uint64_t cta;
  uint32_t grid; /* its slot */
};

/* SM -> SM-to-SM network and back. */
enum cluster_kind {
  CLUSTER_ACCESS, /* transaction txn is to be performed; answered */
  CLUSTER_ARRIVE, /* all threads of the CTA have arrived at the barrier of its cluster */
  CLUSTER_EXIT,   /* … have exited */
};

struct cluster_msg {
  picos arrive;
  uint64_t cta;
  uint32_t grid; /* its slot */
  uint16_t txn;
  uint8_t kind;  /* enum cluster_kind */
};

/* SM -> translation of the GPU and back (time/mem/mmu.h). */
struct page_msg {
  picos arrive;
  uint64_t page; /* page_tables_page */
  bool walked;   /* an answer: page tables were read for it */
};

/* First-in first-out queue of one sender and one receiver. The sender fills it while it runs, the
 * receiver empties it in a later window: the two never touch it at once. Capacity is fixed when
 * built; its owner guarantees the bound. */
#define QUEUE(name, type)                                                                          \
  struct name {                                                                                    \
    type *slot;                                                                                    \
    uint32_t cap, head, n; /* cap is a power of two */                                             \
    picos *wake;           /* the receiver's next event; NULL: it looks every window */            \
  };                                                                                               \
  static inline void name##_push(struct name *q, type m)                                           \
  {                                                                                                \
    BUG_ON(q->n == q->cap);                                                                        \
    q->slot[(q->head + q->n++) & (q->cap - 1)] = m;                                                \
    if (q->wake && m.arrive < *q->wake) *q->wake = m.arrive;                                       \
  }                                                                                                \
  static inline type *name##_front(struct name *q)                                                 \
  {                                                                                                \
    return q->n ? &q->slot[q->head] : NULL;                                                        \
  }                                                                                                \
  static inline void name##_pop(struct name *q)                                                    \
  {                                                                                                \
    q->head = --q->n ? (q->head + 1) & (q->cap - 1) : 0; /* the same few slots stay in the cache */ \
  }                                                                                                \
  static inline bool name##_full(const struct name *q)                                             \
  {                                                                                                \
    return q->n == q->cap;                                                                         \
  }

QUEUE(req_queue, struct mem_req)
QUEUE(reply_queue, struct mem_reply)
QUEUE(probe_queue, struct probe)
QUEUE(launch_queue, struct cta_launch)
QUEUE(done_queue, struct cta_done)
QUEUE(cluster_queue, struct cluster_msg)
QUEUE(page_queue, struct page_msg)

#define QUEUE_INIT(q, arena, type, capacity)                                                       \
  do {                                                                                             \
    (q)->cap = (capacity);                                                                         \
    BUG_ON((q)->cap &((q)->cap - 1));                                                              \
    (q)->slot = ARENA_ARRAY((arena), type, (q)->cap);                                              \
    (q)->head = (q)->n = 0;                                                                        \
  } while (0)

#endif
