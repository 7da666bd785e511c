/* Memory instructions by what they access, as Nsight Compute tells them apart (…_mem_global_op_ld …). */
#ifndef WS_TIME_SM_MEM_CLASS_H
#define WS_TIME_SM_MEM_CLASS_H

#include "isa/step.h"

#define MEM_CLASS_LIST(X)                                                                          \
  X(GLOBAL_LD, "global_ld")                                                                        \
  X(GLOBAL_ST, "global_st")                                                                        \
  X(GLOBAL_ATOM, "global_atom")                                                                    \
  X(GLOBAL_RED, "global_red")                                                                      \
  X(LDGSTS, "ldgsts")                                                                              \
  X(LOCAL_LD, "local_ld")                                                                          \
  X(LOCAL_ST, "local_st")                                                                          \
  X(TEX, "tex") /* textures and surfaces */                                                        \
  X(SHARED_LD, "shared_ld") /* LDSM, too */                                                        \
  X(SHARED_ST, "shared_st")                                                                        \
  X(SHARED_ATOM, "shared_atom")                                                                    \
  X(CONST, "const") /* scalar loads, too */

enum mem_class {
#define X(id, name) MEM_CLASS_##id,
  MEM_CLASS_LIST(X)
#undef X
  MEM_CLASS__N
};

/* Of an access whose space is resolved. */
static inline enum mem_class mem_class_of(const struct mem_effect *m)
{
  bool store = m->op == MEM_STORE, atomic = m->op == MEM_ATOMIC || m->op == MEM_RED;
  switch (m->space) {
  case MEM_SHARED: return atomic ? MEM_CLASS_SHARED_ATOM : store ? MEM_CLASS_SHARED_ST : MEM_CLASS_SHARED_LD;
  case MEM_LOCAL: return store ? MEM_CLASS_LOCAL_ST : MEM_CLASS_LOCAL_LD;
  case MEM_TEXTURE: return MEM_CLASS_TEX;
  case MEM_SCALAR:
  case MEM_CONST: return MEM_CLASS_CONST;
  default: break;
  }
  if (m->op == MEM_LDGSTS) return MEM_CLASS_LDGSTS;
  if (m->op == MEM_ATOMIC) return MEM_CLASS_GLOBAL_ATOM;
  if (m->op == MEM_RED) return MEM_CLASS_GLOBAL_RED;
  return store ? MEM_CLASS_GLOBAL_ST : MEM_CLASS_GLOBAL_LD;
}

#endif
