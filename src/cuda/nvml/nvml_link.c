/* NVML: NVLink and C2C of a GPU, ways between GPUs, fields. NVML API reference, "NvLink methods", "Field value
 * queries". */
#include <string.h>
#include <time.h>

#include "cuda/nvml/nvml_call.h"

enum { US_PER_S = 1000000, NS_PER_US = 1000 };

/* Ways ------------------------------------------------------------------------------------------- */

static bool by_nvlink(const struct shim *s, unsigned from, unsigned to)
{
  char label[16];
  return strncmp(topology_label(s->boards.topology, from, to, label), "NV", 2) == 0;
}

/* A GPU and itself: OK. */
static int p2p_status(const struct shim *s, unsigned from, unsigned to, int index)
{
  const struct topology *t = s->boards.topology;
  if (from == to) return NVML_P2P_STATUS_OK;
  if (!topology_reaches(t, from, to)) return NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED;
  if (index == NVML_P2P_CAPS_NVLINK && !by_nvlink(s, from, to)) return NVML_P2P_STATUS_NOT_SUPPORTED;
  if (index == NVML_P2P_CAPS_ATOMICS && topology_atomics(t, from, to) != LINK_ATOMICS_ALL)
    return NVML_P2P_STATUS_NOT_SUPPORTED;
  return NVML_P2P_STATUS_OK;
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t other, int index, int *status)
{
  ON_GPU(device, !nvml_is_gpu(s, nvml_node(other)) || index < 0 || index > NVML_P2P_CAPS_PROP
                     ? NVML_ERROR_INVALID_ARGUMENT
                     : ANSWER(status, p2p_status(s, gpu, nvml_node(other), index)));
}

/* Whether the GPU's way to its socket passes a node; *steps: links up to there. */
static bool passes(const struct topology *t, unsigned gpu, unsigned node, unsigned *steps)
{
  const unsigned socket = topology_socket(t, gpu);
  *steps = 0;
  for (unsigned at = gpu; at != socket;) {
    at = topology_next(t, gpu, at, socket, 0).node;
    ++*steps;
    if (at == node) return true;
  }
  return false;
}

/* The lowest node that is above both of them. */
static int common_ancestor(const struct shim *s, unsigned from, unsigned to)
{
  const struct topology *t = s->boards.topology;
  const unsigned socket = topology_socket(t, from);
  unsigned up, down;
  if (from == to) return NVML_TOPOLOGY_INTERNAL;
  for (unsigned at = from; at != socket;) {
    at = topology_next(t, from, at, socket, 0).node;
    if (!passes(t, from, at, &up) || !passes(t, to, at, &down)) continue;
    if (at == socket) return NVML_TOPOLOGY_HOSTBRIDGE;
    return up == 1 && down == 1 ? NVML_TOPOLOGY_SINGLE : NVML_TOPOLOGY_MULTIPLE;
  }
  return NVML_TOPOLOGY_SYSTEM;
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t other, int *level)
{
  ON_GPU(device, !nvml_is_gpu(s, nvml_node(other)) ? NVML_ERROR_INVALID_ARGUMENT
                                                   : ANSWER(level, common_ancestor(s, gpu, nvml_node(other))));
}

/* NVLink ----------------------------------------------------------------------------------------- */

static bool link_at(const struct shim *s, unsigned gpu, unsigned link, struct machine_port *p)
{
  return machine_port(&s->boards.machine, gpu, LINK_NVLINK, link, p);
}

static const struct link_params *params_of(const struct shim *s, const struct machine_port *p)
{
  return &s->boards.machine.link[s->boards.machine.links[p->link].group];
}

/* NVLink of a GPU: its version (1 to 5), 0: it has none. By the GPU's architecture: P100 has the first, V100 the
 * second, Ampere the third, Hopper the fourth, Blackwell the fifth (NVIDIA's whitepapers). */
static unsigned nvml_link_version(const struct shim *s, unsigned gpu)
{
  const unsigned sm = nvml_params(s, gpu)->arch_sm;
  return !machine_ports(&s->boards.machine, gpu, LINK_NVLINK) ? 0
         : sm < 70                                           ? 1
         : sm < 80                                           ? 2
         : sm < 90                                           ? 3
         : sm < 100                                          ? 4
                                                             : 5;
}

/* What a link is that is not there: a GPU without NVLink has no such function. */
static nvmlReturn_t no_link(const struct shim *s, unsigned gpu)
{
  return machine_ports(&s->boards.machine, gpu, LINK_NVLINK) ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_NOT_SUPPORTED;
}

/* `expr` sees `port`. */
#define ON_LINK(device, link, expr)                                                                \
  struct machine_port port;                                                                        \
  ON_GPU(device, !link_at(s, gpu, link, &port) ? no_link(s, gpu) : (nvmlReturn_t)(expr))

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link, int *active)
{
  ON_LINK(device, link, ANSWER(active, 1));
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned link, unsigned *version)
{
  ON_LINK(device, link, ANSWER(version, nvml_link_version(s, gpu)));
}

static nvmlReturn_t capability(const struct shim *s, const struct machine_port *p, int which, unsigned *to)
{
  const bool host = machine_node_kind(&s->boards.machine, p->far) == NODE_SOCKET;
  const bool atomics = params_of(s, p)->atomics == LINK_ATOMICS_ALL;
  const bool has[NVML_NVLINK_CAPS] = { [NVML_NVLINK_CAP_P2P_SUPPORTED] = params_of(s, p)->peer,
                                       [NVML_NVLINK_CAP_SYSMEM_ACCESS] = host,
                                       [NVML_NVLINK_CAP_P2P_ATOMICS] = params_of(s, p)->peer && atomics,
                                       [NVML_NVLINK_CAP_SYSMEM_ATOMICS] = host && atomics,
                                       [NVML_NVLINK_CAP_VALID] = true };
  if (which < 0 || which >= NVML_NVLINK_CAPS) return NVML_ERROR_INVALID_ARGUMENT;
  return ANSWER(to, has[which]);
}

nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned link, int which, unsigned *has)
{
  ON_LINK(device, link, capability(s, &port, which, has));
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned link, int *type)
{
  ON_LINK(device, link, ANSWER(type, machine_node_kind(&s->boards.machine, port.far) == NODE_SWITCH
                                         ? NVML_NVLINK_DEVICE_SWITCH
                                         : NVML_NVLINK_DEVICE_GPU));
}

/* Domains of several machines, racks: not there. */
nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, void *info)
{
  ON_GPU(device, info ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT);
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, void *info)
{
  return nvmlDeviceGetGpuFabricInfo(device, info);
}

nvmlReturn_t nvmlDeviceGetPlatformInfo(nvmlDevice_t device, void *info)
{
  ON_GPU(device, info ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT);
}

/* Fields ----------------------------------------------------------------------------------------- */

/* One of link `scope`. */
static nvmlReturn_t link_field(const struct shim *s, unsigned gpu, enum link_kind kind, nvmlFieldValue_t *f)
{
  struct machine_port p;
  if (!machine_port(&s->boards.machine, gpu, kind, f->scope, &p)) return NVML_ERROR_INVALID_ARGUMENT;
  switch (f->field) {
  case NVML_FI_NVLINK_GET_STATE:
  case NVML_FI_C2C_LINK_GET_STATUS: f->value.u = 1; break;
  case NVML_FI_NVLINK_GET_VERSION: f->value.u = nvml_link_version(s, gpu); break;
  default: f->value.u = p.mbps; break;
  }
  return NVML_SUCCESS;
}

static nvmlReturn_t common_speed(const struct shim *s, unsigned gpu, nvmlFieldValue_t *f)
{
  struct machine_port p;
  f->value.u = link_at(s, gpu, 0, &p) ? p.mbps : 0;
  return NVML_SUCCESS;
}

static nvmlReturn_t count_links(const struct shim *s, unsigned gpu, enum link_kind kind, nvmlFieldValue_t *f)
{
  f->value.u = machine_ports(&s->boards.machine, gpu, kind);
  return NVML_SUCCESS;
}

static nvmlReturn_t field(const struct shim *s, unsigned gpu, nvmlFieldValue_t *f)
{
  f->type = NVML_VALUE_UNSIGNED_INT;
  switch (f->field) {
  case NVML_FI_NVLINK_SPEED_MBPS_COMMON: return common_speed(s, gpu, f);
  case NVML_FI_NVLINK_LINK_COUNT: return count_links(s, gpu, LINK_NVLINK, f);
  case NVML_FI_NVLINK_GET_SPEED:
  case NVML_FI_NVLINK_GET_STATE:
  case NVML_FI_NVLINK_GET_VERSION: return link_field(s, gpu, LINK_NVLINK, f);
  case NVML_FI_C2C_LINK_COUNT: return count_links(s, gpu, LINK_C2C, f);
  case NVML_FI_C2C_LINK_GET_STATUS:
  case NVML_FI_C2C_LINK_GET_MAX_BW: return link_field(s, gpu, LINK_C2C, f);
  default: return NVML_ERROR_NOT_SUPPORTED;
  }
}

static nvmlReturn_t fields(const struct shim *s, unsigned gpu, int n, nvmlFieldValue_t *f)
{
  struct timespec now;
  if (n < 1 || !f) return NVML_ERROR_INVALID_ARGUMENT;
  clock_gettime(CLOCK_REALTIME, &now);
  for (int i = 0; i < n; i++) {
    f[i].timestamp = (long long)now.tv_sec * US_PER_S + now.tv_nsec / NS_PER_US;
    f[i].latency_us = 0;
    f[i].result = field(s, gpu, &f[i]);
  }
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int n, nvmlFieldValue_t *values)
{
  ON_GPU(device, fields(s, gpu, n, values));
}
