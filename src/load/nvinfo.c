/* .nv.info: what the compiler tells the loader about kernels.
 *
 * A section is a list of records: u8 format, u8 attribute, u16 value; format 4 has `value` bytes of
 * payload behind it, padded to 4. Attribute names are those nvdisasm prints (EIATTR_*). Attributes
 * that are not listed below describe code sites or debugging and are skipped.
 */
#include <string.h>

#include "load/load_internal.h"

enum { FORMAT_NONE = 1, FORMAT_BYTE = 2, FORMAT_HALF = 3, FORMAT_SIZED = 4 };

enum attribute {
  ATTR_MAX_THREADS = 0x05,
  ATTR_PARAM_CBANK = 0x0a,
  ATTR_REQNTID = 0x10,
  ATTR_FRAME_SIZE = 0x11,
  ATTR_MIN_STACK_SIZE = 0x12,
  ATTR_KPARAM_INFO = 0x17,
  ATTR_CBANK_PARAM_SIZE = 0x19,
  ATTR_MAX_STACK_SIZE = 0x23,
  ATTR_REGCOUNT = 0x2f,
  ATTR_CTA_PER_CLUSTER = 0x3d,
  ATTR_EXPLICIT_CLUSTER = 0x3e,
  ATTR_KPARAM_INFO_V2 = 0x45,
  ATTR_NUM_BARRIERS = 0x4c,
  ATTR_AT_ENTRY = 0x4f,     /* code that the driver puts in front of the kernel, by number */
  ATTR_TMEM_PAIRS = 0x52,   /* tcgen05 for pairs of CTAs is used */
  ATTR_LANGUAGE = 0x66,
};

enum { LANGUAGE_TILE_IR = 3 }; /* what tileiras (CUDA 13.1 and later) writes; ptxas writes no such record for PTX */

enum { STACK_UNKNOWN = 0xffffffff, PARAM_RECORD_BYTES = 16 };

struct nvinfo_record {
  uint8_t format, attribute;
  uint16_t value;
  const uint8_t *payload; /* FORMAT_SIZED: value bytes */
};

struct kernel_params {
  uint32_t n, most; /* described; as many as records fit the section */
  bool *seen;
  struct module_param *param;
};

struct nvinfo {
  struct module *m;
  struct module_kernel *k;     /* NULL in the file-level section */
  const struct elf_section *s;
  uint64_t at;                 /* of the current record, for errors */
  struct kernel_params params;
  struct err *e;
};

static bool bad(const struct nvinfo *n, const char *what)
{
  return err_set(n->e, "%s: damaged cubin: %s (%s+0x%llx); compile it again", n->m->name, what,
                 n->s->name, (unsigned long long)n->at);
}

static bool next_record(struct nvinfo *n, uint64_t *pos, struct nvinfo_record *r)
{
  n->at = *pos;
  if (n->s->size - *pos < 4) return bad(n, "cut-off info record");
  const uint8_t *p = n->s->data + *pos;
  *r = (struct nvinfo_record){ .format = p[0], .attribute = p[1], .value = elf_u16(p + 2) };
  *pos += 4;
  if (r->format < FORMAT_NONE || r->format > FORMAT_SIZED) return bad(n, "info record format");
  if (r->format != FORMAT_SIZED) return true;
  if (n->s->size - *pos < r->value) return bad(n, "cut-off info record");
  r->payload = p + 4;
  uint64_t padded = ((uint64_t)r->value + 3) & ~(uint64_t)3;
  uint64_t left = n->s->size - *pos;
  *pos += padded < left ? padded : left;
  return true;
}

/* Payload of exactly `bytes` bytes. */
static bool want(const struct nvinfo *n, const struct nvinfo_record *r, unsigned bytes)
{
  if (r->format != FORMAT_SIZED || r->value != bytes) return bad(n, "info record size");
  return true;
}

/* File-level record about a function: u32 symbol, u32 number. Functions that are no kernels of ours
 * (device functions) leave *k NULL; symbol 0 are those that were dropped. */
static bool function_record(const struct nvinfo *n, const struct nvinfo_record *r,
                            struct module_kernel **k, const struct elf_symbol **sym,
                            uint32_t *number)
{
  TRY(want(n, r, 8));
  uint32_t index = elf_symbol_number(n->s, elf_u32(r->payload));
  if (index >= n->m->elf.n_symbols) return bad(n, "symbol number");
  *sym = &n->m->elf.symbol[index];
  *number = elf_u32(r->payload + 4);
  int32_t i = module_kernel_of_text(n->m, (*sym)->section);
  *k = i == ALL_KERNELS || strcmp(n->m->kernel[i].name, (*sym)->name) != 0 ? NULL
                                                                           : &n->m->kernel[i];
  return true;
}

/* The kernel a function belongs to when both share a section, else every kernel may call it. */
static void raise_stack(struct module *m, const struct elf_symbol *f, uint32_t bytes)
{
  int32_t owner = module_kernel_of_text(m, f->section);
  for (unsigned i = 0; i < m->n_kernels; i++)
    if ((owner == ALL_KERNELS || owner == (int32_t)i) && m->kernel[i].stack_bytes < bytes)
      m->kernel[i].stack_bytes = bytes;
}

/* What the callers of a function need to know; NULL: a linked file, which has added it to them. */
static struct need *need_of(const struct nvinfo *n, const struct elf_symbol *f)
{
  return n->m->need && f->section < n->m->elf.n_sections ? &n->m->need[f->section] : NULL;
}

static bool file_record(struct nvinfo *n, const struct nvinfo_record *r)
{
  struct module_kernel *k;
  const struct elf_symbol *sym;
  struct need *need;
  uint32_t number;
  switch (r->attribute) {
  case ATTR_REGCOUNT:
    TRY(function_record(n, r, &k, &sym, &number));
    if (number > 255) return bad(n, "register count");
    if (k) k->regs = number;
    if ((need = need_of(n, sym)) && need->regs < number) need->regs = (uint8_t)number;
    return true;
  case ATTR_FRAME_SIZE:
    TRY(function_record(n, r, &k, &sym, &number));
    if (k) k->frame_bytes = number;
    if ((need = need_of(n, sym)))
      need->frames = number < MODULE_STACK_LIMIT - need->frames ? need->frames + number
                                                                : MODULE_STACK_LIMIT;
    raise_stack(n->m, sym, number);
    return true;
  case ATTR_MIN_STACK_SIZE:
  case ATTR_MAX_STACK_SIZE:
    TRY(function_record(n, r, &k, &sym, &number));
    /* Recursion: the linker cannot tell. The frames still say that there is a stack. */
    if (number != STACK_UNKNOWN) raise_stack(n->m, sym, number);
    return true;
  default:
    return true;
  }
}

/* u32 index, u16 ordinal, u16 offset, then alignment, space and size of the parameter. The first form has 14 bits for
 * the size. Compilers take the second for kernels with more than 4,352 bytes of parameters; its size is the u16
 * first. */
static bool param_record(struct nvinfo *n, const struct nvinfo_record *r)
{
  TRY(want(n, r, 12));
  uint32_t ordinal = elf_u16(r->payload + 4);
  uint32_t bytes = r->attribute == ATTR_KPARAM_INFO ? elf_u32(r->payload + 8) >> 18 : elf_u16(r->payload + 8);
  struct kernel_params *ps = &n->params;
  if (!ps->param) {
    ps->most = (uint32_t)(n->s->size / PARAM_RECORD_BYTES);
    ps->param = ARENA_ARRAY(&n->m->arena, struct module_param, ps->most);
    ps->seen = ARENA_ARRAY(&n->m->arena, bool, ps->most);
  }
  if (ordinal >= ps->most) return bad(n, "parameter number");
  if (ps->seen[ordinal]) return bad(n, "parameter described twice");
  ps->seen[ordinal] = true;
  ps->param[ordinal] = (struct module_param){ .offset = elf_u16(r->payload + 6), .bytes = bytes };
  if (ordinal >= ps->n) ps->n = ordinal + 1;
  return true;
}

static bool triple(const struct nvinfo *n, const struct nvinfo_record *r, uint32_t to[3])
{
  TRY(want(n, r, 12));
  for (unsigned i = 0; i < 3; i++) to[i] = elf_u32(r->payload + 4 * i);
  return true;
}

/* A list of u32. What 6 and 7 do, the set-up of tensor memory's allocation for CTAs and pairs, is the launch's; those
 * of CUDA 12 keep their words elsewhere. */
static bool at_entry(struct nvinfo *n, const struct nvinfo_record *r)
{
  enum { TMEM_CTA1_OLD = 4, TMEM_CTA2_OLD = 5 };
  for (unsigned i = 0; r->format == FORMAT_SIZED && i + 4 <= r->value; i += 4) {
    uint32_t fragment = elf_u32(r->payload + i);
    if (fragment == TMEM_CTA1_OLD || fragment == TMEM_CTA2_OLD) n->k->tmem_old = true;
  }
  return true;
}

static bool kernel_record(struct nvinfo *n, const struct nvinfo_record *r)
{
  struct module_kernel *k = n->k;
  switch (r->attribute) {
  case ATTR_MAX_THREADS:
    return triple(n, r, k->max_threads);
  case ATTR_REQNTID:
    return triple(n, r, k->req_threads);
  case ATTR_CTA_PER_CLUSTER:
    return triple(n, r, k->cluster);
  case ATTR_EXPLICIT_CLUSTER:
    k->explicit_cluster = true;
    return true;
  case ATTR_PARAM_CBANK:
    TRY(want(n, r, 8));
    k->param_base = elf_u16(r->payload + 4);
    k->param_bytes = elf_u16(r->payload + 6);
    return true;
  case ATTR_CBANK_PARAM_SIZE:
    if (r->format != FORMAT_HALF) return bad(n, "info record size");
    k->param_bytes = r->value;
    return true;
  case ATTR_NUM_BARRIERS:
    if (r->format != FORMAT_BYTE && r->format != FORMAT_HALF) return bad(n, "info record size");
    k->barriers = r->value & 0xff;
    return true;
  case ATTR_TMEM_PAIRS:
    k->tmem_pairs = true;
    return true;
  case ATTR_LANGUAGE:
    TRY(want(n, r, 4));
    k->tile = elf_u32(r->payload) == LANGUAGE_TILE_IR;
    return true;
  case ATTR_AT_ENTRY:
    return at_entry(n, r);
  case ATTR_KPARAM_INFO:
  case ATTR_KPARAM_INFO_V2:
    return param_record(n, r);
  default:
    return true;
  }
}

static bool finish_params(struct nvinfo *n)
{
  struct kernel_params *ps = &n->params;
  n->at = n->s->size;
  if (n->k->param_bytes > PARAM_LIMIT) return bad(n, "size of the parameter block");
  if (n->k->param_bytes && !ps->n) return bad(n, "parameters that no record describes");
  for (uint32_t i = 0; i < ps->n; i++) {
    if (!ps->seen[i]) return bad(n, "missing parameter description");
    const struct module_param *p = &ps->param[i];
    if (p->bytes == 0 || p->bytes > n->k->param_bytes ||
        p->offset > n->k->param_bytes - p->bytes)
      return bad(n, "parameter outside the parameter block");
  }
  n->k->n_params = ps->n;
  n->k->param = ps->param;
  return true;
}

static bool read_section(struct module *m, const struct elf_section *s, struct module_kernel *k,
                         struct err *e)
{
  struct nvinfo n = { .m = m, .k = k, .s = s, .e = e };
  if (!s->data) return bad(&n, "info section without contents");
  for (uint64_t pos = 0; pos < s->size;) {
    struct nvinfo_record r;
    TRY(next_record(&n, &pos, &r));
    TRY(k ? kernel_record(&n, &r) : file_record(&n, &r));
  }
  return k ? finish_params(&n) : true;
}

/* A device function: only what its callers need to know. */
static bool read_callee(struct module *m, const struct elf_section *s, struct err *e)
{
  struct module_kernel one = { .name = "" };
  TRY(read_section(m, s, &one, e));
  if (s->info < m->elf.n_sections && m->need[s->info].barriers < one.barriers)
    m->need[s->info].barriers = (uint8_t)one.barriers;
  return true;
}

bool nvinfo_read(struct module *m, struct err *e)
{
  static const char prefix[] = ".nv.info";
  for (uint32_t i = 1; i < m->elf.n_sections; i++) {
    const struct elf_section *s = &m->elf.section[i];
    if (strncmp(s->name, prefix, sizeof prefix - 1) != 0) continue;
    const char *rest = s->name + sizeof prefix - 1;
    if (*rest == '\0') {
      TRY(read_section(m, s, NULL, e));
    } else if (*rest == '.') {
      int32_t k = module_kernel_of_section(m, s, rest + 1);
      if (k == ALL_KERNELS) { /* a device function's: the linker has added it to its callers */
        if (m->elf.relocatable) TRY(read_callee(m, s, e));
        continue;
      }
      if (m->kernel[k].param)
        return err_set(e, "%s: damaged cubin: two sections %s; compile it again", m->name, s->name);
      TRY(read_section(m, s, &m->kernel[k], e));
    }
  }
  return true;
}
