/* A machine of several GPUs whose GPUs are simulated by several processes, its ranks (base/ranks.h, decision 17).
 * Each runs the same program and has all of the machine: sockets, links, and every GPU with its launches. But the
 * windows of a GPU pass in one rank alone; in others it stands as that one says (time/gpu/gpu.h), sends what it has
 * sent there, and ends its launches and copies as they have ended there.
 *
 *   owner    members of the machine in the order of nodes, one to each rank in turn
 *   epochs   behind each all ranks meet: messages that GPUs have sent, with their bytes, what they took, how they
 *            stand, what their kernels printed. Then links and sockets go on, alike in all ranks
 *   ahead    where GPUs of one rank alone have something to do, it goes on without the others, which hear of all these
 *            epochs at once; where none has, all go on
 *   memory   what the host has is alike in all ranks. That of a GPU has its bytes in its own rank alone
 *   program  its addresses are not those of other ranks: copies name its memory by windows, which all number alike
 *   results  of launches are told when they are taken
 */
#ifndef WS_HOST_RANKED_H
#define WS_HOST_RANKED_H

#include "base/program_memory.h"
#include "base/ranks.h"
#include "config/machine_preset.h"
#include "host/positions.h"
#include "time/gpu/gpu.h"
#include "time/machine/machine.h"

struct fabric;

enum { RANKED_PAGE = 4096 };

/* A GPU of the program, where its simulator has it (host/simulator.h). */
struct ranked_member {
  unsigned node;
  struct gpu *const *gpu;       /* NULL there: it is not made */
  const unsigned *open, *n_open; /* slots of its launches */
};

/* What kernels print: of a GPU, since the last call (the text is good until then); all of it, in the order in which one
 * process has it. */
struct ranked_output {
  void *ctx;
  size_t (*take)(void *ctx, unsigned node, const char **text);
  void (*give)(void *ctx, const char *text, size_t bytes);
};

/* Memory of the program that a copy names. */
struct ranked_window {
  uint64_t first, bytes; /* of the window */
  uint64_t at;           /* here */
};

struct ranked {
  struct ranks *ranks;
  struct ranked_member member[MACHINE_MAX_GPUS]; /* by node */
  unsigned n_members;
  struct machine_ranks machine;
  struct ranked_output output;
  struct program_memory program;
  struct ranked_window *window;
  uint32_t n_windows, room_windows;
  uint64_t next_window;
  /* Of the epoch: domains that have something to do, and whose they are. */
  unsigned awake[MACHINE_MAX_GPUS], n_awake;
  int alone;
  unsigned ahead; /* epochs of which others have not heard */
  struct rank_bytes heard; /* from one that has gone ahead, of epochs that did not come yet */
};

/* The members, in the order of nodes; none has a GPU yet. */
struct ranked *ranked_new(struct ranks *, const struct ranked_member *, unsigned n, const struct ranked_output *);
void ranked_free(struct ranked *);

/* Whether windows of the GPU at this node pass here. NULL: there are no ranks. */
bool ranked_mine(const struct ranked *, unsigned node);

/* A copy names memory of the program, `bytes` from `at` on: by this address. How it lies in its page, `offset`, is
 * alike in all ranks. */
uint64_t ranked_open_window(struct ranked *, uint64_t at, uint64_t bytes, unsigned offset);
void ranked_close_window(struct ranked *, uint64_t first);
/* Links are there, with nothing on them. */
void ranked_watch(struct ranked *, struct fabric *);

/* The machine stands. How the launches of all members stand becomes known to all, and their copies that have ended. */
void ranked_share_ends(struct ranked *);
/* How a launch went: before its result is collected. `whole`: with counters of the GPU, which stand. */
void ranked_share_launch(struct ranked *, unsigned node, unsigned slot, bool whole);

/* How the run ended for a member: what gpu_finish says where it is, in which slot the fault was (GPU_SLOTS: in none),
 * where its warps were. */
struct ranked_finish {
  uint32_t end, slot; /* end: enum run_end */
  struct fault fault; /* without its source */
};
void ranked_share_finish(struct ranked *, unsigned node, struct ranked_finish *, struct positions *where);

#endif
