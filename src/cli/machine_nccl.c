#include "cli/machine_nccl.h"

#include <string.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

#include "config/machine_ports.h"

/* PCI classes (PCI Code and ID Assignment Specification): a display controller without a screen, a bridge; NVSwitch has
 * "bridge, other". */
#define CLASS_GPU      "0x030200"
#define CLASS_BRIDGE   "0x060400"
#define CLASS_NVSWITCH "0x068000"

struct writer {
  FILE *f;
  const struct machine_preset *m;
  const struct topology *t;
};

/* Which node is above this one on the way of a GPU to its socket; -1: none, or it is not on it. */
static int above(const struct writer *w, unsigned gpu, unsigned node)
{
  const unsigned socket = topology_socket(w->t, gpu);
  for (unsigned at = gpu; at != socket;) {
    const unsigned next = topology_next(w->t, gpu, at, socket, 0).node;
    if (at == node) return (int)next;
    at = next;
  }
  return -1;
}

/* Whether a node hangs below another in the tree; of a switch any GPU behind it says so. */
static bool is_below(const struct writer *w, unsigned node, unsigned parent)
{
  for (unsigned g = 0; g < w->m->n_gpus; g++)
    if (above(w, g, node) == (int)parent) return true;
  return false;
}

static void begin_pci(const struct writer *w, unsigned node, const char *class, int indent)
{
  static const char *const speed[] = { "", "2.5", "5.0", "8.0", "16.0", "32.0", "64.0" };
  struct machine_port p;
  struct pcie_speed s = { .generation = 4, .width = 16 }; /* of a GPU on C2C: NCCL wants one */
  char at[MACHINE_PCI_TEXT];
  if (machine_port(w->m, node, LINK_PCIE, 0, &p)) s = pcie_speed_of(p.mbps);
  fprintf(w->f, "%*s<pci busid=\"%s\" class=\"%s\" vendor=\"0x10de\" device=\"0x0000\" subsystem_vendor=\"0x10de\" "
          "subsystem_device=\"0x0000\" link_speed=\"%s GT/s PCIe\" link_width=\"%u\">\n", indent, "",
          machine_pci_address(node, at), class, speed[s.generation], s.width);
}

/* Lanes to each node on the other side. */
static void write_nvlinks(const struct writer *w, unsigned gpu, int indent)
{
  const unsigned n = machine_ports(w->m, gpu, LINK_NVLINK);
  char at[MACHINE_PCI_TEXT];
  for (unsigned far = 0; far < machine_nodes(w->m); far++) {
    unsigned lanes = 0;
    struct machine_port p;
    for (unsigned i = 0; i < n; i++) lanes += machine_port(w->m, gpu, LINK_NVLINK, i, &p) && p.far == far;
    if (!lanes) continue;
    const enum node_kind kind = machine_node_kind(w->m, far);
    fprintf(w->f, "%*s<nvlink target=\"%s\" count=\"%u\" tclass=\"%s\"/>\n", indent, "",
            machine_pci_address(far, at), lanes,
            kind == NODE_GPU ? CLASS_GPU : kind == NODE_SWITCH ? CLASS_NVSWITCH : "0x068001");
  }
}

static void write_gpu(const struct writer *w, unsigned gpu, int indent)
{
  struct machine_port p;
  begin_pci(w, gpu, CLASS_GPU, indent);
  fprintf(w->f, "%*s<gpu dev=\"%u\" sm=\"%u\">\n", indent + 2, "", gpu, (unsigned)w->m->params[gpu].arch_sm);
  write_nvlinks(w, gpu, indent + 4);
  if (machine_port(w->m, gpu, LINK_C2C, 0, &p))
    fprintf(w->f, "%*s<c2c bw=\"%u\" count=\"%u\"/>\n", indent + 4, "", p.mbps, machine_ports(w->m, gpu, LINK_C2C));
  fprintf(w->f, "%*s</gpu>\n%*s</pci>\n", indent + 2, "", indent, "");
}

static void write_below(const struct writer *w, unsigned parent, int indent)
{
  for (unsigned n = 0; n < machine_nodes(w->m); n++) {
    if (n == parent || !is_below(w, n, parent)) continue;
    if (machine_node_kind(w->m, n) == NODE_GPU) {
      write_gpu(w, n, indent);
    } else {
      begin_pci(w, n, CLASS_BRIDGE, indent);
      write_below(w, n, indent + 2);
      fprintf(w->f, "%*s</pci>\n", indent, "");
    }
  }
}

/* What NCCL would find out of a processor of this host, which its program runs on: CPUID, leaves 0 and 1, where it puts
 * the extended numbers in front of the others. */
static void write_processor(FILE *f)
{
#if defined __x86_64__
  unsigned a, b, c, d;
  char vendor[13] = "";
  __cpuid(0, a, b, c, d);
  memcpy(vendor, &b, 4);
  memcpy(vendor + 4, &d, 4);
  memcpy(vendor + 8, &c, 4);
  __cpuid(1, a, b, c, d);
  const unsigned family = (a >> 8 & 15) + (a >> 20 & 255) * 16, model = (a >> 4 & 15) + (a >> 16 & 15) * 16;
  fprintf(f, " arch=\"x86_64\" vendor=\"%s\" familyid=\"%u\" modelid=\"%u\"", vendor, family, model);
#else
  fprintf(f, " arch=\"arm64\"");
#endif
}

/* Processors of this host may serve every socket. */
void machine_write_nccl(FILE *f, const struct machine_preset *m, const struct topology *t)
{
  const struct writer w = { f, m, t };
  fprintf(f, "<system version=\"1\">\n");
  for (unsigned i = 0; i < m->n_sockets; i++) {
    fprintf(f, "  <cpu numaid=\"%u\" affinity=\"ffffffff,ffffffff\"", i);
    write_processor(f);
    fprintf(f, ">\n");
    write_below(&w, m->n_gpus + i, 4);
    fprintf(f, "  </cpu>\n");
  }
  fprintf(f, "</system>\n");
}
