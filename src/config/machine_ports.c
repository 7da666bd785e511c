#include "config/machine_ports.h"

#include <stdio.h>

const char *machine_pci_address(unsigned node, char text[MACHINE_PCI_TEXT])
{
  snprintf(text, MACHINE_PCI_TEXT, "0000:%02x:00.0", machine_pci_bus(node) & 0xff);
  return text;
}

/* Domain, bus, device and function, as far as they are written (CUDA Driver API, cuDeviceGetByPCIBusId). */
static bool read_address(const char *text, unsigned at[4])
{
  char rest;
  at[0] = at[3] = 0;
  const int n = sscanf(text, "%x:%x:%x.%x%c", &at[0], &at[1], &at[2], &at[3], &rest);
  if (n == 4 || (n == 3 && sscanf(text, "%x:%x:%x%c", &at[0], &at[1], &at[2], &rest) == 3)) return true;
  at[0] = at[3] = 0;
  return sscanf(text, "%x:%x.%x%c", &at[1], &at[2], &at[3], &rest) == 3;
}

int machine_pci_node(const struct machine_preset *m, const char *text)
{
  unsigned at[4];
  if (!read_address(text, at) || at[0] || at[2] || at[3]) return -1;
  return at[1] >= 1 && at[1] <= machine_nodes(m) ? (int)at[1] - 1 : -1;
}

/* The end of the link at which the node is; -1: it is at none of that kind. */
static int end_at(const struct machine_preset *m, const struct machine_link *l, unsigned node, enum link_kind kind)
{
  if (m->link[l->group].kind != (uint32_t)kind) return -1;
  return l->end[0] == node ? 0 : l->end[1] == node ? 1 : -1;
}

unsigned machine_ports(const struct machine_preset *m, unsigned node, enum link_kind kind)
{
  unsigned n = 0;
  for (unsigned i = 0; i < m->n_links; i++)
    if (end_at(m, &m->links[i], node, kind) >= 0) n += m->link[m->links[i].group].lanes;
  return n;
}

bool machine_port(const struct machine_preset *m, unsigned node, enum link_kind kind, unsigned i,
                  struct machine_port *port)
{
  for (unsigned k = 0; k < m->n_links; k++) {
    const struct machine_link *l = &m->links[k];
    const struct link_params *p = &m->link[l->group];
    const int end = end_at(m, l, node, kind);
    if (end < 0) continue;
    if (i < p->lanes) {
      *port = (struct machine_port){ .link = (uint16_t)k, .far = l->end[1 - end], .lane = (uint16_t)i,
                                     .mbps = end ? p->back_mbps : p->mbps };
      return true;
    }
    i -= p->lanes;
  }
  return false;
}

/* PCI Express Base Specification: 2.5 and 5 GT/s with 8 of 10 bits, 8 to 32 GT/s with 128 of 130, 64 GT/s in flits of
 * 256 bytes, 242 of them payload. MB/s of 16 lanes. */
static const uint32_t of_16[] = { 4000, 8000, 15754, 31508, 63015, 121000 };

struct pcie_speed pcie_speed_of(uint32_t mbps)
{
  unsigned g = 0;
  while (g + 1 < sizeof of_16 / sizeof *of_16 && of_16[g] < mbps) g++;
  unsigned width = 16;
  while (width > 1 && of_16[g] / 16 * (width / 2) >= mbps) width /= 2;
  return (struct pcie_speed){ .generation = g + 1, .width = width };
}
