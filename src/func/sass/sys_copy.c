/* Arguments of the copies that the driver issues for sm_120 and sm_121 (isa/sass/copy_service.h). Compiler output (CUDA
 * 13.0): R5:R4 the destination, R7:R6 the source or the tensor map; of bytes R8 how many, R9 the CTAs, R11:R10 the
 * mbarrier; of tensors R8 to R12 coordinates, R13 the CTAs, R15:R14 the mbarrier, on the stack im2col's offsets in 16
 * bits each. A cache hint is behind them: it changes no value.
 */
#include "func/sass/func_launch.h"
#include "func/sass/guest.h"
#include "func/sass/guest_fault.h"
#include "func/sass/sys.h"
#include "isa/sass/copy_service.h"

enum { REG_STACK = 1, REG_TO = 4, REG_FROM = 6, REG_BYTES = 8, REG_CTAS = 9, REG_BARRIER = 10, REG_COORD = 8,
       REG_TENSOR_CTAS = 13, REG_TENSOR_BARRIER = 14, CTAS_SHIFT = 16, UNIT = 16, OFFSETS = COPY_DIMS - 2 };

static uint32_t argument(const struct func_warp *w, unsigned reg, unsigned lane)
{
  return reg < w->launch->n_regs ? warp_reg(w, reg)[lane] : 0;
}

/* As the instruction has them: two are 8 bits wide, three 5. */
static bool im2col_offsets(struct func_warp *w, unsigned dims, unsigned lane, uint32_t *packed)
{
  const struct guest g = {w, lane};
  const unsigned n = dims - 2, bits = CTAS_SHIFT / n;
  uint16_t off[OFFSETS];
  if (!guest_read_local(&g, argument(w, REG_STACK, lane), off, n * sizeof *off)) return false;
  *packed = 0;
  for (unsigned i = 0; i < n; i++) *packed |= (off[i] & (uint32_t)bits_ones(bits)) << i * bits;
  return true;
}

bool sys_copy_arguments(struct func_warp *w, unsigned kind, unsigned lane, struct effect *e, struct fault *f)
{
  const struct copy_service c = copy_service(kind);
  uint32_t extra = argument(w, REG_BYTES, lane) / UNIT;
  if (c.dims) extra = 0;
  if (c.im2col && !im2col_offsets(w, c.dims, lane, &extra)) {
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, lane, argument(w, REG_STACK, lane),
                      "the offsets of an im2col copy are not on the stack");
  }
  if (c.multicast) extra |= argument(w, c.dims ? REG_TENSOR_CTAS : REG_CTAS, lane) << CTAS_SHIFT;
  for (unsigned i = 0; i < 2; i++) warp_ureg(w, COPY_UR_FROM + i)[lane] = argument(w, REG_FROM + i, lane);
  for (unsigned i = 0; i < c.dims; i++) warp_ureg(w, COPY_UR_COORD + i)[lane] = argument(w, REG_COORD + i, lane);
  warp_ureg(w, COPY_UR_EXTRA)[lane] = extra;
  warp_ureg(w, COPY_UR_TO)[lane] = argument(w, REG_TO, lane);
  warp_ureg(w, COPY_UR_BARRIER)[lane] = argument(w, c.dims ? REG_TENSOR_BARRIER : REG_BARRIER, lane);
  return true;
}

void sys_copy_destination(struct uop *u)
{
  u->d = (struct row_ref){BASE_UREG, (COPY_UR_COORD + COPY_DIMS - 1) * ROW_BYTES};
}
