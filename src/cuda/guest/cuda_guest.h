/* CUDA for a program on a simulated CPU (docs/rv64.md): its calls, which trap (host/linux/linux_gpu.h), are those of
 * the interfaces here, of the same core. What lies between is marshalling: guest_calls.def says of every entry point
 * which of its arguments are numbers, addresses of the program, structures and texts in its memory, handles.
 *
 *   memory    an address of the program is a number here: it is looked up in the process's address space, with its
 *             rights, and never used as a host pointer. A call that names memory which the program may not touch is a
 *             fault of the program, as a store or a load there
 *   handles   the program gets numbers, which are looked up (guest_handles.h)
 *   threads   all of the process's threads call on one thread of the host; each has its own state (struct thread)
 *   time      the process's clock is the shim's: a call begins at the process's time, and what it takes is added to
 *             that. While GPUs work they follow the process in slices of the latency between SM and L2
 *   waiting   a call that waits lets the process's other threads go on meanwhile
 */
#ifndef WS_CUDA_GUEST_CUDA_GUEST_H
#define WS_CUDA_GUEST_CUDA_GUEST_H

#include <stdbool.h>

#include "base/gmem.h"
#include "config/cpu_params.h"
#include "host/linux/linux_gpu.h"
#include "host/linux/linux_process.h"

struct guest_program;

struct guest_setup {
  struct gmem *image;  /* of the process */
  const char *options; /* KEY=VALUE lines (cuda/core/options.h) */
  bool in_time;        /* the process's cores are, or will be (host/linux/linux_cores.h) */
  uint32_t memory;     /* enum cpu_memory: whose memory CPU and GPU see */
  const struct cpu_params *cpu; /* of the machine; NULL: it has none */
};

/* Once in a process of the host. GPUs come up with the first call that needs them. */
struct guest_program *guest_new(const struct guest_setup *);
/* For linux_options.gpu. */
const struct linux_gpu *guest_gpu(struct guest_program *);
/* The process, before it runs. */
void guest_attach(struct guest_program *, struct linux_process *);
/* What is told with GPUs in their reports; lives as long as they are used. */
struct program_report;
void guest_report(struct guest_program *, const struct program_report *);
/* It has ended, by itself: GPUs do what they were given, reports are written. What its exit status becomes. */
int guest_finish(struct guest_program *, int status);
/* Whether reports were, or will be: GPUs came up. */
bool guest_reports(const struct guest_program *);
/* GPUs are not used any more. */
void guest_free(struct guest_program *);

/* Across a checkpoint (docs/checkpoints.md), while the program's thread does not call. Before it; false: what was asked
 * for cannot be saved, *e says what. Behind it, in a process that has none of its threads and streams. */
bool guest_keep(struct guest_program *, struct err *e);
void guest_open_again(struct guest_program *, unsigned threads);

#endif
