/* DRAM channel with its controller: banks, bank groups, row buffers, FR-FCFS, write draining,
 * refresh.
 *
 *   in       read and write requests of the L2 slices: up to four sectors of one line
 *   out      answers to reads, in the order of their column commands
 *   address  line of the channel, low to high: bank group bit 0, columns of a row, other bank
 *            bits, row; the bank is XORed with low row bits, so that equal offsets do not share a
 *            bank
 *   schedule per bank the oldest request that hits the open row, else the oldest; between banks
 *            the one whose command can go first, then the oldest. At most dram.row_hits_max hits
 *            in a row while an older request waits. Opens rows while other banks transfer.
 *   writes   wait in a queue of their own: drained from dram.write_high entries down to dram.write_low, and once
 *            nothing was read for dram.write_idle; sectors written in part are read first. (NVIDIA's controllers
 *            gather what L2 has to write until a threshold is reached, too, for each row: US 8,341,358.)
 *   refresh  per bank, once every dram.t.refi, the banks in turn; nothing happens for idle banks
 *            until they are used
 *   ecc      check bits among the data: bursts of theirs go with an access (time/mem/ecc_cache.h)
 *   params   dram.*, ideal.dram_bandwidth; timings are picoseconds
 *
 * A request is scheduled as one group of 32-byte bursts: the data bus is held for the bursts' time
 * at dram.efficiency of the pin rate, while their bank group is held for dram.t.ccd_l each. Groups
 * of two bank groups therefore share the bus as interleaved bursts would.
 *   replaced by memory outside of the GPU (time/mem/outer_memory.h), a channel passes on what it gets
 *   not modelled: command bus; ranks; write data forwarded to reads; power-down
 */
#ifndef WS_TIME_MEM_DRAM_H
#define WS_TIME_MEM_DRAM_H

#include "base/arena.h"
#include "config/params.h"
#include "time/mem/dram_stats.h"
#include "time/mem/ecc_cache.h"
#include "time/part.h"

enum { DRAM_MAX_BANKS = 64, DRAM_MAX_GROUPS = 16, DRAM_NIL = 0xffff, DRAM_FAW = 4 };
enum dram_dir { DRAM_READ, DRAM_WRITE, DRAM__N };

struct dram_req {
  uint64_t line; /* the requester's, comes back */
  uint64_t row;
  uint64_t seq; /* age */
  picos arrive;
  uint16_t next;
  uint8_t bank, bursts, sectors, slice; /* bursts: those of check bits, too */
  uint8_t check;                        /* bursts of check bits */
  uint8_t merge; /* reads: sectors to be written when the answer has come; 0: answered to the slice */
};

struct dram_bank {
  uint64_t row;
  bool open, conflict; /* conflict: opening this row closed another */
  uint32_t hits;       /* column commands since the row was opened */
  picos act_ready;     /* row cycle and refresh allow the next ACT */
  picos pre_ready;     /* tRAS, tRTP, tWR allow precharge */
  picos col_ready;     /* tRCD is over */
  uint16_t head[DRAM__N], tail[DRAM__N], pick[DRAM__N];
  uint16_t before[DRAM__N]; /* the request ahead of the pick */
};

struct dram_answer {
  picos at;
  uint64_t line;
  uint64_t row;
  uint8_t sectors, slice, bank, merge; /* of the request */
};

/* What the scheduler looks at of each bank: its pick's next command. */
struct dram_view {
  picos own[DRAM_MAX_BANKS];    /* as far as the bank is concerned it can go then */
  uint64_t seq[DRAM_MAX_BANKS]; /* age of the pick */
  uint8_t gate[DRAM_MAX_BANKS]; /* which of struct dram_gates it must pass */
  uint64_t banks, hits;         /* banks with requests; of those, whose pick hits the open row */
};

struct dram_command {
  picos at; /* TIME_NEVER: nothing to do */
  uint8_t bank;
};

struct outer_channel;

struct dram {
  struct outer_channel *outer; /* instead of all that follows but `answer` and `stats`; NULL: none */
  const uint32_t *t; /* params->dram_t */
  /* params */
  unsigned n_banks, n_groups, read_queue, write_queue, write_high, write_low, row_hits_max;
  unsigned column_bits, bank_bits;
  picos slot, ccd,
      extra; /* burst on the bus; bursts in one bank group; fixed part of a read's latency */
  picos write_idle;
  bool ideal; /* ideal.dram_bandwidth */
  /* state */
  struct ecc_cache ecc;
  struct dram_bank bank[DRAM_MAX_BANKS];
  picos refresh_at[DRAM_MAX_BANKS];
  struct dram_view view[DRAM__N];
  unsigned n[DRAM__N]; /* requests queued */
  unsigned n_merges, max_merges; /* lines that wait for the rest of their sectors */
  bool writing, draining, gathering; /* gathering: there is nothing to read, and writes wait for others */
  bool turned;                       /* the bus is where writes go: as `writing`, unless they gather */
  picos idle_at;                     /* they are drained then, unless a read comes */
  picos col_free[DRAM__N]; /* data bus allows a column command */
  picos group_col[DRAM_MAX_GROUPS], group_act[DRAM_MAX_GROUPS];
  picos act_free, faw[DRAM_FAW];
  unsigned faw_next;
  struct dram_command plan;
  uint64_t seq;
  struct dram_req *pool;
  uint16_t free;
  struct dram_answer *answer; /* ring */
  uint32_t answer_cap, answer_head, n_answers;
  struct dram_stats stats;
};

/* max_reads: most reads (answers outstanding), overflow: most writes accepted beyond
 * dram.write_queue, max_merges: most that wait for the rest of their sectors before a write must wait. */
void dram_init(struct dram *, struct arena *, const struct params *, unsigned max_reads,
               unsigned overflow, unsigned max_merges);

static inline bool dram_read_room(const struct dram *c)
{
  return c->n[DRAM_READ] < c->read_queue;
}

/* Room for a write-back that can wait. */
static inline bool dram_write_room(const struct dram *c)
{
  return c->n[DRAM_WRITE] < c->write_queue && c->n_merges < c->max_merges;
}

/* Queues a request. `local` is the line number inside the channel, `line` and `slice` come back. */
void dram_request(struct dram *, enum dram_dir, picos now, uint64_t local, uint64_t line,
                  unsigned sectors, unsigned slice);

/* Queues the write of sectors of which `partial` are known in part: their rest is read first. */
void dram_merge(struct dram *, picos now, uint64_t local, unsigned sectors, unsigned partial);

/* From now on somebody outside answers; the channel is idle. */
void dram_replace(struct dram *, struct outer_channel *);
/* An answer from there: they are taken by time, then by `row`, which numbers the requests. */
void dram_deliver(struct dram *, const struct dram_answer *);

/* Time of the next command or answer, TIME_NEVER when idle. */
static inline picos dram_next(const struct dram *c)
{
  picos at = c->n_answers ? c->answer[c->answer_head].at : TIME_NEVER;
  return c->plan.at < at ? c->plan.at : at;
}

/* Does what is due at `now` = dram_next(). True: a read is answered, see *answer. */
bool dram_step(struct dram *, picos now, struct dram_answer *answer);

static inline bool dram_busy(const struct dram *c)
{
  return c->n[DRAM_READ] || c->n[DRAM_WRITE] || c->n_answers;
}

/* Latency of a lone read of one sector from a closed bank, without the fixed part, ps. */
picos dram_core_latency(const struct params *);

#endif
