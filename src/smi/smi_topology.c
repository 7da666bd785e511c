/* topo -m: what lies between two GPUs, a line for each. */
#include <stdio.h>
#include <string.h>

#include "smi/smi.h"

enum { MOST_LINKS = 64 };

/* Whether link `link` of a GPU leads to `other`: to it or to a switch that has a way there. */
static bool leads_to(nvmlDevice_t gpu, unsigned link, nvmlDevice_t other)
{
  int active = 0, type = 0, status = -1;
  nvmlPciInfo_t far, of_other;
  if (nvmlDeviceGetNvLinkState(gpu, link, &active) != NVML_SUCCESS || !active) return false;
  if (nvmlDeviceGetNvLinkRemoteDeviceType(gpu, link, &type) != NVML_SUCCESS) return false;
  if (type == NVML_NVLINK_DEVICE_SWITCH)
    return nvmlDeviceGetP2PStatus(gpu, other, NVML_P2P_CAPS_NVLINK, &status) == NVML_SUCCESS &&
           status == NVML_P2P_STATUS_OK;
  return nvmlDeviceGetNvLinkRemotePciInfo_v2(gpu, link, &far) == NVML_SUCCESS &&
         nvmlDeviceGetPciInfo_v3(other, &of_other) == NVML_SUCCESS && !strcmp(far.bus_id, of_other.bus_id);
}

static const char *level_text(int level)
{
  switch (level) {
  case NVML_TOPOLOGY_INTERNAL: return " X ";
  case NVML_TOPOLOGY_SINGLE: return "PIX";
  case NVML_TOPOLOGY_MULTIPLE: return "PXB";
  case NVML_TOPOLOGY_HOSTBRIDGE: return "PHB";
  case NVML_TOPOLOGY_NODE: return "NODE";
  default: return "SYS";
  }
}

static void cell(nvmlDevice_t gpu, nvmlDevice_t other)
{
  unsigned links = 0;
  int level = NVML_TOPOLOGY_SYSTEM;
  for (unsigned i = 0; gpu != other && i < MOST_LINKS; i++) links += leads_to(gpu, i, other);
  nvmlDeviceGetTopologyCommonAncestor(gpu, other, &level);
  if (links) printf("\tNV%u", links);
  else printf("\t%s", level_text(level));
}

void smi_show_topology(void)
{
  const struct smi_gpus g = smi_gpus_all();
  for (unsigned i = 0; i < g.n; i++) printf("\tGPU%u", i);
  putchar('\n');
  for (unsigned i = 0; i < g.n; i++) {
    printf("GPU%u", i);
    for (unsigned k = 0; k < g.n; k++) cell(g.of[i], g.of[k]);
    putchar('\n');
  }
  puts("\nLegend:\n"
       "\n"
       "  X    = itself\n"
       "  SYS  = PCI Express and the way between sockets\n"
       "  NODE = PCI Express and the way between host bridges of one socket\n"
       "  PHB  = PCI Express and a host bridge (the socket)\n"
       "  PXB  = several PCI Express switches\n"
       "  PIX  = at most one PCI Express switch\n"
       "  NV#  = # NVLinks");
}
