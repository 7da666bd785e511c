/* The netlist: creates every block of the GPU and connects their ports. Nothing else sees all
 * blocks. */
#ifndef WS_TIME_GPU_NETLIST_H
#define WS_TIME_GPU_NETLIST_H

#include "time/gpu/dispatcher.h"
#include "time/mem/mem_side.h"
#include "time/part.h"
#include "time/sm/sm.h"

enum { SERIAL_MEM_SIDE, SERIAL_DISPATCHER, SERIAL__N };

struct netlist {
  struct arena arena;
  unsigned n_sms;
  struct sm *sm;
  struct mem_side mem;
  struct dispatcher dispatcher;
  struct part *sm_part; /* n_sms */
  struct part serial[SERIAL__N];
};

void netlist_build(struct netlist *, const struct params *);
void netlist_free(struct netlist *);

/* Gives every sub-core a hazard checker. */
void netlist_check_hazards(struct netlist *, const struct params *);

/* Laws between blocks, checked at the end of a kernel. */
bool netlist_check_laws(const struct netlist *, const struct sm_stats *sum, struct err *);

#endif
