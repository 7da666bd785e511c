#include "host/abi.h"

#include <stddef.h>
#include <string.h>

#include "base/bug.h"

/* Byte offsets in bank 0; 0 = not on this target, except block. */
struct abi_layout {
  unsigned sm_min, sm_max;
  uint16_t block, grid;                 /* 3 words each */
  uint16_t shared_window, local_window; /* 2 words each: low, high */
  uint16_t stack_top, shared_dynamic;
  uint16_t grid_id;                     /* 2 words */
  uint16_t graph;                       /* 2 words */
  uint16_t constants;                   /* 2 words: generic address of bank 3 */
  uint16_t n_smids;
  uint16_t grid_barrier_lo, grid_barrier_hi;
  uint16_t shared_reserved;             /* bytes that %total_smem_size leaves out */
  uint16_t reserved_end, reserved_1;    /* offsets in shared memory (PTX: %reserved_smem_offset_...) */
  uint16_t shared_aggregate;            /* most bytes that %aggr_smem_size says */
  uint16_t cluster_given;               /* 1: the launch has a cluster size */
  uint16_t cluster, cluster_count;      /* 3 words each */
  uint16_t cluster_inverse;             /* 3 floats: 1 / cluster */
  uint16_t cluster_ctas;                /* CTAs per cluster */
  uint16_t descriptor;                  /* 2 words, left 0: it does not enter addresses */
  uint16_t params;
  uint16_t params_large; /* of kernels with more than 4,352 bytes of parameters, where they lie elsewhere */
  uint16_t params_address;              /* 2 words: generic address of the parameter block */
  uint16_t params_end_address;          /* 2 words: behind the block's last byte */
  uint16_t bank0_address;               /* 2 words: generic address of bank 0, where code adds the block's offset */
  uint16_t params_end;                  /* offset in bank 0 behind the block's last byte */
  uint16_t cga_stride;                  /* see abi.def */
};

/* Parts of the reserved shared memory, bytes from its begin. %reserved_smem_offset_1 names the one of cooperative
 * groups, which have tiles of several warps there and need 288 bytes (cooperative_groups/details/memory.h). Where it
 * begins and the last one ends is the driver's choice; ours keeps clear of what linked files describe
 * (.nv.shared.reserved.0). */
enum { RESERVED_1 = 0x80, RESERVED_END = RESERVED_1 + 288 };

static const struct abi_layout layouts[] = {
#define ABI(min, max, ...) { .sm_min = min, .sm_max = max, __VA_ARGS__ },
#include "host/abi.def"
#undef ABI
};

static const struct abi_layout *find(unsigned sm)
{
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
    if (sm >= layouts[i].sm_min && sm <= layouts[i].sm_max) return &layouts[i];
  return NULL;
}

bool abi_supported(unsigned sm)
{
  return find(sm) != NULL;
}

uint32_t abi_param_base(unsigned sm)
{
  const struct abi_layout *l = find(sm);
  BUG_ON(!l);
  return l->params;
}

bool abi_is_param_base(unsigned sm, uint32_t offset)
{
  const struct abi_layout *l = find(sm);
  return l && offset && (offset == l->params || offset == l->params_large);
}

uint32_t abi_grid_barrier(unsigned sm)
{
  const struct abi_layout *l = find(sm);
  return l ? l->grid_barrier_lo : 0;
}

uint32_t abi_grid_barrier_high(unsigned sm)
{
  const struct abi_layout *l = find(sm);
  return l ? l->grid_barrier_hi : 0;
}

uint32_t abi_params_address(unsigned sm)
{
  const struct abi_layout *l = find(sm);
  return !l ? 0 : l->params_address ? l->params_address : l->bank0_address;
}

bool abi_names_reserved(unsigned sm, abi_names *names, const void *code)
{
  const struct abi_layout *l = find(sm);
  return l && (names(code, l->shared_reserved) || names(code, l->reserved_end) || names(code, l->reserved_1));
}

static void put32(uint8_t *bank0, unsigned offset, uint32_t v)
{
  memcpy(bank0 + offset, &v, sizeof v);
}

static void put3(uint8_t *bank0, unsigned offset, const uint32_t v[3])
{
  memcpy(bank0 + offset, v, 3 * sizeof v[0]);
}

static void put64(uint8_t *bank0, unsigned offset, uint64_t v)
{
  memcpy(bank0 + offset, &v, sizeof v);
}

/* Values of the launch that code may look for `back` bytes below their offsets (abi.def). */
static void fill_launch(const struct abi_layout *l, const struct abi_values *v, uint8_t *bank0,
                         unsigned back)
{
  uint32_t count[3];
  float inverse[3];
  for (unsigned i = 0; i < 3; i++) {
    count[i] = v->cluster[i] ? v->grid[i] / v->cluster[i] : 0;
    inverse[i] = v->cluster[i] ? 1.0f / (float)v->cluster[i] : 0;
  }
  put32(bank0, l->shared_dynamic - back, v->shared_dynamic);
  if (l->reserved_end) put32(bank0, l->reserved_end - back, v->reserved_begin + RESERVED_END);
  if (l->reserved_1) put32(bank0, l->reserved_1 - back, v->reserved_begin + RESERVED_1);
  if (l->shared_aggregate) put32(bank0, l->shared_aggregate - back, v->shared_total);
  if (l->grid_barrier_lo) {
    put32(bank0, l->grid_barrier_lo - back, (uint32_t)v->grid_barrier);
    put32(bank0, l->grid_barrier_hi - back, (uint32_t)(v->grid_barrier >> 32));
  }
  if (l->cluster) put3(bank0, l->cluster - back, v->cluster);
  if (l->cluster_count) put3(bank0, l->cluster_count - back, count);
  if (l->cluster_inverse) memcpy(bank0 + l->cluster_inverse - back, inverse, sizeof inverse);
  if (l->cluster_ctas)
    put32(bank0, l->cluster_ctas - back, v->cluster[0] * v->cluster[1] * v->cluster[2]);
}

void abi_fill(unsigned sm, const struct abi_values *v, uint8_t *bank0)
{
  const struct abi_layout *l = find(sm);
  BUG_ON(!l);
  put3(bank0, l->block, v->block);
  put3(bank0, l->grid, v->grid);
  if (l->shared_window) put64(bank0, l->shared_window, v->shared_window);
  if (l->local_window) put64(bank0, l->local_window, v->local_window);
  put32(bank0, l->stack_top, v->stack_top);
  put64(bank0, l->grid_id, v->grid_id);
  put64(bank0, l->graph, v->graph);
  put64(bank0, l->constants, v->constants);
  if (l->params_address) put64(bank0, l->params_address, v->params_address);
  if (l->params_end_address) put64(bank0, l->params_end_address, v->params_address + v->param_bytes);
  if (l->bank0_address && v->params_address) put64(bank0, l->bank0_address, v->params_address - v->param_base);
  if (l->params_end) put32(bank0, l->params_end, v->param_base + v->param_bytes);
  put32(bank0, l->n_smids, v->n_smids);
  if (l->shared_reserved) put32(bank0, l->shared_reserved, v->shared_reserved);
  if (l->cluster_given) put32(bank0, l->cluster_given, v->cluster_given);
  fill_launch(l, v, bank0, 0);
  if (l->cga_stride) fill_launch(l, v, bank0, l->cga_stride);
}
