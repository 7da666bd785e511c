/* Somebody who has the GPU of a simulator, in another process (host/mps_link.h): host/live_gpu.h asks him. */
#ifndef WS_HOST_GPU_SERVER_H
#define WS_HOST_GPU_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "time/uvm/uvm_machine.h"

struct live_copy;
struct live_end;
struct live_launch;
struct live_prefetch;
struct params;
struct sim_options;

struct gpu_server {
  bool (*open)(void *, const struct params *, const struct live_launch *, const struct sim_options *, struct err *);
  void (*copy)(void *, const struct live_copy *);
  void (*prefetch)(void *, const struct live_prefetch *);
  /* What he tells of managed memory: where its pages are. Done to it. */
  struct uvm_machine *(*manage)(void *, const struct params *);
  struct uvm_host_fault (*act)(void *, const struct uvm_op *);
  /* enum live_stop; window: live_on_window's */
  int (*run)(void *, uint64_t until, bool (*window)(void *ctx, uint64_t now_ps), void *ctx);
  bool (*take)(void *, struct live_end *);
  void (*cut)(void *);
  unsigned (*count)(const void *), (*copies)(const void *);
  bool (*busy)(const void *);
  uint64_t (*now)(const void *), (*ctas_done)(const void *);
  void (*place)(void *, uint64_t addr, uint64_t bytes, bool at_host);
};

#endif
