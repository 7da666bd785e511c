/* The GPUs of the machine, as the program has them: devices 0 to n - 1, those that CUDA_VISIBLE_DEVICES leaves.
 * Without a machine (exec --machine) there is one.
 *
 *   memory   Each GPU has its own image: its page table. Device memory of each lies at addresses of its own, host
 *            memory is in all of them at the same address. What a GPU may reach of another's is in its image, too
 *            (peer_access.h); anything else faults there, as it does where there is nothing.
 *   contexts A context is on one GPU; those of one GPU share its memory, default stream and modules.
 *   time     Each has a simulator. Where kernels share the GPUs, those of a machine stand in one (host/surroundings.h):
 *            they have one clock and reach each other's memory over its links.
 */
#ifndef WS_CUDA_BOARD_H
#define WS_CUDA_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/core_set.h"
#include "config/machine_ports.h"
#include "config/presets.h"
#include "config/mig.h"
#include "config/topology.h"
#include "cuda/core/launch_watch.h"
#include "cuda/core/process.h"
#include "cuda/core/streams.h"
#include "host/device.h"
#include "host/timeline.h"

struct context;
struct context_turns;
struct kernel_turn;
struct pool;
struct shim;
struct sim_observers;
struct simulator;
struct surroundings;

enum { BOARDS_MAX = MACHINE_MAX_GPUS };

/* A set of GPUs: a bit each. */
typedef uint32_t board_mask;

struct board {
  struct shim *shim;
  unsigned number; /* the program's */
  unsigned node;   /* of the machine */
  struct preset preset;
  struct device device;
  struct simulator *simulator;
  struct context_turns *turns; /* between its contexts (context_turns.h); NULL: there is one, or they take none */
  struct timeline time;      /* its copies, and kernels without time; the host's clock is the shim's */
  struct launch_watch watch; /* of kernels that share it */
  struct kernel_turn *turn;  /* its kernel, where they take turns (kernel_turns.h); NULL: none */
  struct kernel_turn *spare; /* one that has ended, with its stack, for the next one; NULL: none */
  struct context *primary;   /* NULL: none yet */
  struct stream legacy;      /* its default stream */
  const struct core_set *cores; /* on which its kernels run, unless a green context says other ones; NULL: all */
  unsigned queues;           /* hardware queues given out, one after the other */
  struct command *gone, *left; /* held: behind what was given to blocking streams, to any streams that are gone */
  uint64_t bytes;            /* of its memory, allocated */
  uint64_t graph_bytes[4];   /* of graphs, by CUgraphMem_attribute (graph_memory.h) */
  struct device_print print; /* of its kernels, where several processes have GPUs (board_ranks.h) */
  board_mask reach;          /* whose memory its kernels reach (peer_access.h) */
  struct pool *pool, *pool_now; /* its default pool, once it was asked for; the one in use, NULL: that one */
};

/* An instance that a GPU of the machine is cut into. */
struct board_instance {
  unsigned node, number; /* of the GPU; among its instances, from 0 */
  struct mig_instance is;
};

/* All of them, and how they are joined. */
struct boards {
  struct board *of; /* by number */
  unsigned n;
  unsigned page_bits; /* of all images */
  struct machine_preset machine;
  struct board_instance mig[BOARDS_MAX * MIG_MAX_INSTANCES]; /* GPU by GPU; the machine's params are whole GPUs' */
  unsigned n_mig;                /* 0: all GPUs are whole */
  int instance;                  /* the program's, its only device then; -1: none */
  struct topology *topology;
  struct surroundings *surroundings; /* that all stand in; NULL: none, or each in its own */
  struct arena arena;
};

/* Which GPUs there are: the machine, its instances, its topology, of one GPU its preset. Makes nothing that a child
 * which is forked could not have, too. */
bool boards_learn(struct shim *, struct err *e);
/* Behind that, for who asks before they are started: what the options change of a machine's GPUs (of one GPU, and of
 * those that are started, it is known). */
bool boards_learn_changes(struct shim *, struct err *e);
/* Behind boards_learn: makes those that the program sees, with memory and simulators. None is left
 * (CUDA_VISIBLE_DEVICES, as it is then): n is 0. */
bool boards_start(struct shim *, struct err *e);

/* NULL: there is no such device. */
struct board *board_at(const struct shim *, int number);
/* In whose image the byte is, first that of the GPU whose memory has the address; device 0: in none. */
struct board *board_of(const struct shim *, uint64_t addr);
/* Its image. */
struct gmem *board_memory(const struct shim *, uint64_t addr);

static inline board_mask board_bit(const struct board *b)
{
  return (board_mask)1 << b->number;
}

static inline board_mask boards_all(const struct boards *b)
{
  return (board_mask)((UINT64_C(1) << b->n) - 1);
}

/* Bytes of a page. */
uint64_t boards_page(const struct shim *);
/* What the program reads as its name; total memory, bytes; PCI address ("0000:01:00.0"). */
uint64_t board_memory_bytes(const struct board *);
const char *board_pci_address(const struct board *, char text[MACHINE_PCI_TEXT]);
unsigned board_pci_bus(const struct board *);
/* NULL: no device has it. */
struct board *board_by_pci(const struct shim *, const char *text);
/* The program's GPU at this node of the machine; NULL: it does not see it, or there is none. */
struct board *board_at_node(const struct shim *, int node);
/* What the report calls the machine. */
/* The preset of one of them. */
const char *board_preset_name(const struct board *);
const char *boards_name(const struct shim *);
/* Whether kernels of the one can reach memory of the other over the machine's links; whether all atomics do; the links'
 * rate (bytes per second) and latency (ps) from the one to the other. */
bool boards_are_peers(const struct shim *, const struct board *from, const struct board *to);
bool boards_have_atomics(const struct shim *, const struct board *from, const struct board *to);
uint64_t boards_rate(const struct shim *, const struct board *from, const struct board *to);
uint64_t boards_latency(const struct shim *, const struct board *from, const struct board *to);
/* Whether multicast objects may have its memory: behind switches that send to several, where kernels of all GPUs run as
 * they come (not under tools that look at one launch at a time). */
bool board_has_multicast(const struct board *);
/* Whether the GPU's atomics on memory of its host are those of the host. */
bool board_has_host_atomics(const struct board *);

/* Kernels and copies of all GPUs reach these pages, whole ones of 4 KiB, at this GPU; at its host. */
void board_place(struct board *, uint64_t addr, uint64_t bytes);
void board_place_at_host(struct board *, uint64_t addr, uint64_t bytes);
/* … at all GPUs of a multicast object. */
void boards_place_multicast(struct shim *, uint64_t addr, uint64_t bytes);
/* … each as if they were its own. */
void board_place_nowhere(struct board *, uint64_t addr, uint64_t bytes);
/* While kernels run on any of them, memory that is released keeps its pages (base/gmem.h). */
void boards_keep_pages(struct shim *);

/* Who watches its SMs for the file of --timeline; NULL: nobody. */
const struct sim_observers *board_observers(const struct board *);

#endif
