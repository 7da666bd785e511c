#include "debug/lane_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "func/sass/inspect.h"
#include "func/sass/step_observer.h"
#include "isa/hazard_role.h"

const char *const view_space_name[VIEW_SPACES] = {"generic", "global", "shared", "local", "const", "code"};

struct view_place view_place_of(const struct lane_view *v)
{
  const struct func_place p = func_place_of(view_cta(v), v->warp, v->lane);
  struct view_place out;
  memcpy(out.cta, p.cta, sizeof out.cta);
  memcpy(out.thread, p.thread, sizeof out.thread);
  return out;
}

const struct step_path *view_path(const struct lane_view *v)
{
  const struct step_cta *c = view_cta(v);
  const int path = c && v->warp < c->n_warps ? target_path_of(c, v->warp, v->lane) : -1;
  return path < 0 ? NULL : &c->warp[v->warp]->paths.p[path];
}

uint64_t view_pc(const struct lane_view *v)
{
  const struct step_path *p = view_path(v);
  return p ? p->pc : 0;
}

lane_mask view_lanes(const struct lane_view *v)
{
  const struct step_path *p = view_path(v);
  return p ? p->mask : 0;
}

/* ---- registers ---- */

bool view_register(const struct lane_view *v, unsigned reg, uint32_t *value)
{
  struct reg_value r = {0};
  const struct step_cta *c = view_cta(v);
  if (!c || reg >= HAZARD_REGS || (reg < HAZARD_UR && reg >= func_register_count(c))) return false;
  c->source->ops->reg_read(c->warp[v->warp], reg, &r);
  if (reg < HAZARD_P)
    *value = r.lane[v->lane];
  else
    *value = (uint32_t)(r.bits >> v->lane & 1);
  return true;
}

/* Registers of a file: name, number of the first, how many, and the one that always reads the same. */
static const struct {
  const char *prefix;
  unsigned first, n;
  const char *constant;
  uint32_t reads;
} files[] = {
    {"UR", HAZARD_UR, HAZARD_P - HAZARD_UR, "URZ", 0},
    {"UP", HAZARD_UP, HAZARD_REGS - HAZARD_UP - 1, "UPT", 1},
    {"R", 0, SASS_RZ, "RZ", 0},
    {"P", HAZARD_P, HAZARD_UP - HAZARD_P - 1, "PT", 1},
};

int view_register_number(const char *name, bool *fixed, uint32_t *value)
{
  *fixed = false;
  for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++) {
    const size_t k = strlen(files[i].prefix);
    if (strcmp(name, files[i].constant) == 0) {
      *fixed = true;
      *value = files[i].reads;
      return 0;
    }
    if (strncmp(name, files[i].prefix, k) != 0 || name[k] < '0' || name[k] > '9') continue;
    char *end;
    const unsigned long n = strtoul(name + k, &end, 10);
    if (*end == '\0' && n < files[i].n) return (int)(files[i].first + n);
  }
  return -1;
}

enum special { SPECIAL_TID, SPECIAL_CTAID, SPECIAL_NTID, SPECIAL_NCTAID };

static const struct {
  const char *name;
  enum special kind;
} triples[] = {
    {"tid", SPECIAL_TID},   {"threadIdx", SPECIAL_TID}, {"ctaid", SPECIAL_CTAID},   {"blockIdx", SPECIAL_CTAID},
    {"ntid", SPECIAL_NTID}, {"blockDim", SPECIAL_NTID}, {"nctaid", SPECIAL_NCTAID}, {"gridDim", SPECIAL_NCTAID},
};

static uint32_t triple(const struct lane_view *v, enum special kind, unsigned axis)
{
  const struct view_place p = view_place_of(v);
  switch (kind) {
  case SPECIAL_TID: return p.thread[axis];
  case SPECIAL_CTAID: return p.cta[axis];
  case SPECIAL_NTID: return v->t->source->block[axis];
  default: return v->t->source->grid[axis];
  }
}

bool view_special(const struct lane_view *v, const char *name, uint64_t *value)
{
  const char *dot = strchr(name, '.');
  if (strcmp(name, "laneid") == 0 || strcmp(name, "lane") == 0)
    *value = v->lane;
  else if (strcmp(name, "warpid") == 0 || strcmp(name, "warp") == 0)
    *value = v->warp;
  else if (strcmp(name, "pc") == 0)
    *value = view_pc(v);
  else if (strcmp(name, "position") == 0)
    *value = v->t->position;
  else if (!dot || dot[1] < 'x' || dot[1] > 'z' || dot[2])
    return false;
  else {
    for (unsigned i = 0; i < sizeof triples / sizeof triples[0]; i++) {
      if (strncmp(name, triples[i].name, (size_t)(dot - name)) != 0 || triples[i].name[dot - name]) continue;
      *value = triple(v, triples[i].kind, (unsigned)(dot[1] - 'x'));
      return true;
    }
    return false;
  }
  return true;
}

/* ---- memory ---- */

enum view_space view_resolve(const struct lane_view *v, uint64_t *addr)
{
  const uint64_t high = *addr & ~(uint64_t)UINT32_MAX;
  if (high && high == v->t->params.shared_window) return *addr &= UINT32_MAX, VIEW_SHARED;
  if (high && high == v->t->params.local_window) return *addr &= UINT32_MAX, VIEW_LOCAL;
  return VIEW_GLOBAL;
}

static bool missing(enum view_space s, uint64_t addr, size_t n, uint64_t has, struct err *e)
{
  return err_set(e, "no %zu bytes of %s memory at 0x%llx; there are %llu", n, view_space_name[s],
                 (unsigned long long)addr, (unsigned long long)has);
}

static bool missing_global(const struct lane_view *v, uint64_t addr, struct err *e)
{
  char near[160];
  gmem_describe(v->t->device->mem, addr, near, sizeof near);
  return err_set(e, "global memory at 0x%llx is not mapped: %s", (unsigned long long)addr, near);
}

/* Instructions as 16 bytes each. */
static bool read_code(const struct lane_view *v, uint64_t addr, uint8_t *buf, size_t n, struct err *e)
{
  const struct code_view *c = &v->t->params.code;
  if (addr < c->base || addr > c->end || n > c->end - addr) return missing(VIEW_CODE, addr, n, c->end - c->base, e);
  code_want_all(c);
  for (size_t i = 0; i < n; i++) {
    const struct sass_inst *s = &((const struct sass_inst *)c->decoded)[(addr + i - c->base) >> c->shift];
    const uint64_t word[2] = {s->word.lo, s->word.hi};
    buf[i] = ((const uint8_t *)word)[(addr + i - c->base) & 15];
  }
  return true;
}

/* Memory of the lane's CTA or thread. NULL: the space is none of these. */
static uint8_t *own_memory(const struct lane_view *v, enum view_space s, uint64_t *bytes)
{
  struct step_cta *c = view_cta(v);
  *bytes = 0;
  if (!c) return NULL;
  return s == VIEW_SHARED ? func_shared_memory(c, bytes) : func_local_memory(c, v->warp, v->lane, bytes);
}

static bool read_constants(const struct lane_view *v, uint64_t addr, void *buf, size_t n, struct err *e)
{
  const uint64_t bank = addr >> 32, at = addr & UINT32_MAX;
  const struct func_params *p = &v->t->params;
  const uint64_t has = bank < sizeof p->bank / sizeof p->bank[0] && p->bank[bank] ? p->bank_bytes[bank] : 0;
  if (at > has || n > has - at) return missing(VIEW_CONST, at, n, has, e);
  memcpy(buf, p->bank[bank] + at, n);
  return true;
}

bool view_read(const struct lane_view *v, enum view_space s, uint64_t addr, void *buf, size_t n, struct err *e)
{
  uint64_t bytes;
  if (s == VIEW_GENERIC) s = view_resolve(v, &addr);
  if (s == VIEW_CODE) return read_code(v, addr, buf, n, e);
  if (s == VIEW_CONST) return read_constants(v, addr, buf, n, e);
  if (s == VIEW_GLOBAL) return gmem_read(v->t->device->mem, addr, buf, n) || missing_global(v, addr, e);
  const uint8_t *from = own_memory(v, s, &bytes);
  if (!from || addr > bytes || n > bytes - addr) return missing(s, addr, n, bytes, e);
  memcpy(buf, from + addr, n);
  return true;
}

static bool write_piece(const struct lane_view *v, enum view_space s, uint64_t addr, const uint8_t *data, size_t n)
{
  const struct step_cta *c = view_cta(v);
  struct target_edit x = {.addr = addr,
                          .bytes = (uint8_t)n,
                          .warp = v->warp,
                          .cta = c ? c->id : 0,
                          .lanes = (lane_mask)1 << v->lane,
                          .kind = s == VIEW_GLOBAL   ? EDIT_GLOBAL
                                  : s == VIEW_SHARED ? EDIT_SHARED
                                                     : EDIT_LOCAL};
  memcpy(x.data, data, n);
  return target_edit(v->t, &x);
}

bool view_write(const struct lane_view *v, enum view_space s, uint64_t addr, const void *buf, size_t n, struct err *e)
{
  uint8_t *probe = mem_alloc(n);
  if (s == VIEW_GENERIC) s = view_resolve(v, &addr);
  bool there = view_read(v, s, addr, probe, n, e);
  mem_free(probe);
  if (!there) return false;
  if (s == VIEW_CODE || s == VIEW_CONST) return err_set(e, "%s memory is not written", view_space_name[s]);
  for (size_t at = 0; at < n; at += TARGET_EDIT_BYTES) {
    const size_t k = n - at < TARGET_EDIT_BYTES ? n - at : TARGET_EDIT_BYTES;
    if (!write_piece(v, s, addr + at, (const uint8_t *)buf + at, k)) return missing(s, addr + at, k, 0, e);
  }
  return true;
}
