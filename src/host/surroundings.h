/* What stands around the GPU of a simulator: the links of its machine, the sockets of the host with their memory, and
 * which pages lie there. Without a machine preset it is what the GPU's own keys pcie.* mean (docs/machines.md).
 *
 *   struct surroundings *x = surroundings_new(&params);
 *   surroundings_build(x, &params, threads, &gpu, &machine);    … surroundings_clear(x) before these go
 */
#ifndef WS_HOST_SURROUNDINGS_H
#define WS_HOST_SURROUNDINGS_H

#include "base/place.h"
#include "config/topology.h"
#include "time/mem/host_mem.h"

struct gpu;
struct machine;

struct surroundings {
  struct machine_preset preset;
  struct arena arena;
  struct topology *topology;
  struct host_mem host[MACHINE_MAX_SOCKETS];
  struct fabric *fabric; /* NULL: there is no GPU now */
  struct part part;      /* it is */
  struct places *places; /* NULL: all pages are the GPU's own */
  uint16_t node, socket; /* of the GPU; of the host's memory that is nearest */
};

struct surroundings *surroundings_new(const struct params *);
/* Behind surroundings_clear. NULL: nothing. */
void surroundings_free(struct surroundings *);

/* A GPU with its copy engines and ports, in a machine of its own. */
void surroundings_build(struct surroundings *, const struct params *, unsigned threads, struct gpu **,
                        struct machine **);
/* That GPU goes, with all that is on its way to it. */
void surroundings_clear(struct surroundings *);
/* The guest memory whose pages lie at the sockets, too; between windows. */
void surroundings_image(struct surroundings *, struct gmem *);

/* The pages of [addr, addr + bytes), whole ones of 4 KiB, lie at the host, or here (again). Between windows. */
void surroundings_place(struct surroundings *, uint64_t addr, uint64_t bytes, bool at_host);

/* From the start of a copy over links to its first byte, as far as it is not the way there and back, ps. */
uint64_t surroundings_setup_ps(const struct surroundings *, const struct params *);

#endif
