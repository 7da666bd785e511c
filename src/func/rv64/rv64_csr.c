/* Control and status registers (func/rv64/rv64_csr.h). Numbers and layouts: The RISC-V Instruction Set Manual, volume
 * I, version 20191213, chapters 10 and 11. */
#include "func/rv64/rv64_csr.h"

enum { FFLAGS = 0x001, FRM = 0x002, FCSR = 0x003, CYCLE = 0xc00, TIME = 0xc01, INSTRET = 0xc02 };
enum { FFLAGS_BITS = 0x1f, FRM_BITS = 7, FRM_SHIFT = 5 };

bool rv64_csr(struct rv64_hart *h, unsigned number, enum rv64_csr_op op, uint64_t value, bool writes, uint64_t now,
              uint64_t *old)
{
  switch (number) {
  case FFLAGS: *old = h->fflags; break;
  case FRM: *old = h->frm; break;
  case FCSR: *old = (uint64_t)h->frm << FRM_SHIFT | h->fflags; break;
  case CYCLE:
  case TIME:
  case INSTRET: *old = now; return !writes;
  default: return false;
  }
  if (!writes) return true;
  const uint64_t to = op == RV64_CSR_WRITE ? value : op == RV64_CSR_SET ? *old | value : *old & ~value;
  if (number == FRM) {
    h->frm = to & FRM_BITS;
    return true;
  }
  h->fflags = to & FFLAGS_BITS;
  if (number == FCSR) h->frm = to >> FRM_SHIFT & FRM_BITS;
  return true;
}
