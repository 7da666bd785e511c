/* What stands around the GPUs of simulators: links and switches of their machine, the sockets of the host with their
 * memory, which pages lie where; and one clock for all. Without a machine preset it is what the GPU's own keys pcie.*
 * mean (docs/machines.md).
 *
 *   members   simulators that have joined, each a node. A GPU is made when it is needed: for a launch or a copy of its
 *             own, or when a message of another one comes; results do not depend on when. All go together, when a
 *             launch of one has failed
 *   threads   domains run in turn, each with all host threads: what launches call outside, services and watchers, is
 *             not for several at once
 */
#ifndef WS_HOST_SURROUNDINGS_H
#define WS_HOST_SURROUNDINGS_H

#include "base/place.h"
#include "config/topology.h"
#include "host/live_clock.h"
#include "time/link/link_log.h"
#include "time/mem/host_gate.h"
#include "time/mem/host_mem.h"

struct l2_rights;
struct machine;
struct page_tables;
struct ranked;
struct simulator;

struct surroundings {
  const struct machine_preset *preset;
  const struct topology *topology;
  struct machine_preset own; /* without a machine */
  struct arena arena;        /* its topology */
  struct host_mem host[MACHINE_MAX_SOCKETS];
  struct link_log links;     /* what they carried */
  struct fabric *fabric;     /* NULL: there are no GPUs now */
  struct host_gate *gate;    /* of the first socket, whose memory CPUs have in caches; NULL: nobody has */
  struct part part[3];       /* the gate, if there is one, the fabric, then managed memory of several GPUs */
  uint64_t *drivers;         /* ps: next event of the part of managed memory; NULL: there is no machine, or one GPU */
  struct machine *machine;   /* of all GPUs that are there */
  uint64_t ahead;            /* ps: one of several GPUs may be so far ahead of others */
  bool cold;                 /* they were made so */
  struct simulator *run;     /* began the run under way, at `begun`, ps of the machine's clock; NULL: none */
  uint64_t begun;
  void (*woken)(struct simulator *); /* a GPU comes into that run */
  struct live_clock clock;
  uint64_t epoch;            /* ps, of the machine; 0: as long as links allow, which changes no result */
  struct places *places[MACHINE_MAX_GPUS]; /* by node, as each sees memory; NULL: every page is own to whoever looks */
  bool places_of_another;    /* they are another simulator's of the same GPU (simulator_beside) */
  struct uvm_machine *managed; /* managed memory of its GPUs; NULL: none */
  struct simulator *member[MACHINE_MAX_GPUS]; /* by node; NULL: none */
  struct gmem *image[MACHINE_MAX_GPUS];       /* memory as each sees it */
  struct span_list *written;                  /* gets what GPUs change in any memory; NULL: nobody looks */
  struct l2_rights *rights;                   /* CPUs in time with the GPU, which is alone then; NULL: none */
  bool rights_at_host;                        /* on the socket's memory; else on the GPU's */
  struct page_tables *tables;                 /* of a CPU on its memory, which the GPU walks; NULL: none */
  struct ranked *ranked;                      /* several processes have its GPUs (host/ranked.h); NULL: this one */
  const struct program_memory *program;       /* of the host (time/mem/host_mem.h); NULL: this process */
};

/* NULL, NULL: the machine that these params mean. Preset and topology live as long as it does. */
struct surroundings *surroundings_new(const struct machine_preset *, const struct topology *, const struct params *);
/* All members have joined, and no GPU is there: their GPUs are in several processes, of which this is one. */
struct ranks;
struct ranked_output;
void surroundings_rank(struct surroundings *, struct ranks *, const struct ranked_output *);
/* Its members are gone. NULL: nothing. */
void surroundings_free(struct surroundings *);

/* The machine, of this member's GPU (simulator.gpu) with copy engines and ports; others come when they are needed. */
void surroundings_build(struct surroundings *, struct simulator *, unsigned threads, bool cold);
/* A GPU comes, into the run under way or before one. No effect where it is there. */
void surroundings_wake(struct surroundings *, struct simulator *);
/* The machine goes, with all that is on its way; the GPUs are the members'. */
void surroundings_clear(struct surroundings *);

/* The next member with a GPU from *cursor on, which begins with 0; NULL: there is none. */
struct simulator *surroundings_next(const struct surroundings *, unsigned *cursor);
/* The same, with a GPU or without. */
struct simulator *surroundings_next_member(const struct surroundings *, unsigned *cursor);
/* The socket whose memory is nearest. */
uint16_t surroundings_socket(const struct surroundings *, unsigned node);
/* Bytes that a copy between two nodes has on the way at most. */
uint64_t surroundings_window(const struct surroundings *, unsigned from, unsigned to);
/* Pages are at this node for all GPUs (places_set). */
void surroundings_place(struct surroundings *, uint64_t addr, uint64_t bytes, int node);
/* Managed memory of all members, from now on. */
struct uvm_machine *surroundings_manage(struct surroundings *);
/* The driver of a member's GPU; NULL: there is no managed memory. */
struct uvm *surroundings_driver(const struct surroundings *, const struct simulator *);
/* From the start of a copy from or to the host to its first byte, as far as it is not the way there and back, ps. */
uint64_t surroundings_setup_ps(const struct surroundings *, const struct params *, unsigned node);

#endif
