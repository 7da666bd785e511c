#include "time/sm/mem_latency.h"

static enum mlat row(const struct inst *in, unsigned space)
{
  bool uniform = in->mem.addr != ADDR_REGULAR, store = in->mem.op == MEM_STORE;
  if (in->mem.op == MEM_LDGSTS) return MLAT_LDGSTS;
  if (in->mem.op == MEM_LDSM) return MLAT_LDSM;
  switch (space) {
  case MEM_CONST: return in->mem.addr == ADDR_IMMEDIATE ? MLAT_LDC_IMMEDIATE : MLAT_LDC_REGULAR;
  case MEM_SHARED:
    if (in->mem.op == MEM_ATOMIC || in->mem.op == MEM_RED) return MLAT_ATOMS;
    if (store) return uniform ? MLAT_STS_UNIFORM : MLAT_STS_REGULAR;
    return uniform ? MLAT_LDS_UNIFORM : MLAT_LDS_REGULAR;
  default:
    if (store) return uniform ? MLAT_STG_UNIFORM : MLAT_STG_REGULAR;
    return uniform ? MLAT_LDG_UNIFORM : MLAT_LDG_REGULAR;
  }
}

struct mem_latency mem_latency(const struct params *p, const struct inst *in, unsigned space)
{
  enum mlat m = row(in, space);
  struct mem_latency l = {.raw = (uint16_t)p->mlat_raw[m], .war = (uint16_t)p->mlat_war[m]};
  bool wide64 = in->mem.bytes == 8, wide128 = in->mem.bytes == 16;
  if (m == MLAT_LDG_UNIFORM || m == MLAT_LDG_REGULAR)
    l.raw = (uint16_t)(l.raw + (wide64 ? p->mlat_load_global_add64 : 0) +
                       (wide128 ? p->mlat_load_global_add128 : 0));
  else if (m == MLAT_LDS_UNIFORM || m == MLAT_LDS_REGULAR)
    l.raw = (uint16_t)(l.raw + (wide64 ? p->mlat_load_shared_add64 : 0) +
                       (wide128 ? p->mlat_load_shared_add128 : 0));
  else if (in->mem.op == MEM_STORE)
    l.war = (uint16_t)(l.war + (wide64 ? p->mlat_store_add64 : 0) +
                       (wide128 ? p->mlat_store_add128 : 0));
  return l;
}
