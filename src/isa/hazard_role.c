#include "isa/hazard_role.h"

const char *const hazard_role_name[ROLE__N] = {
#define X(id, name) name,
    HAZARD_ROLE_LIST(X)
#undef X
};

enum hazard_role hazard_role_of(unsigned writer_pipe, const struct inst *in,
                                const struct operand *o)
{
  if (o->file == FILE_P || o->file == FILE_UP)
    return (in->flags & INST_BRANCH) ? ROLE_GUARD : ROLE_PRED;
  bool address = in->mem.space != MEM_NONE && o->file == FILE_R && o->slot == 0;
  /* Coordinates are read later than addresses (compiler output, CUDA 13.0). */
  if (address && in->mem.space != MEM_CONST && !in->mem.image && !in->mem.late_address)
    return ROLE_ADDR; /* LDC is earlier by a cycle */
  if (in->pipe == PIPE_MEM || in->pipe == PIPE_SFU) return ROLE_QUEUED;
  if (writer_pipe == in->pipe) return ROLE_SAME;
  /* Conversions of FP64 wait in a queue, too: F2F.F64.F32 4 cycles after HADD2.F32 (compiler output, CUDA 13.0). */
  return in->lat == LAT_SFU ? ROLE_QUEUED : ROLE_CROSS;
}

int hazard_reg_number(const struct operand *o, unsigned k)
{
  unsigned r = o->index + k;
  switch (o->file) {
  case FILE_R: return r < HAZARD_UR - 1 ? (int)r : -1;
  case FILE_S:
  case FILE_UR: return r < HAZARD_P - HAZARD_UR ? (int)(HAZARD_UR + r) : -1;
  case FILE_P: return r < 7 ? (int)(HAZARD_P + r) : -1;
  case FILE_UP: return r < 7 ? (int)(HAZARD_UP + r) : -1;
  default: return -1;
  }
}
