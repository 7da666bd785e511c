/* What a program, its streams and the SMs of its GPUs do and when, as a trace for Perfetto (perfetto.h).
 *
 *   tracks   calls of each thread of the program; graphs; of each GPU its streams, with kernels, copies, fills and
 *            events, its copy engines, its SMs: the CTAs in their slots, and warp slots with what chosen warps wait for
 *   times    ps of the program, of which the file shows each `unit` as a nanosecond: 1000 shows what they are, the SM's
 *            clock period shows cycles
 *   rows     what overlaps on a track (branches of a graph in one stream, kernels that were simulated one behind the
 *            other and still ran at the same time in one slot) goes to further rows of it
 *
 *   struct activity *a = activity_new(&choice, &params, 1, unit);
 *   options.observers = activity_observers(a, 0);    of a simulator that is freed before
 *   activity_begin(a, 0, start);                     before each run: when it begins, ps of the program
 *   simulate(…);
 *   activity_ran(a, source, &kernel);                for each of its launches
 *   activity_write(a, f);
 */
#ifndef WS_HOST_ACTIVITY_H
#define WS_HOST_ACTIVITY_H

#include "config/params.h"
#include "host/activity_choice.h"
#include "host/timeline.h"

struct activity;
struct simulator;
struct sm_stay_list;

/* Of n GPUs. What is of a GPU takes its number, from 0. */
struct activity *activity_new(const struct activity_choice *, const struct params *const *, unsigned n,
                              uint64_t unit_ps);
void activity_free(struct activity *);
/* Before anything is told it: one of several of the same GPU, with this number, whose files one behind the other are a
 * file, too. Groups have the name, "client 1: ", in front; it is the caller's as long as this is there. */
void activity_one_of(struct activity *, uint32_t number, const char *name);
const struct sim_observers *activity_observers(const struct activity *, unsigned gpu);

/* A call of the program's thread `thread`, any number that tells it from others. */
void activity_call(struct activity *, uint64_t thread, const char *name, uint64_t begin, uint64_t end);

/* A copy or a fill, or what happens at one moment: an event, a callback (bytes 0, end == begin). */
struct activity_op {
  const char *name;
  unsigned gpu;
  uint64_t stream, bytes, begin, end;
  enum timeline_engine engine;
};
void activity_operation(struct activity *, const struct activity_op *);

struct activity_kernel {
  const char *name;
  unsigned gpu;
  uint64_t stream, number, begin, end; /* number: of the launch, from 1 */
  const uint32_t *grid, *block;
  bool timed;
  uint64_t cycles;
};
void activity_kernel(struct activity *, const struct activity_kernel *);
void activity_graph(struct activity *, uint64_t stream, uint64_t begin, uint64_t end);

/* One direction of a link of a machine: bytes in each of n steps of so many ps, from 0; how long a byte takes it. */
struct activity_link {
  const char *name;
  uint64_t width, femtos_per_byte;
  const uint64_t *step;
  unsigned n;
};
void activity_link(struct activity *, const struct activity_link *);

void activity_begin(struct activity *, unsigned gpu, uint64_t start);
/* The same of a run of launches and copies (host/live_gpu.h), which may stand for a while: its own clock says when. */
void activity_begin_live(struct activity *, unsigned gpu, const struct simulator *);
/* CTAs that have not ended do so at the kernel's end. */
void activity_ran(struct activity *, const struct step_source *, const struct activity_kernel *);
/* Of one that was in a simulator of another process, which tells what its SMs did. */
void activity_stayed(struct activity *, const struct sm_stay_list *, const struct activity_kernel *);

/* Whether there are CTAs in it, on the SMs and in the time that were chosen. */
bool activity_has_ctas(const struct activity *);
/* What did not fit. */
uint64_t activity_lost(const struct activity *);
void activity_write(const struct activity *, FILE *);

#endif
