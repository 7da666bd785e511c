#include "cuda/core/board.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/guest_regions.h"
#include "base/place.h"
#include "cuda/core/board_ranks.h"
#include "cuda/core/context_turns.h"
#include "cuda/core/mps.h"
#include "cuda/core/shim.h"
#include "cuda/core/visible_boards.h"
#include "host/live_gpu.h"
#include "host/surroundings.h"
#include "host/what_if_machine.h"
#include "sanitize/sanitize.h"

/* Device memory of all lies between these addresses, in equal parts. Above are reserved addresses (vmm.c) and host
 * memory (memory.c). */

enum { MBPS = 1000000 };

/* --- starting them ------------------------------------------------------------------------------- */

/* What a machine's links give to copies between the GPU and its host. */
static void take_links(const struct boards *x, struct board *b)
{
  struct params *p = &b->preset.params;
  const unsigned socket = topology_socket(x->topology, b->node);
  p->pcie_h2d_mbps = (uint32_t)(topology_rate(x->topology, socket, b->node) / MBPS);
  p->pcie_d2h_mbps = (uint32_t)(topology_rate(x->topology, b->node, socket) / MBPS);
}

/* The cost that this run is without (--what-if). False: none. */
static bool what_if(const struct shim *s, struct machine_what_if *row)
{
  return s->options.what_if && machine_what_if_named(s->options.what_if, row);
}

/* --set, and the cost that a run of --what-if is without. */
static bool change(const struct shim *s, struct preset *p, struct err *e)
{
  struct machine_what_if without;
  for (unsigned i = 0; i < s->options.n_set; i++) TRY(preset_override(p, s->options.set[i], e));
  if (what_if(s, &without) && without.gpu) without.gpu(&p->params);
  return params_check(&p->params, e);
}

static bool load_preset(struct shim *s, struct board *b, const char *name, const char *dir, struct err *e)
{
  char cut[MIG_PROFILE_TEXT + 8];
  TRY(preset_load(name, dir, &b->preset, e));
  if (s->boards.instance >= 0) {
    snprintf(cut, sizeof cut, "mig=%s", s->boards.mig[s->boards.instance].is.profile);
    TRY(preset_override(&b->preset, cut, e));
  }
  if (s->options.machine) take_links(&s->boards, b);
  TRY(change(s, &b->preset, e));
  return activity_choice_fits(&s->options.activity, b->preset.params.gpu_sms, e);
}

/* A GPU runs a window before it looks at its links. */
static bool links_fit(const struct boards *x, const struct board *b, struct err *e)
{
  const struct machine_preset *m = &x->machine;
  const uint64_t window = params_request_ps(&b->preset.params);
  for (unsigned i = 0; i < m->n_links; i++) {
    const struct machine_link *l = &m->links[i];
    const struct link_params *p = &m->link[l->group];
    if ((l->end[0] != b->node && l->end[1] != b->node) || (uint64_t)p->latency_ns * 1000 > window) continue;
    return err_set(e,
                   "machine '%.60s': link.%s.latency_ns = %u is not more than noc.request_latency of GPU %u, %.1f ns",
                   m->name, p->name, p->latency_ns, b->node, (double)window / 1000);
  }
  return true;
}

/* Several GPUs go into their machine where kernels share them; else each kernel has its GPU, and what surrounds it, to
 * itself. One GPU has a link to its host with the rates of the machine. */
static bool surround(struct shim *s, struct board *b, struct err *e)
{
  struct boards *x = &s->boards;
  if (!s->options.timed) return true;
  if (s->mps) {
    mps_serve(s, b);
    return true;
  }
  if (x->n == 1 || !exec_options_share(&s->options)) {
    simulator_surround(b->simulator);
    return true;
  }
  TRY(links_fit(x, b, e));
  if (!x->surroundings) x->surroundings = surroundings_new(&x->machine, x->topology, NULL);
  simulator_join(b->simulator, x->surroundings, b->node, b->device.mem);
  const struct device_config *c = &b->device.config;
  board_place(b, c->memory_first, c->memory_end - c->memory_first);
  return true;
}

/* A client's part of the addresses; an image that the server follows, which lives as long as the process. */
static void own_memory(const struct shim *s, struct device_config *c)
{
  const struct mps_part part = mps_part_of(s, c->memory_first, c->memory_end, boards_page(s));
  c->memory_first = part.first;
  c->memory_end = part.end;
}

static bool make_image(struct shim *s, struct device_config *c, struct err *e)
{
  c->shared = gmem_new(c->page_bits);
  return mps_follow(s, c->shared, e);
}

static bool start_board(struct shim *s, struct board *b, struct err *e)
{
  const struct params *p = &b->preset.params;
  const uint64_t first = program_is_guest(s) ? s->program.end : DEVICE_FIRST;
  const uint64_t page = boards_page(s), part = (DEVICE_END - first) / s->boards.n / page * page;
  struct device_config config = device_config_for(p, s->options.timed);
  config.page_bits = s->boards.page_bits;
  config.shared = s->program.shared;
  config.memory_first = first + b->number * part;
  config.memory_end = config.memory_first + part;
  if (s->mps) own_memory(s, &config);
  config.print = &s->print.file;
  config.presets = s->options.presets;
  if (s->options.sanitize) config.gap_bytes = SANITIZE_GAP;
  if (s->mps) TRY(make_image(s, &config, e));
  TRY(device_init(&b->device, &config, e));
  b->simulator = simulator_new(p);
  b->shim = s;
  TRY(surround(s, b, e));
  simulator_set_program(b->simulator, s->program.memory);
  simulator_set_written(b->simulator, s->program.written);
  simulator_set_rights(b->simulator, s->program.rights, s->program.at_host);
  simulator_set_tables(b->simulator, s->program.tables);
  if (s->program.at_host) simulator_place_at_host(b->simulator, 0, s->program.end);
  timeline_init(&b->time, p);
  b->reach = board_bit(b);
  b->legacy.board = b;
  b->legacy.order.legacy = true;
  return true;
}

/* The devices of the program: so many nodes of the machine. */
static void make_boards(struct boards *x, unsigned n, const unsigned *node)
{
  x->n = n;
  x->of = shim_alloc(n * sizeof *x->of);
  for (unsigned i = 0; i < n; i++) x->of[i].number = i, x->of[i].node = node[i];
}

/* Into instances, as the options say. */
static bool cut_boards(struct shim *s, struct err *e)
{
  struct boards *x = &s->boards;
  const struct mig_list list = {s->options.mig, x->machine.n_gpus};
  struct mig_instance own[MIG_MAX_INSTANCES];
  for (unsigned node = 0, n; list.text && node < x->machine.n_gpus; node++) {
    TRY(mig_cut(&x->machine.params[node], list, node, own, &n, e));
    for (unsigned i = 0; i < n; i++) x->mig[x->n_mig++] = (struct board_instance){node, i, own[i]};
  }
  return true;
}

/* What the program sees of the machine: whole GPUs, or one instance of one. */
static bool see_machine(struct shim *s, const char *dir, struct err *e)
{
  struct boards *x = &s->boards;
  unsigned node[BOARDS_MAX];
  make_boards(x, visible_boards(x, getenv("CUDA_VISIBLE_DEVICES"), node, &x->instance), node);
  for (unsigned i = 0; i < x->n; i++) TRY(load_preset(s, &x->of[i], x->machine.gpu[x->of[i].node], dir, e));
  return true;
}

static bool load_machine(struct shim *s, const char *dir, struct err *e)
{
  struct boards *x = &s->boards;
  TRY(machine_load(s->options.machine, dir, &x->machine, e));
  struct machine_what_if without;
  if (what_if(s, &without) && without.machine) without.machine(&x->machine);
  return cut_boards(s, e);
}

/* A GPU that is cut into instances, in a machine of its own. */
static bool load_cut(struct shim *s, const char *dir, struct err *e)
{
  struct params whole;
  TRY(params_load(s->options.gpu, dir, &whole, e));
  machine_of_gpu(s->options.gpu, &whole, &s->boards.machine);
  return cut_boards(s, e);
}

/* Without a machine: the one that the GPU's preset means. */
static bool load_gpu(struct shim *s, const char *dir, struct err *e)
{
  struct boards *x = &s->boards;
  if (s->options.mig) return load_cut(s, dir, e);
  make_boards(x, 1, &(unsigned){0});
  TRY(load_preset(s, &x->of[0], s->options.gpu, dir, e));
  machine_of_gpu(s->options.gpu, &x->of[0].preset.params, &x->machine);
  return true;
}

bool boards_learn(struct shim *s, struct err *e)
{
  struct boards *x = &s->boards;
  char dir[4096];
  x->instance = -1;
  TRY(presets_dir(s->options.presets, dir, sizeof dir, e));
  TRY(s->options.machine ? load_machine(s, dir, e) : load_gpu(s, dir, e));
  x->topology = topology_new(&x->machine, &x->arena);
  return true;
}

bool boards_learn_changes(struct shim *s, struct err *e)
{
  struct boards *x = &s->boards;
  struct machine_what_if without;
  char dir[4096];
  if (s->up || x->n_mig || !s->options.machine || (!s->options.n_set && !what_if(s, &without))) return true;
  TRY(presets_dir(s->options.presets, dir, sizeof dir, e));
  for (unsigned node = 0; node < x->machine.n_gpus; node++) {
    struct preset p;
    TRY(preset_load(x->machine.gpu[node], dir, &p, e));
    const bool ok = change(s, &p, e);
    x->machine.params[node] = p.params;
    preset_free(&p);
    if (!ok) return false;
  }
  return true;
}

bool boards_start(struct shim *s, struct err *e)
{
  struct boards *x = &s->boards;
  char dir[4096];
  if (s->options.machine && s->options.trace)
    return err_set(e, "--machine: traces are of one GPU: leave --machine out, --gpu says which");
  TRY(board_ranks_join(s, e));
  TRY(presets_dir(s->options.presets, dir, sizeof dir, e));
  if (s->options.machine || s->options.mig) TRY(see_machine(s, dir, e));
  for (unsigned i = 0; i < x->n; i++) {
    const unsigned bits = x->of[i].preset.params.vm_page_bits;
    if (!i || bits < x->page_bits) x->page_bits = bits;
  }
  TRY(mps_start(s, e));
  if (s->program.shared && x->n > 1) return err_set(e, "CPU and GPU share their memory: there can be one GPU alone");
  if (s->program.shared) x->page_bits = gmem_page_bits(s->program.shared);
  for (unsigned i = 0; i < x->n; i++) TRY(start_board(s, &x->of[i], e));
  board_ranks_share(s);
  return true;
}

/* --- which one ------------------------------------------------------------------------------------ */

struct board *board_at(const struct shim *s, int number)
{
  return number >= 0 && (unsigned)number < s->boards.n ? &s->boards.of[number] : NULL;
}

static bool has(const struct board *b, uint64_t addr)
{
  return gmem_ptr(b->device.mem, addr, 1) != NULL;
}

struct board *board_of(const struct shim *s, uint64_t addr)
{
  const struct boards *x = &s->boards;
  for (unsigned i = 0; i < x->n; i++) {
    const struct device_config *c = &x->of[i].device.config;
    if (addr >= c->memory_first && addr < c->memory_end) return &x->of[i];
  }
  for (unsigned i = 0; i < x->n; i++)
    if (has(&x->of[i], addr)) return &x->of[i];
  return &x->of[0];
}

struct gmem *board_memory(const struct shim *s, uint64_t addr)
{
  return board_of(s, addr)->device.mem;
}

/* --- what they are -------------------------------------------------------------------------------- */

uint64_t boards_page(const struct shim *s)
{
  return UINT64_C(1) << s->boards.page_bits;
}

uint64_t board_memory_bytes(const struct board *b)
{
  return params_memory_bytes(&b->preset.params);
}

unsigned board_pci_bus(const struct board *b)
{
  return machine_pci_bus(b->node);
}

const char *board_pci_address(const struct board *b, char text[MACHINE_PCI_TEXT])
{
  return machine_pci_address(b->node, text);
}

struct board *board_by_pci(const struct shim *s, const char *text)
{
  return board_at_node(s, machine_pci_node(&s->boards.machine, text));
}

struct board *board_at_node(const struct shim *s, int node)
{
  for (unsigned i = 0; i < s->boards.n; i++)
    if (node >= 0 && s->boards.of[i].node == (unsigned)node) return &s->boards.of[i];
  return NULL;
}

const char *board_preset_name(const struct board *b)
{
  return b->shim->options.machine ? b->shim->boards.machine.gpu[b->node] : b->shim->options.gpu;
}

const char *boards_name(const struct shim *s)
{
  return s->options.machine ? s->boards.machine.name : s->boards.of[0].preset.params.name;
}

bool boards_are_peers(const struct shim *s, const struct board *from, const struct board *to)
{
  return from != to && topology_reaches(s->boards.topology, from->node, to->node);
}

bool boards_have_atomics(const struct shim *s, const struct board *from, const struct board *to)
{
  return boards_are_peers(s, from, to) &&
         topology_atomics(s->boards.topology, from->node, to->node) == LINK_ATOMICS_ALL;
}

bool board_has_multicast(const struct board *b)
{
  const struct shim *s = b->shim;
  const struct boards *x = &s->boards;
  if (s->ranks) return false; /* its memory would have to be looked at in all of them */
  if (!s->options.machine || !(exec_options_share(&s->options) || exec_options_take_turns(&s->options))) return false;
  for (unsigned i = 0; i < x->n; i++)
    if (&x->of[i] != b && topology_multicasts(x->topology, (unsigned[]){b->node, x->of[i].node}, 2)) return true;
  return false;
}

bool board_has_host_atomics(const struct board *b)
{
  const struct boards *x = &b->shim->boards;
  return topology_atomics(x->topology, b->node, topology_socket(x->topology, b->node)) == LINK_ATOMICS_ALL;
}

uint64_t boards_rate(const struct shim *s, const struct board *from, const struct board *to)
{
  return topology_rate(s->boards.topology, from->node, to->node);
}

uint64_t boards_latency(const struct shim *s, const struct board *from, const struct board *to)
{
  return topology_latency(s->boards.topology, from->node, to->node);
}

/* --- where memory is ------------------------------------------------------------------------------- */

void board_place(struct board *b, uint64_t addr, uint64_t bytes)
{
  if (b->shim->boards.n > 1) simulator_place(b->simulator, addr, bytes, (int)b->node);
  else board_place_nowhere(b, addr, bytes);
}

void board_place_at_host(struct board *b, uint64_t addr, uint64_t bytes)
{
  for (unsigned i = 0; i < b->shim->boards.n; i++)
    simulator_place_at_host(b->shim->boards.of[i].simulator, addr, bytes);
  simulator_place_at_host(b->simulator, addr, bytes); /* in one machine: its socket */
}

void boards_place_multicast(struct shim *s, uint64_t addr, uint64_t bytes)
{
  for (unsigned i = 0; i < s->boards.n; i++)
    simulator_place(s->boards.of[i].simulator, addr, bytes, PLACE_MULTICAST - 1);
}

void board_place_nowhere(struct board *b, uint64_t addr, uint64_t bytes)
{
  for (unsigned i = 0; i < b->shim->boards.n; i++) simulator_place(b->shim->boards.of[i].simulator, addr, bytes, -1);
}

/* --- while kernels run ---------------------------------------------------------------------------- */

void boards_keep_pages(struct shim *s)
{
  unsigned running = 0;
  for (unsigned i = 0; i < s->boards.n; i++) running += board_launches(&s->boards.of[i]) || s->boards.of[i].turn;
  for (unsigned i = 0; i < s->boards.n; i++) gmem_keep_pages(s->boards.of[i].device.mem, running > 0);
}

const struct sim_observers *board_observers(const struct board *b)
{
  const struct activity *a = b->shim->activity;
  return a ? activity_observers(a, b->number) : NULL;
}
