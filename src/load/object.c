/* Relocatable objects (nvcc -rdc=true): what nvlink would decide before the addresses are known.
 * Memory is laid out so that any kernel may call any function of the files:
 *
 *   shared memory   variables of the file and of device functions first, then the kernel's own; the
 *                   dynamic part follows the largest kernel's
 *   bank 2          one for all kernels: every section's literals and jump tables one after another
 *
 * The linker looks at the call graph and gives some kernels less shared memory. Results do not depend
 * on it; occupancy can. Registers, barriers and stack follow the call graph (callgraph.c).
 */
#include "base/arith.h"
#include "load/load_internal.h"

enum {
  STT_CUDA_OBJECT = 13,   /* symbol type of variables in objects */
  STO_SPACE = 0xe0,       /* st_other: memory of a variable */
  STO_GLOBAL = 0x20, STO_SHARED = 0x40, STO_CONSTANT = 0x80,
  DYNAMIC_ALIGN = 16,     /* of extern __shared__ arrays, at least */
  MAX_ALIGN = 4096,
};

bool object_is_variable(const struct elf_symbol *y)
{
  return y->type == STT_CUDA_OBJECT;
}

bool object_is_shared(const struct elf_symbol *y)
{
  return y->type == STT_CUDA_OBJECT && (y->other & STO_SPACE) == STO_SHARED;
}

const char *object_memory(const struct elf_symbol *y)
{
  switch (y->other & STO_SPACE) {
  case STO_GLOBAL: return "__device__ variable";
  case STO_SHARED: return "__shared__ variable";
  case STO_CONSTANT: return "__constant__ variable";
  default: return NULL;
  }
}

/* Places the shared variables of kernel `owner` from *end on. In objects a shared variable is a
 * common symbol: its value is its alignment. */
static bool place_variables(struct module *m, int32_t owner, uint64_t *end, struct err *e)
{
  for (uint32_t i = 0; i < m->elf.n_symbols; i++) {
    const struct elf_symbol *y = &m->elf.symbol[i];
    if (!object_is_shared(y) || y->section == 0 || y->section >= m->elf.n_sections) continue;
    const struct place *p = &m->place[y->section];
    if (p->kind != PLACE_SHARED || p->kernel != owner) continue;
    uint64_t align = y->value ? y->value : 1;
    if (align > MAX_ALIGN || (align & (align - 1)) || y->size > MODULE_SHARED_LIMIT)
      return err_set(e, "%s: damaged cubin: shared variable '%.200s'; compile it again", m->name,
                     y->name);
    uint64_t at = align_up(*end, align);
    if (at + y->size > MODULE_SHARED_LIMIT)
      return err_set(e, "%s: more than %d bytes of shared variables; use smaller arrays", m->name,
                     MODULE_SHARED_LIMIT);
    m->shared_at[i] = (uint32_t)at;
    *end = at + y->size;
  }
  return true;
}

/* extern __shared__ arrays: all start behind the static part. False: there are none. */
static bool place_dynamic(struct module *m, uint32_t at)
{
  bool any = false;
  for (uint32_t i = 0; i < m->elf.n_symbols; i++) {
    if (!object_is_shared(&m->elf.symbol[i]) || m->elf.symbol[i].section != 0) continue;
    m->shared_at[i] = at;
    any = true;
  }
  return any;
}

bool object_layout(struct module *m, struct err *e)
{
  uint64_t common = 0, largest = 0;
  m->need = ARENA_ARRAY(&m->arena, struct need, m->elf.n_sections);
  m->shared_at = ARENA_ARRAY(&m->arena, uint32_t, m->elf.n_symbols + 1u);
  TRY(place_variables(m, ALL_KERNELS, &common, e));
  for (unsigned k = 0; k < m->n_kernels; k++) {
    uint64_t end = common;
    if (m->own_shared[k]) TRY(place_variables(m, (int32_t)k, &end, e));
    m->kernel[k].shared_static = (uint32_t)end;
    if (end > largest) largest = end;
  }
  largest = align_up(largest, DYNAMIC_ALIGN);
  bool dynamic = place_dynamic(m, (uint32_t)largest);
  for (unsigned k = 0; k < m->n_kernels; k++) {
    struct module_kernel *kernel = &m->kernel[k];
    if (dynamic) kernel->shared_static = (uint32_t)largest;
    if (dynamic || kernel->shared_static) kernel->shared_reserved = m->target->shared_reserved;
  }
  return true;
}
