/* Pages of managed memory that go to and fro, and what the driver does about them: the rules, without what carries them
 * out (uvm_thrash.c).
 *
 *   processors   the host and the GPUs: number 0 is the host, GPU k is number k + 1. Sets of them are bits
 *   move         a copy of a page to a processor, for a fault of that one or along with it. Moves that follow each
 *                other within `lapse` count; from `uvm.thrash_threshold` of them on the page thrashes. Nobody counts
 *                pages of a block before two processors have had moves in it within a lapse
 *   nap          a fault on a page that thrashes: one processor is served, the others are put off until the nap ends,
 *                `uvm.thrash_nap` lapses. Another one is served in the next nap
 *   pin          behind `uvm.thrash_naps` of them the page stays where it is, at the processor that is served then, or
 *                where all that fight for it reach it; at once, where all of them have fast links and atomics to where
 *                it is. They are mapped there, and fault no more, for `uvm.thrash_pin` lapses
 *   revocation   a processor loses a right to a page that is reached where it is, as another one does atomics of
 *                system scope there, or writes: it counts as a move. On a page that is pinned, and from which rights
 *                were taken, naps go on: nothing else can be done
 *   forgetting   a page that thrashes and moves again after more than a lapse begins anew; of a block that was quiet
 *                for `uvm.thrash_epoch` lapses all does, `uvm.thrash_resets` times at most; so do pages that the
 *                program moves
 *   lapse        begins with `uvm.thrash_lapse_us`. Each fault on a page that thrashes which comes within it makes it
 *                longer by an eighth, up to `uvm.thrash_lapse_max_us`; naps, pins and epochs keep the first value
 *   time         of the program's clock, ps: of the host's faults and the GPUs' alike
 *   not modelled: rights that the host takes or loses; a lapse that becomes shorter (after a hundred faults at its
 *                maximum)
 *
 * Source: NVIDIA/open-gpu-kernel-modules 595.45.04, kernel-open/nvidia-uvm/uvm_perf_thrashing.c.
 */
#ifndef WS_TIME_UVM_THRASHING_H
#define WS_TIME_UVM_THRASHING_H

#include "base/arith.h"
#include "config/params.h"
#include "time/part.h"
#include "time/uvm/page_set.h"

enum { THRASH_HOST = 0, THRASH_NOBODY = -1, THRASH_PROCESSORS = 17 };

struct thrash_page {
  picos last;         /* of the last move, 0: none */
  picos nap_end;      /* 0: no nap */
  picos unpin;        /* where it is pinned: until then */
  uint32_t fighters;  /* processors that had moves or faults */
  uint32_t put_off;   /* … that wait for the nap's end */
  int8_t served;      /* in this nap; THRASH_NOBODY: whoever comes next */
  int8_t pinned;      /* there; THRASH_NOBODY: it is not */
  uint8_t moves, naps;
  bool revoked;       /* some of the moves were revocations */
};

/* Of a block of 2 MiB. */
struct thrash_block {
  struct thrash_page *page;    /* [UVM_BLOCK_PAGES]; NULL: nothing is counted yet */
  struct page_set thrashing, pins;
  picos last, last_thrashing;  /* of the last move of the block, of pages that thrash; 0: none */
  int8_t last_processor;
  uint8_t resets;
};

/* Of all blocks. */
struct thrash_rules {
  const struct params *params;
  unsigned n;         /* processors */
  uint32_t reaches[THRASH_PROCESSORS]; /* whose memory each can have mapped; its own is among them */
  uint32_t fast[THRASH_PROCESSORS];    /* … that have atomics over a fast link; its own is among them */
  /* state */
  picos lapse;
  int8_t vote;        /* for a longer lapse, where it is less than 0 */
};

void thrash_init(struct thrash_rules *, const struct params *, unsigned n);
void thrash_free(struct thrash_block *);

/* Pages of a block go to a processor for its fault, or along with one. b: *block, made where it is needed. */
void thrash_moved(struct thrash_rules *, struct thrash_block **, int to, const struct page_set *, picos now);
/* A processor loses rights to pages of a block. */
void thrash_revoked(struct thrash_rules *, struct thrash_block **, int from, const struct page_set *, picos now);
/* The program, or its advice, has moved them. */
void thrash_forget(struct thrash_block *, const struct page_set *);

enum thrash_kind { THRASH_SERVE, THRASH_PUT_OFF, THRASH_PIN };
struct thrash_hint {
  enum thrash_kind kind;
  int at;             /* THRASH_PIN: where the page is to be */
  picos until;        /* THRASH_PUT_OFF: the nap's end */
};
/* What is to be done for a fault of a processor on a page. is_at, prefers: where the page is, where the program wants
 * it; THRASH_NOBODY: nowhere, or nothing is said. */
struct thrash_hint thrash_fault(struct thrash_rules *, struct thrash_block *, unsigned page, int by, int is_at,
                                int prefers, picos now);

static inline uint32_t thrash_bit(int processor)
{
  return UINT32_C(1) << processor;
}

#endif
