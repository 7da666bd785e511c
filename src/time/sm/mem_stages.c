#include "time/sm/mem_stages.h"

#include "base/arith.h"

enum { REG_BYTES = 4 };

static unsigned at_least(unsigned v, unsigned least)
{
  return v > least ? v : least;
}

/* Registers of the data of one access, in bytes of all lanes. */
static unsigned warp_bytes(const struct inst *in, unsigned lanes)
{
  return lanes * at_least(in->mem.bytes, REG_BYTES);
}

/* Global and local addresses are computed in the sub-core, a few lanes per cycle; those of shared memory
 * cross the link and are computed behind it; a uniform address is one for all lanes. */
static void address_stage(const struct params *p, const struct inst *in, unsigned space, unsigned lanes,
                          struct mem_stages *s)
{
  bool each = in->mem.addr == ADDR_REGULAR; /* lane its own address */
  unsigned link = lanes * REG_BYTES / p->mem_link_bytes, compute = lanes / p->mem_addr_lanes;
  s->address = (uint8_t)(each ? compute : p->mem_uniform_addr_cycles);
  s->sources = (uint8_t)(each ? compute : 0);
  if (space == MEM_SHARED || space == MEM_NONE) {
    s->address = (uint8_t)((each ? link : p->mem_uniform_addr_cycles) + p->mem_shared_addr_cycles);
    s->sources = (uint8_t)(each ? link : 0);
  }
  if (in->mem.op == MEM_LDGSTS) { /* two addresses */
    s->address = (uint8_t)(s->address + link);
    s->sources = (uint8_t)(s->sources + link);
  }
  bool data = in->mem.op == MEM_STORE || in->mem.op == MEM_ATOMIC || in->mem.op == MEM_RED;
  if (data) {
    s->gap = (uint8_t)p->mem_store_gap_cycles;
    s->data = (uint8_t)div_up(warp_bytes(in, lanes), p->mem_link_bytes);
  } else {
    s->sources = (uint8_t)at_least(s->sources, p->mem_read_min_cycles);
  }
}

static uint8_t back_cycles(const struct params *p, const struct inst *in, unsigned lanes, unsigned bytes_per_cycle)
{
  return (uint8_t)at_least((unsigned)div_up(warp_bytes(in, lanes), bytes_per_cycle), p->mem_return_min_cycles);
}

static void shared_stages(const struct params *p, const struct inst *in, unsigned lanes, struct mem_stages *s)
{
  s->pipe = (uint16_t)p->smem_pipe_cycles;
  if (in->mem.op == MEM_LDSM && in->mem.bytes > REG_BYTES)
    s->pipe = (uint16_t)(s->pipe + p->smem_matrix_cycles);
  if (in->mem.op == MEM_ATOMIC || in->mem.op == MEM_RED)
    s->pipe = (uint16_t)(s->pipe + p->smem_atomic_cycles);
  s->back = back_cycles(p, in, lanes, p->smem_return_bytes);
}

/* A constant load reads its index a cycle longer; with an index register the lanes' addresses are
 * served one by one out of the register, which is therefore held to the end. */
static void const_stages(const struct params *p, const struct inst *in, unsigned lanes, struct mem_stages *s)
{
  s->sources = (uint8_t)(s->sources + p->mem_const_read_cycles);
  s->holds = in->mem.addr == ADDR_REGULAR;
  s->pipe = (uint16_t)p->const_vl_cycles;
  s->back = back_cycles(p, in, lanes, p->smem_return_bytes);
}

/* One value, which takes the way of constants. */
static void scalar_stages(const struct params *p, struct mem_stages *s)
{
  s->pipe = (uint16_t)p->const_vl_cycles;
  s->back = (uint8_t)p->mem_return_min_cycles;
}

/* Copies: one address each of where from and where to, in uniform registers; the copy engine does the rest. */
static struct mem_stages copy_stages(const struct params *p)
{
  return (struct mem_stages){.address = (uint8_t)p->mem_uniform_addr_cycles,
                             .sources = (uint8_t)p->mem_read_min_cycles, .pipe = 1};
}

/* SHFL, S2R …: as shared memory without a memory; lat.* is their whole latency. */
static void other_stages(const struct params *p, const struct inst *in, struct mem_stages *s)
{
  s->back = (uint8_t)p->mem_return_min_cycles;
  unsigned spent = p->mem_front_cycles + s->address + s->back + p->mem_write_cycles;
  s->pipe = (uint16_t)(p->lat[in->lat] > spent ? p->lat[in->lat] - spent : 1);
}

struct mem_stages mem_stages(const struct params *p, const struct inst *in, unsigned space, unsigned lanes)
{
  struct mem_stages s = {0};
  if (in->mem.copy) return copy_stages(p);
  address_stage(p, in, space, lanes, &s);
  switch (space) {
  case MEM_NONE: other_stages(p, in, &s); break;
  case MEM_SHARED: shared_stages(p, in, lanes, &s); break;
  case MEM_CONST: const_stages(p, in, lanes, &s); break;
  case MEM_SCALAR: scalar_stages(p, &s); break;
  case MEM_TEXTURE: /* L1 and the filter */
    s.pipe = (uint16_t)(p->l1_pipe_cycles +
                        (in->mem.no_filter ? p->tex_fetch_cycles : p->tex_filter_cycles));
    s.back = back_cycles(p, in, lanes, p->l1_return_bytes);
    break;
  default:
    s.pipe = (uint16_t)p->l1_pipe_cycles;
    s.back = back_cycles(p, in, lanes, p->l1_return_bytes);
  }
  if (in->mem.op == MEM_LDGSTS) {
    s.pipe = (uint16_t)(s.pipe + p->l1_to_shared_cycles);
    s.back = 0;
  }
  return s;
}

unsigned mem_stages_register(const struct params *p, unsigned lanes)
{
  return (unsigned)div_up(lanes * REG_BYTES, p->mem_link_bytes);
}

unsigned mem_stages_war(const struct mem_stages *s)
{
  return (unsigned)s->sources + s->gap + s->data;
}
