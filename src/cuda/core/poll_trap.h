/* Memory that the program and kernels share, with `exec --spin strict`: what the program reads there follows from
 * simulated time alone, also when it waits for a kernel in its own code.
 *
 *   pages     Pinned and managed memory is mapped twice: for the program, and for the simulator. While something is
 *             under way the program's mapping is closed (no access).
 *   access    An access faults. The handler brings the machine to the time of its thread, opens the page, and lets the
 *             thread execute the one instruction; the trap behind it closes the page again. Any instruction will do.
 *   time      A thread's time is that of its last call. The second and every later access of one instruction to one
 *             address is a poll: host.poll_ns pass before it.
 *   buffers   After POLL_SEEN accesses to different places without a call between them the pages that a thread goes
 *             through stay open, the last POLL_PAGES of them; each takes host.poll_ns. So do those of a string
 *             instruction of more than POLL_STEPS elements. One that then spins on an open page is found by
 *             idle_watch.h, which closes it; simulated time stands meanwhile.
 *   managed   An access to a page that is on the GPU is a fault of the host, and takes what that takes (managed.h).
 *   threads   take turns (host_turns.h): the page of one is open while no other runs
 *   calls     Our own code uses the simulator's mapping where it can (host_image.h); elsewhere a fault inside of a call
 *             opens all pages until the call ends. System calls get the simulator's mapping (poll_calls.h).
 */
#ifndef WS_CUDA_POLL_TRAP_H
#define WS_CUDA_POLL_TRAP_H

#include <stdbool.h>
#include <stdint.h>

struct poll_trap;
struct shim;

enum { POLL_SEEN = 64, POLL_PAGES = 32, POLL_STEPS = 256 };

/* Of a thread. */
struct poll_thread {
  bool known;      /* `at` is */
  uint64_t at;     /* ps: its time */
  struct poll_access {
    uint64_t pc, addr;
  } seen[POLL_SEEN]; /* since its last call */
  unsigned n_seen;
  bool stepwise;    /* it was found spinning on an open page: every access counts until it calls */
  struct poll_pages {
    uint64_t page[POLL_PAGES];
    unsigned n; /* so many were put there; the last POLL_PAGES are */
  } opened, through; /* for the instruction that it executes now; that it goes through: they stay open */
  uint64_t pc;       /* of that instruction */
  unsigned steps;    /* of it: string instructions make one for each element */
  unsigned generation; /* of the pages when they were opened (poll_trap.c) */
};

/* From now on memory is mapped twice. The signals' handlers, and those of system calls. */
void poll_trap_start(struct shim *);
/* A call of this thread ends. */
void poll_trap_behind_call(struct shim *);
/* All pages are open, until the next call ends. */
void poll_trap_open(struct shim *);
/* The thread that called last spins. True: on an open page, which is closed now. */
bool poll_trap_is_spun_on(struct shim *);
/* Of an argument of a system call: where the simulator has it (host_image.h), when the machine has come to the thread's
 * time. Takes the lock. */
uint64_t poll_trap_argument(struct shim *, uint64_t addr);

#endif
