/* Machines: files presets/machines/NAME.cfg in libconfig syntax. A machine has GPUs (presets by name), sockets of the
 * host with their memory, switches, and links between any two of them (docs/machines.md).
 *
 *   name = ("DGX A100", "doc: …");
 *   gpu  = { preset = ("a100-sxm4-80gb", "doc: …"); count = (8, "doc: …"); };
 *   host = { sockets = (2, "doc: …"); … };
 *   cpu  = { cores = (4, "doc: …"); … };
 *   switch = { nvswitch = { count = (6, "doc: …"); latency_ns = (100, "guess"); };
 *              … multicast = (4096, "guess"); };  may be left out: the switch sends to one node alone
 *   link = { nvlink = { ends = ("gpu0-7 nvswitch0-5", "doc: …"); lanes = (2, "doc: …"); … }; };
 *
 * Every value has its source, as in presets of GPUs (presets.h). `preset` names one for all GPUs or, behind commas, one
 * for each. `ends` names two lists of nodes, of which each of the first is joined with each of the second; further
 * pairs of lists follow behind semicolons. Nodes are called gpu0, cpu0 (a socket and its memory) and, by the group of
 * their switch, nvswitch0.
 */
#ifndef WS_CONFIG_MACHINE_PRESET_H
#define WS_CONFIG_MACHINE_PRESET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"
#include "config/cpu_params.h"
#include "config/params.h"

enum {
  MACHINE_MAX_GPUS = 16,
  MACHINE_MAX_SOCKETS = 8,
  MACHINE_MAX_SWITCHES = 64,
  MACHINE_MAX_NODES = MACHINE_MAX_GPUS + MACHINE_MAX_SOCKETS + MACHINE_MAX_SWITCHES,
  MACHINE_MAX_LINKS = 1024,
  MACHINE_MAX_KINDS = 16, /* groups of links; of switches */
  MACHINE_NAME_MAX = 32,  /* of a group, with its 0 */
};

/* What a link is: whose rules and names it has. */
#define LINK_KIND_LIST(X)                                                                          \
  X(PCIE, "pcie")                                                                                  \
  X(NVLINK, "nvlink")                                                                              \
  X(C2C, "c2c")       /* NVLink-C2C: GPU and CPU of one module */                                  \
  X(SOCKET, "socket") /* between sockets of the host */

enum link_kind {
#define X(id, name) LINK_##id,
  LINK_KIND_LIST(X)
#undef X
  LINK__N
};

extern const char *const link_kind_name[LINK__N];

/* Which atomics pass a link. */
enum link_atomics {
  LINK_ATOMICS_NONE,
  LINK_ATOMICS_PCIE, /* fetch-and-add, swap, compare-and-swap of 32 and 64 bits (PCI Express: AtomicOps) */
  LINK_ATOMICS_ALL,  /* all that a GPU has */
  LINK_ATOMICS__N
};

/* A group of links: what they have in common. */
struct link_params {
  char name[MACHINE_NAME_MAX];
  const char *ends; /* as the file has them */
  uint32_t kind;    /* enum link_kind */
  uint32_t lanes;   /* links between the same two nodes, used as one of so many times the rate */
  uint32_t mbps;    /* MB/s (10^6 bytes) of one lane from its first end to its second, with all overhead */
  uint32_t back_mbps;  /* the other way */
  uint32_t latency_ns; /* last byte sent to last byte received, one way */
  uint32_t packet_bytes, overhead_bytes; /* most payload of a packet; what each has besides */
  uint32_t copy_packet_bytes; /* most payload of a packet of copy engines */
  uint32_t ack_bytes; /* of the acknowledgement of a write; 0: it rides on other packets */
  uint32_t credits; /* packets, of requests and of answers each, that a direction has under way or at its receiver */
  uint32_t reads;   /* requests for data that an end may have under way */
  bool peer;        /* GPUs may reach each other over it */
  uint32_t atomics; /* enum link_atomics */
};

struct switch_params {
  char name[MACHINE_NAME_MAX];
  uint32_t count;
  uint32_t latency_ns; /* of a pass */
  uint32_t multicast;  /* requests to multicast objects that it has under way; 0: it sends to one alone */
};

/* Nodes are numbered: GPUs, sockets, switches. */
enum node_kind { NODE_GPU, NODE_SOCKET, NODE_SWITCH };

struct machine_link {
  uint16_t end[2]; /* nodes */
  uint16_t group;  /* of link[] */
};

struct machine_preset {
  char name[PARAM_TEXT_MAX];
  unsigned n_gpus, n_sockets, n_switches;
  char gpu[MACHINE_MAX_GPUS][PARAM_TEXT_MAX]; /* preset of each */
  struct params *params;                      /* of each GPU */
  uint32_t memory_mib;        /* of a socket */
  uint32_t memory_mbps;       /* MB/s of its memory, reads and writes together */
  uint32_t memory_latency_ns; /* of a read, in the socket */
  bool has_cpu;               /* programs of RISC-V run in time */
  struct cpu_params cpu;
  unsigned n_switch_groups, n_link_groups, n_links;
  struct switch_params switches[MACHINE_MAX_KINDS];
  struct link_params link[MACHINE_MAX_KINDS];
  struct machine_link *links;
  struct arena memory; /* owns params, links, texts */
  struct machine_value *value; /* for machine_write_resolved */
  unsigned n_values, values_room;
};

/* Where a value came from. */
struct machine_value {
  const char *key, *text, *source;
  int line; /* of the file */
};

/* Loads machine `name` from dir/machines, or a file when the name holds a '/' or ends in .cfg, with the presets of its
 * GPUs from dir. On failure nothing has to be freed. */
bool machine_load(const char *name, const char *dir, struct machine_preset *, struct err *e);
void machine_preset_free(struct machine_preset *);

/* What a GPU's preset means without a machine: this GPU, one socket, and a link with the rates and the latency of its
 * keys pcie.*. */
void machine_of_gpu(const char *preset, const struct params *, struct machine_preset *);

/* One line per value: key, value, file:line, source. */
void machine_write_resolved(FILE *, const struct machine_preset *);

static inline unsigned machine_nodes(const struct machine_preset *m)
{
  return m->n_gpus + m->n_sockets + m->n_switches;
}

static inline enum node_kind machine_node_kind(const struct machine_preset *m, unsigned node)
{
  return node < m->n_gpus ? NODE_GPU : node < m->n_gpus + m->n_sockets ? NODE_SOCKET : NODE_SWITCH;
}

/* "gpu0", "cpu1", "nvswitch5". Returns buf. */
enum { NODE_NAME_MAX = MACHINE_NAME_MAX + 8 };
const char *machine_node_name(const struct machine_preset *, unsigned node, char buf[NODE_NAME_MAX]);
/* The group of a switch. */
const struct switch_params *machine_switch(const struct machine_preset *, unsigned node);

/* Names of the machines in dir/machines, sorted. */
struct preset_names;
bool machines_list(const char *dir, struct arena *, struct preset_names *, struct err *e);

#endif
