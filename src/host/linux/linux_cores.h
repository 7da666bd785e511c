/* A Linux process on the cores of a machine, in time (time/cpu): which thread has which core, and what the operating
 * system does when a core asks.
 *
 * One thread has a core; when there are more threads than cores they take turns, first come first served. What the
 * system does takes no cycles of a core but a stated time (cpu.syscall_ns, cpu.fault_ns), and sees memory as it is at
 * the end of a window: bytes of caches, where they are newer. The process's clock is simulated time.
 *
 * Beside GPUs (linux_gpu.h): while they have work, cores run for a slice, memory gets what they have stored, GPUs
 * follow, and copies in caches get what GPUs have stored.
 */
#ifndef WS_HOST_LINUX_LINUX_CORES_H
#define WS_HOST_LINUX_LINUX_CORES_H

#include <stdio.h>

#include "config/machine_preset.h"
#include "host/linux/linux_process.h"

struct linux_cores;
struct json_out;

/* The machine must have a CPU; it and the process live as long as the cores. Time goes on from the process's clock:
 * the process has not run, or without time so far (linux_process_forward). NULL with *e filled. */
struct linux_cores *linux_cores_new(struct linux_process *, const struct machine_preset *, struct err *e);
void linux_cores_free(struct linux_cores *);

/* Where a run stops on its way, between two windows; it is the run that does not stop. */
struct linux_until {
  uint64_t ns; /* of the process's clock; UINT64_MAX: nowhere */
  bool region; /* when the next region of interest has begun */
};

/* Runs the process to its end, as linux_process_run does, or until it has come there: LINUX_STOPPED. On the caller's
 * thread: windows are of few ns, too short to share. */
enum linux_end linux_cores_run(struct linux_cores *, const struct linux_until *, struct err *e);

/* What the run was made of: a table for people; or JSON. */
void linux_cores_report(const struct linux_cores *, FILE *);
void linux_cores_json(const struct linux_cores *, struct json_out *);

#endif
