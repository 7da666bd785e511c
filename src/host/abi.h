/* Launch ABI: where a kernel finds its launch parameters in constant bank 0 (abi.def), and where
 * the generic-address windows lie. Source: compiler output (CUDA 13.0) for sm_75 … sm_121.
 */
#ifndef WS_HOST_ABI_H
#define WS_HOST_ABI_H

#include <stdbool.h>
#include <stdint.h>

/* Generic-address windows: an address belongs to a window when its high 32 bits are equal (any choice works when bank 0
 * and the special registers agree). No host has memory there, else kernels that get a pointer to it would read their
 * own: Linux gives programs addresses below 2^47 on x86-64 (Documentation/arch/x86/x86_64/mm.rst; more by 5-level
 * paging alone, where a program asks for such a place) and below 2^48 on arm64, from the upper end down and from two
 * thirds on. Nor have GPUs (base/guest_regions.h). Within 48 bits, so that pointers with a tag in the upper 16 stay
 * whole. */
#define ABI_SHARED_WINDOW UINT64_C(0x00008ffe00000000)
#define ABI_LOCAL_WINDOW UINT64_C(0x00008fff00000000)

struct abi_values {
  uint32_t block[3], grid[3];
  uint64_t shared_window, local_window;
  uint32_t stack_top;      /* initial R1: bytes of local memory per thread */
  uint32_t shared_reserved; /* bytes per CTA of the system */
  uint32_t reserved_begin;  /* where they begin in the CTA's shared memory */
  uint32_t shared_total;    /* bytes per CTA, with these */
  uint32_t shared_dynamic;  /* bytes per CTA */
  uint64_t grid_id;
  uint64_t graph;          /* %current_graph_exec */
  uint64_t constants;      /* guest address of the copy of bank 3 */
  uint64_t params_address; /* guest address of the copy of the parameter block; 0: none */
  uint32_t param_base;     /* offset of the block in bank 0 */
  uint32_t param_bytes;
  uint32_t n_smids;        /* number of SM ids */
  uint64_t grid_barrier;   /* workspace of grid.sync(); 0: the launch is not cooperative */
  uint32_t cluster[3];     /* CTAs per cluster */
  bool cluster_given;      /* the launch states a cluster size */
};

/* Whether abi.def has a row for this target. */
bool abi_supported(unsigned sm);
/* Offset of the parameter block in bank 0; the target must be supported. The file says for each kernel that has
 * parameters (module_kernel.param_base): below sm_90 large blocks lie further up. */
uint32_t abi_param_base(unsigned sm);
/* Whether parameter blocks of this target may begin here. */
bool abi_is_param_base(unsigned sm, uint32_t offset);
/* Offset in bank 0 of the low word of the grid barrier's address; 0: not known for this target. */
uint32_t abi_grid_barrier(unsigned sm);
/* Of its high word, which some targets have in front of the low one. */
uint32_t abi_grid_barrier_high(unsigned sm);
/* Offset in bank 0 of the generic address of the parameter block, or of bank 0 itself on targets whose code adds the
 * block's offset; 0: not known for this target. */
uint32_t abi_params_address(unsigned sm);
/* Whether code, as `names` knows it, looks in bank 0 for the place of the reserved shared memory. An offset of 0 is no
 * place. */
typedef bool abi_names(const void *code, uint32_t offset);
bool abi_names_reserved(unsigned sm, abi_names *, const void *code);
/* Writes everything below the parameter block into bank0 (at least abi_param_base bytes, zeroed).
 * The memory descriptor is 0: it does not enter addresses. */
void abi_fill(unsigned sm, const struct abi_values *, uint8_t *bank0);

#endif
