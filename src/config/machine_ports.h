/* What a GPU of a machine looks like on the buses of its host: its links one by one, as NVLink numbers them, and
 * addresses and speeds of PCI Express, as tools and libraries of the vendor ask for them.
 *
 * A preset has no PCI addresses. Every node has a bus of its own, one more than its number.
 */
#ifndef WS_CONFIG_MACHINE_PORTS_H
#define WS_CONFIG_MACHINE_PORTS_H

#include "config/machine_preset.h"

enum { MACHINE_PCI_TEXT = 16 }; /* of an address, with its 0 */

/* Bus, and "0000:01:00.0". Returns text. */
static inline unsigned machine_pci_bus(unsigned node)
{
  return node + 1;
}
const char *machine_pci_address(unsigned node, char text[MACHINE_PCI_TEXT]);
/* The node with this address, written with or without domain and function; -1: none. */
int machine_pci_node(const struct machine_preset *, const char *text);

/* A lane of a link, seen from one of its ends. */
struct machine_port {
  uint16_t link; /* of the preset's links */
  uint16_t far;  /* the node at the other end */
  uint16_t lane; /* of the link, from 0 */
  uint32_t mbps; /* MB/s that leave by it, headers and all */
};

/* Links of this kind at a node: how many; number i, in the order of the file and of their lanes. */
unsigned machine_ports(const struct machine_preset *, unsigned node, enum link_kind);
bool machine_port(const struct machine_preset *, unsigned node, enum link_kind, unsigned i, struct machine_port *);

/* The slowest generation of PCI Express whose 16 lanes have this rate, MB/s, and how many of them it takes. */
struct pcie_speed {
  unsigned generation, width;
};
struct pcie_speed pcie_speed_of(uint32_t mbps);

#endif
