/* The program's clock beside that of the GPUs of one machine, while launches and copies come and go (live_gpu.h). All
 * times are ps. GPUs' clocks run on behind a run; in each run they are ahead of the program's by `skew`, and they stand
 * while somebody else has the GPU (live_stand) and the program's clock goes on.
 */
#ifndef WS_HOST_LIVE_CLOCK_H
#define WS_HOST_LIVE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct live_clock {
  bool running;   /* a run is under way, of all simulators that have this clock */
  uint64_t skew;  /* GPUs' clocks are ahead of the program's by so much in this run */
  uint64_t start; /* of the program's clock: the run began */
  uint64_t stood; /* for how long GPUs have stood in this run */
  struct live_stood {
    uint64_t at, stood; /* when, of the GPUs' clock; `stood` from then on */
  } *stand;
  uint32_t n_stands, room_stands;
  bool (*window)(void *ctx, uint64_t now_ps); /* live_on_window */
  void *window_ctx;
};

void live_clock_free(struct live_clock *);
/* A run begins at `start` of the program's clock, when the GPUs' clock says `gpu`. */
void live_clock_begin(struct live_clock *, uint64_t start, uint64_t gpu);
/* GPUs stand from `from` to `until` of the program's clock; from is less, and no earlier than where they stood last. */
void live_clock_stand(struct live_clock *, uint64_t from, uint64_t until);
/* For how long GPUs had stood when their clock was at `gpu`; first: before they stood there, too. */
uint64_t live_clock_stood_at(const struct live_clock *, uint64_t gpu, bool first);

/* The program's clock when the GPUs' is at `gpu` and they have stood for `stood`. */
static inline uint64_t live_clock_program(const struct live_clock *k, uint64_t gpu, uint64_t stood)
{
  return gpu + stood > k->skew ? gpu + stood - k->skew : 0;
}

/* The same, when they have stood for as long as live_clock_stood_at says. */
static inline uint64_t live_clock_program_at(const struct live_clock *k, uint64_t gpu, bool first)
{
  return live_clock_program(k, gpu, live_clock_stood_at(k, gpu, first));
}

/* GPUs' clock at a time of the program's to come. */
static inline uint64_t live_clock_gpu(const struct live_clock *k, uint64_t at)
{
  return at + k->skew > k->stood ? at + k->skew - k->stood : 0;
}

#endif
