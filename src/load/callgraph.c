/* Call graph of relocatable objects: a kernel gets as many registers and barriers as the functions it
 * may call, and a stack for the deepest chain of frames, as from nvlink.
 *
 * .nv.callgraph is a list of pairs of symbols, in parts that start with a pair {0, -part}: caller and
 * callee (1), function whose address is taken and its prototype (2), function that calls through a
 * pointer and the prototype (3). Prototypes are places in the string table of the symbols. A call through
 * a pointer may go to any function of the prototype whose address is taken. (Compiler output, CUDA 13.0.)
 *
 * Nodes are code sections; one more node for each prototype stands for its functions whose address is
 * taken. Recursion, and chains of more than MAX_ROUNDS calls in the wrong order: kernels get the registers of
 * any function, and a stack for all frames there are.
 * Objects without a call graph: every kernel may call everything.
 */
#include <stdlib.h>
#include <string.h>

#include "load/load_internal.h"

enum { PAIR_BYTES = 8, PART_CALLS = 1, PART_TAKEN = 2, PART_POINTER_CALLS = 3, MAX_ROUNDS = 64 };

struct edge {
  uint32_t from, to;
};

/* A function whose address is taken, or that calls through a pointer. */
struct pointer {
  const char *prototype;
  uint32_t node;
  bool taken;
};

struct call_graph {
  struct module *m;
  struct need *need;     /* per node: with everything it may call */
  uint32_t n_nodes;
  uint64_t n_edges, n_pointers;
  struct edge *edge;
  struct pointer *pointer;
};

static bool is_graph(const struct elf_section *s)
{
  return strcmp(s->name, ".nv.callgraph") == 0 && s->data;
}

/* The code section of a function; 0: there is none (a runtime service, or dropped). */
static uint32_t node_of(const struct module *m, const struct elf_section *s, uint32_t number)
{
  uint32_t i = elf_symbol_number(s, number);
  if (i >= m->elf.n_symbols || m->elf.symbol[i].section >= m->elf.n_sections) return 0;
  uint32_t section = m->elf.symbol[i].section;
  return m->place[section].kind == PLACE_TEXT ? section : 0;
}

static void add_edge(struct call_graph *g, uint32_t from, uint32_t to)
{
  if (from && to && from != to) g->edge[g->n_edges++] = (struct edge){ from, to };
}

/* The text of a prototype; all that the file does not say are one. */
static const char *prototype_at(const struct elf_file *f, const struct elf_section *s, uint32_t at)
{
  const struct elf_section *symbols = s->link < f->n_sections ? &f->section[s->link] : s;
  if (symbols->link >= f->n_sections) return "";
  const char *text = elf_string(&f->section[symbols->link], at);
  return text ? text : "";
}

static void read_graph(struct call_graph *g, const struct elf_section *s)
{
  uint32_t part = 0;
  for (uint64_t at = 0; at < s->size; at += PAIR_BYTES) {
    uint32_t first = elf_u32(s->data + at), second = elf_u32(s->data + at + 4);
    uint32_t node = first ? node_of(g->m, s, first) : 0;
    if (first == 0)
      part = -second;
    else if (part == PART_CALLS)
      add_edge(g, node, node_of(g->m, s, second));
    else if (node && (part == PART_TAKEN || part == PART_POINTER_CALLS))
      g->pointer[g->n_pointers++] = (struct pointer){ prototype_at(&g->m->elf, s, second), node,
                                                      part == PART_TAKEN };
  }
}

static int by_prototype(const void *a, const void *b)
{
  const struct pointer *x = a, *y = b;
  return strcmp(x->prototype, y->prototype);
}

/* Makes nodes of the prototypes. */
static void connect_pointers(struct call_graph *g)
{
  qsort(g->pointer, g->n_pointers, sizeof g->pointer[0], by_prototype);
  for (uint64_t i = 0; i < g->n_pointers; i++) {
    const struct pointer *p = &g->pointer[i];
    if (i == 0 || strcmp(p->prototype, p[-1].prototype) != 0) g->n_nodes++;
    uint32_t node = g->n_nodes - 1;
    if (p->taken) add_edge(g, node, p->node);
    else add_edge(g, p->node, node);
  }
}

static bool read_graphs(struct call_graph *g, bool *found, struct err *e)
{
  struct module *m = g->m;
  uint64_t bytes = 0;
  *found = false;
  for (uint32_t i = 1; i < m->elf.n_sections; i++) {
    const struct elf_section *s = &m->elf.section[i];
    if (!is_graph(s)) continue;
    if (s->size % PAIR_BYTES)
      return err_set(e, "%s: damaged cubin: size of section %s; compile it again", m->name, s->name);
    bytes += s->size;
    *found = true;
  }
  g->edge = ARENA_ARRAY(&m->arena, struct edge, bytes / PAIR_BYTES + 1);
  g->pointer = ARENA_ARRAY(&m->arena, struct pointer, bytes / PAIR_BYTES + 1);
  for (uint32_t i = 1; i < m->elf.n_sections; i++)
    if (is_graph(&m->elf.section[i])) read_graph(g, &m->elf.section[i]);
  connect_pointers(g);
  return true;
}

static uint32_t stack_sum(uint32_t a, uint32_t b)
{
  return a < MODULE_STACK_LIMIT - b ? a + b : MODULE_STACK_LIMIT;
}

/* Raises *to to what a caller with `frames` of its own needs for a callee. */
static bool raise(struct need *to, uint32_t frames, const struct need *callee)
{
  struct need old = *to;
  uint32_t stack = stack_sum(frames, callee->frames);
  if (to->frames < stack) to->frames = stack;
  if (to->regs < callee->regs) to->regs = callee->regs;
  if (to->barriers < callee->barriers) to->barriers = callee->barriers;
  return to->frames != old.frames || to->regs != old.regs || to->barriers != old.barriers;
}

/* Passes needs on from callees to callers. False: does not come to an end. */
static bool pass_on(struct call_graph *g)
{
  bool changed = true;
  for (unsigned round = 0; changed && round < MAX_ROUNDS; round++) {
    changed = false;
    for (uint64_t i = 0; i < g->n_edges; i++) {
      const struct edge *c = &g->edge[i];
      uint32_t own = c->from < g->m->elf.n_sections ? g->m->need[c->from].frames : 0;
      changed |= raise(&g->need[c->from], own, &g->need[c->to]);
    }
  }
  return !changed;
}

/* The largest of everything, and all frames. */
static struct need need_of_all(const struct module *m)
{
  struct need all = { 0 };
  for (uint32_t i = 1; i < m->elf.n_sections; i++)
    if (m->text_kernel[i] == ALL_KERNELS) raise(&all, all.frames, &m->need[i]);
  return all;
}

static void raise_kernel(struct module_kernel *k, const struct need *n)
{
  if (k->regs < n->regs) k->regs = n->regs;
  if (k->barriers < n->barriers) k->barriers = n->barriers;
  if (k->stack_bytes < n->frames) k->stack_bytes = n->frames;
}

bool callgraph_finish(struct module *m, struct err *e)
{
  bool found;
  struct call_graph g = { .m = m, .n_nodes = m->elf.n_sections };
  TRY(read_graphs(&g, &found, e));
  g.need = ARENA_ARRAY(&m->arena, struct need, g.n_nodes);
  memcpy(g.need, m->need, m->elf.n_sections * sizeof g.need[0]);
  bool ends = found && pass_on(&g);
  struct need all = need_of_all(m);
  for (uint32_t i = 1; i < m->elf.n_sections; i++) {
    if (m->text_kernel[i] == ALL_KERNELS) continue;
    struct module_kernel *k = &m->kernel[m->text_kernel[i]];
    struct need n = g.need[i];
    if (!ends) raise(&n, m->need[i].frames, &all);
    if (!found) raise_kernel(k, &all);
    raise_kernel(k, &n);
  }
  return true;
}
