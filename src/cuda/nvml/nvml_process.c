/* NVML: which processes have the GPU. NVML API reference, "Device queries", nvmlDeviceGetComputeRunningProcesses and
 * its kin. Of processes that have GPUs of their own, this one is known; clients of the Multi-Process Service (exec
 * --share mps) know each other.
 */
#include <stdbool.h>
#include <unistd.h>

#include "cuda/core/mps.h"
#include "cuda/core/visible_boards.h"
#include "cuda/nvml/nvml_call.h"

enum { MOST = 64 };
_Static_assert((int)MOST >= (int)MPS_MOST_SEEN, "room for all clients");

#define NOT_AVAILABLE UINT64_MAX
#define NO_INSTANCE   UINT32_MAX

/* Of one of the calls: what it lists. */
struct listing {
  nvmlProcessInfo_v1_t of[MOST];
  unsigned n;
  bool known;       /* in an instance of the GPU */
  unsigned instance;
};

static void add(struct listing *l, unsigned pid, unsigned long long bytes)
{
  l->of[l->n++] = (nvmlProcessInfo_v1_t){.pid = pid, .used = bytes};
}

static bool has_context(const struct shim *s, const struct board *b)
{
  const struct context *c = s->contexts.first;
  while (c && c->board != b) c = c->next;
  return c;
}

/* Without the service: this process, when it has a context or memory there. With it the server, whose own memory nobody
 * knows. */
static struct listing computing(const struct shim *s, unsigned gpu)
{
  const struct board *b = board_at_node(s, (int)gpu);
  const int own = s->boards.instance;
  struct listing l = {.known = own >= 0, .instance = own >= 0 ? s->boards.mig[own].number : 0};
  if (!b) return l;
  if (s->mps) add(&l, mps_server_process(s), NOT_AVAILABLE);
  else if (b->bytes || has_context(s, b)) add(&l, (unsigned)getpid(), b->bytes);
  return l;
}

static struct listing clients(const struct shim *s, unsigned gpu)
{
  struct mps_seen seen[MPS_MOST_SEEN];
  struct listing l = {0};
  if (!board_at_node(s, (int)gpu)) return l;
  const unsigned n = mps_clients(s, seen);
  for (unsigned i = 0; i < n; i++) add(&l, seen[i].process, seen[i].bytes);
  return l;
}

static struct listing drawing(const struct shim *s, unsigned gpu)
{
  (void)s, (void)gpu;
  return (struct listing){0};
}

/* The number comes back when there is no room for all of them; NULL: none. */
static bool has_room(const struct listing *l, unsigned *count, const void *to)
{
  const bool room = *count >= l->n && (to || !l->n);
  *count = l->n;
  return room;
}

static nvmlReturn_t give_v1(const struct listing *l, unsigned *count, nvmlProcessInfo_v1_t *to)
{
  if (!count) return NVML_ERROR_INVALID_ARGUMENT;
  if (!has_room(l, count, to)) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < l->n; i++) to[i] = l->of[i];
  return NVML_SUCCESS;
}

static nvmlReturn_t give(const struct listing *l, unsigned *count, nvmlProcessInfo_t *to)
{
  if (!count) return NVML_ERROR_INVALID_ARGUMENT;
  if (!has_room(l, count, to)) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < l->n; i++)
    to[i] = (nvmlProcessInfo_t){.pid = l->of[i].pid, .used = l->of[i].used,
                                .gpu_instance = l->known ? instance_id(l->instance) : NO_INSTANCE,
                                .compute_instance = l->known ? 0 : NO_INSTANCE};
  return NVML_SUCCESS;
}

static nvmlReturn_t list_v1(struct listing l, unsigned *count, nvmlProcessInfo_v1_t *to)
{
  return give_v1(&l, count, to);
}

static nvmlReturn_t list(struct listing l, unsigned *count, nvmlProcessInfo_t *to)
{
  return give(&l, count, to);
}

/* The three forms that each call had. */
#define LISTS(name, of)                                                                            \
  nvmlReturn_t name(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_v1_t *to)                \
  {                                                                                                \
    ON_GPU(device, list_v1(of(s, gpu), count, to));                                                \
  }                                                                                                \
  nvmlReturn_t name##_v2(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *to)              \
  {                                                                                                \
    ON_GPU(device, list(of(s, gpu), count, to));                                                   \
  }                                                                                                \
  nvmlReturn_t name##_v3(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *to)              \
  {                                                                                                \
    ON_GPU(device, list(of(s, gpu), count, to));                                                   \
  }

LISTS(nvmlDeviceGetComputeRunningProcesses, computing)
LISTS(nvmlDeviceGetMPSComputeRunningProcesses, clients)
LISTS(nvmlDeviceGetGraphicsRunningProcesses, drawing)
