/* Numbers that a kernel chooses, and descriptors it makes in its own memory: tensor maps, textures and surfaces with their
 * samplers, matrix descriptors, addresses of every space, sizes, counts, format strings, blocks of the heap, records of
 * launches by kernels. The input is a series of fields (fields.h): the part below that runs, then what it asks for. An
 * instruction is a word of the input that decodes; its registers hold addresses near those that exist, or any number.
 *
 * Memory of the guest lies between pages that cannot be touched, and in sanitizer builds rows of registers, shared and
 * local memory lie apart (base/redzone.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bug.h"
#include "fields.h"
#include "func/func.h"
#include "func/device_call.h"
#include "isa/sass/syscall.h"
#include "func/sass/func_launch.h"
#include "func/sass/sys.h"
#include "func/tensor_map.h"
#include "fuzz.h"
#include "host/texture.h"

enum { PAGE_BITS = 12, PAGE = 1 << PAGE_BITS, BUFFER = 4 * PAGE, CODE = 0x10000, PALETTE = 8, OBJECTS = 3 };
enum { MAP_AT = 1024, TEXT_AT = 2048, BANK_BYTES = 1024, SHARED = 2048 + 128, LOCAL = 240, REGISTERS = 64 };
#define SHARED_WINDOW 0x7f0000000000ull
#define LOCAL_WINDOW  0x7e0000000000ull
#define LOW_AT        0x800000000ull
#define HIGH_AT       ((1ull << 49) - BUFFER)

/* What an execution works with; the memory stays from one to the next. */
struct bench {
  struct gmem *mem;
  uint8_t *low, *high; /* the buffers on the host */
  struct tex_objects objects;
  struct func_heap *heap;
  struct sass_inst sass[2];
  struct inst inst[2];
  uint8_t bank[BANK_BYTES];
  FILE *null;
};

static uint8_t *walled(void)
{
  uint8_t *p = mmap(NULL, BUFFER + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  BUG_ON(p == MAP_FAILED || mprotect(p + PAGE, BUFFER, PROT_READ | PROT_WRITE) != 0);
  return p + PAGE;
}

static struct bench *bench(void)
{
  static struct bench b;
  if (!b.mem) {
    b.mem = gmem_new(PAGE_BITS);
    b.low = walled(), b.high = walled();
    b.null = fopen("/dev/null", "w");
    BUG_ON(!gmem_map_host(b.mem, LOW_AT, b.low, BUFFER, "low") || !gmem_map_host(b.mem, HIGH_AT, b.high, BUFFER, "high"));
  }
  memset(b.low, 0, BUFFER);
  memset(b.high, 0, BUFFER);
  return &b;
}

/* A number near a place that means something to a kernel. */
static uint64_t place(struct fields *in)
{
  static const uint64_t at[] = {LOW_AT, LOW_AT + BUFFER, HIGH_AT, HIGH_AT + BUFFER, SHARED_WINDOW, SHARED_WINDOW + SHARED,
                                LOCAL_WINDOW, LOCAL_WINDOW + LOCAL, LOW_AT + MAP_AT, LOW_AT + TEXT_AT, SHARED, LOCAL, CODE,
                                1u << 24, SHARED_WINDOW + (1u << 24), 1};
  const unsigned how = field8(in);
  if (how & 128) return number(in);
  const uint64_t v = at[how & 15];
  return how & 16 ? v + (uint64_t)(int64_t)(int8_t)field8(in) : how & 32 ? v + 16 * (uint64_t)field8(in) : v;
}

/* ---- descriptors ---------------------------------------------------------------------------------- */

static void change_map(struct fields *in, struct tensor_map *m)
{
  const unsigned d = choice(in, TENSOR_DIMS), k = choice(in, TENSOR_SPATIAL);
  switch (choice(in, 12)) {
  case 0: m->kind = (enum tensor_kind)choice(in, 4); break;
  case 1: m->type = (enum tensor_type)choice(in, 16); break;
  case 2: m->rank = 1 + choice(in, 8); break;
  case 3: m->interleave = (enum tensor_interleave)choice(in, 4); break;
  case 4: m->swizzle = (enum tensor_swizzle)choice(in, 4); break;
  case 5: m->atom = (enum tensor_atom)choice(in, 8); break;
  case 6: m->nan_fill = field8(in) & 1; break;
  case 7: m->address = place(in); break;
  case 8: m->dim[d] = (uint32_t)number(in) + UINT64_C(1); break;
  case 9: m->stride[d] = number(in) & 0xfffffffff0u; break;
  case 10: m->box[d] = 1 + field8(in), m->step[d] = 1 + choice(in, 8); break;
  default: m->lower[k] = (int16_t)number(in), m->upper[k] = (int16_t)number(in), m->pixels = 1 + (field(in, 2) & 1023);
  }
}

static void put_map(struct fields *in, uint8_t *at)
{
  struct tensor_map m = {.kind = TENSOR_TILED, .type = TENSOR_U32, .rank = 1 + choice(in, TENSOR_DIMS), .address = LOW_AT + PAGE,
                         .pixels = 4};
  for (unsigned i = 0; i < TENSOR_DIMS; i++) m.dim[i] = 4, m.stride[i] = 16u << 2 * i, m.box[i] = i ? 2 : 4, m.step[i] = 1;
  for (unsigned n = choice(in, 8); n; n--) change_map(in, &m);
  const unsigned rank = m.rank;
  if (m.rank > TENSOR_DIMS) m.rank = TENSOR_DIMS; /* there are no more fields */
  if (m.kind != TENSOR_TILED && m.rank < 3) m.rank = 3;
  tensor_map_write(&m, at);
  if (rank > TENSOR_DIMS) at[8] = (uint8_t)((at[8] & ~0x70) | (rank - 1) << 4);
}

static float real(struct fields *in)
{
  const uint32_t bits = (uint32_t)number(in);
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static void add_object(struct fields *in, struct tex_objects *objects)
{
  struct err e;
  struct image m;
  uint64_t handle, bytes;
  struct image_desc d = {.shape = (enum image_shape)choice(in, 5), .type = (enum texel_type)choice(in, 3),
                         .bits = 8u << choice(in, 4), .channels = 1u << choice(in, 3), .levels = choice(in, 4)};
  for (unsigned i = 0; i < 3; i++) d.extent[i] = field8(in) & 1 ? (uint32_t)number(in) : 1 + choice(in, 8);
  if (field8(in) & 1) d.layers = (uint32_t)number(in);
  if (field8(in) & 1) d.pitch = number(in);
  if (!image_layout(&d, field8(in) & 1 ? place(in) : LOW_AT, &m, &bytes, &e)) return;
  struct sampler s = {.lod_bias = real(in), .lod_min = real(in), .lod_max = real(in)};
  for (unsigned i = 0; i < 3; i++) s.address[i] = (uint8_t)choice(in, 4);
  for (unsigned i = 0; i < 4; i++) s.border[i] = real(in);
  const unsigned flags = field8(in);
  s.linear = flags & 1, s.normalized = flags & 2, s.read_float = flags & 4, s.srgb = flags & 8, s.mip_linear = flags & 16;
  if (flags & 32) surface_create(objects, &m, "surface", &handle, &e);
  else texture_create(objects, &m, &s, "texture", &handle, &e);
}

/* Conversions with numbers for flags, widths and precisions, and what is none. */
static size_t put_format(struct fields *in, char *to, size_t size)
{
  static const char *const part[] = {"-", "+", " ", "#", "0", ".", "*", "l", "ll", "h", "hh", "L", "z", "9", "4096",
                                     "2147483647", "4294967296", "x"};
  static const char conversions[] = "diuxXocspfFeEgGaAn%q";
  size_t n = 0;
  for (unsigned k = choice(in, 6); k && n + 80 < size; k--) {
    to[n++] = '%';
    for (unsigned i = choice(in, 6); i; i--) n += (size_t)sprintf(to + n, "%s", part[choice(in, sizeof part / sizeof *part)]);
    to[n++] = conversions[choice(in, sizeof conversions - 1)];
  }
  to[n] = 0;
  return n + 1;
}

/* ---- one instruction ------------------------------------------------------------------------------ */

static uint64_t answer_call(void *ctx, const struct device_call *c)
{
  const uint64_t v = c->arg[1];
  (void)ctx;
  return device_call_write(c, c->arg[0], &v, 1 + (v & 7)) ? v : c->arg[DEVICE_CALL_ARGS - 1];
}

static void fill_registers(struct fields *in, struct func_warp *w, const uint64_t *palette)
{
  static const uint32_t strides[] = {0, 1, 4, 16, 32, 4096, 0x80000000u, 0};
  uint32_t pick = (uint32_t)field(in, 4) | 1;
  for (unsigned r = 0; r + 1 < REGISTERS; r += 2) {
    pick = pick * 1664525u + 1013904223u;
    const uint64_t v = palette[pick >> 29];
    const uint32_t stride = strides[pick >> 26 & 7];
    for (unsigned i = 0; i < LANES; i++) {
      warp_reg(w, r)[i] = (uint32_t)v + i * stride;
      warp_reg(w, r + 1)[i] = (uint32_t)(v >> 32);
      warp_ureg(w, r)[i] = (uint32_t)palette[pick >> 23 & 7];
      warp_ureg(w, r + 1)[i] = (uint32_t)(palette[pick >> 23 & 7] >> 32);
    }
  }
  for (unsigned p = 0; p < N_PREDS - 1; p++) {
    w->pred[p] = (uint32_t)palette[p];
    w->pred[PRED_UNIFORM + p] = palette[p] & 1 ? FULL_MASK : 0;
  }
  for (unsigned b = 0; b < N_BREGS; b++)
    if (pick >> b & 1)
      for (unsigned i = 0; i < LANES; i++) warp_breg(w, b)[i] = (uint32_t)palette[b % PALETTE];
}

static bool ended_well(bool ok, const struct fault *f)
{
  BUG_ON(!ok && (f->kind == FAULT_NONE || !f->text[0]));
  return ok;
}

/* As the copy engine does. */
static bool walk_copy(const struct step_ops *ops, struct step_warp *w, struct effect *e, struct gmem_view *v, struct fault *f)
{
  enum { MOST_PIECES = 1 << 20 };
  const bool reduces = e->inst->mem.copy == COPY_REDUCE;
  struct copy_piece p = {.last = false};
  for (uint32_t k = 0; !p.last; k++) {
    BUG_ON(k >= MOST_PIECES);
    if (!ops->copy_piece(w, e, k, &p, v, f)) return false;
    if (k > 64 && !p.bytes) continue;
    if (reduces && !ops->copy_part(w, e, k, p.addr, p.bytes, v, f)) return false;
  }
  return true;
}

static bool touch_memory(struct fields *in, struct func_warp *w, struct effect *e, struct bench *b, struct fault *f)
{
  const struct step_ops *ops = w->step.ops;
  const unsigned how = field8(in);
  struct gmem_log log;
  struct gmem_view v = {.image = b->mem, .log = how & 1 ? &log : NULL};
  bool ok = true;
  gmem_log_init(&log);
  if (e->inst->mem.copy && how & 2) ok = walk_copy(ops, &w->step, e, &v, f);
  if (ok) ok = ops->perform(&w->step, e, e->mem->lanes | e->mem->near_lanes, &v, f);
  if (ok) ops->finish(&w->step, e);
  gmem_log_free(&log);
  return ok;
}

static void step_once(struct fields *in, struct bench *b, struct func_launch *l, const uint64_t *palette)
{
  struct step_source *s = func_source(l);
  struct mem_effect *me = aligned_alloc(_Alignof(struct mem_effect), sizeof *me);
  struct effect e = {.mem = me};
  struct fault f = {0};
  memset(me, 0, sizeof *me);
  struct func_cta *c = (struct func_cta *)s->ops->cta_begin(s, 0, 0, 0, 0);
  if (s->n_ctas > 1 && field8(in) & 1) s->ops->cta_begin(s, 1, 0, 1, 0);
  struct func_warp *w = &c->warps[choice(in, s->warps_per_cta)];
  fill_registers(in, w, palette);
  memset(c->shared, field8(in), l->shared_limit);
  if (ended_well(s->ops->step(&w->step, 0, &e, &f), &f) && e.flags & EFF_MEM) ended_well(touch_memory(in, w, &e, b, &f), &f);
  free(me);
}

/* The launch around the instruction in b->sass[0]. */
static void run_instruction(struct fields *in, struct bench *b, unsigned sm)
{
  const struct device_runtime runtime = {NULL, answer_call};
  uint64_t palette[PALETTE];
  struct err err;
  const unsigned how = field8(in);
  struct func_params p = {
      .sm = sm, .code = {.base = CODE, .end = CODE + 32, .shift = 4, .inst = b->inst, .decoded = b->sass}, .entry_pc = CODE, .grid = {2, 1, 1},
      .block = {how & 1 ? 128 : 1 + choice(in, 40), 1, 1}, .regs_per_thread = REGISTERS, .shared_static = SHARED,
      .local_bytes = LOCAL, .shared_window = SHARED_WINDOW, .local_window = LOCAL_WINDOW, .image = b->mem,
      .bank = {b->bank}, .bank_bytes = {BANK_BYTES}, .n_workers = 1, .slots_per_worker = 2, .print = &b->null,
      .kernel_name = "fuzz", .heap = b->heap, .runtime = how & 2 ? &runtime : NULL, .textures = &b->objects.table,
      .host_level = 1};
  if (sm >= 90 && how & 4) p.cluster[0] = 2, p.cluster[1] = p.cluster[2] = 1;
  for (unsigned i = 0; i < PALETTE; i++) palette[i] = place(in);
  struct func_launch *l = func_launch_new(&p, &err);
  BUG_ON(!l);
  step_once(in, b, l, palette);
  func_launch_free(l);
}

static unsigned target(struct fields *in)
{
  static const unsigned targets[] = {75, 80, 86, 90, 100, 120};
  return targets[choice(in, sizeof targets / sizeof *targets)];
}

static void instruction(struct fields *in, struct bench *b)
{
  const unsigned sm = target(in);
  const struct word128 w = {field(in, 8), field(in, 8)}, end = {0x000000000000794dull, 0x000fea0003800000ull};
  struct err e;
  if (!sass_decode(sm, w, CODE, &b->sass[0], &b->inst[0], &e) || !sass_decode(sm, end, CODE + 16, &b->sass[1], &b->inst[1], &e))
    return;
  const bool tensor = b->sass[0].sem >= SEM_UTMALDG && b->sass[0].sem <= SEM_UTMAPF;
  const bool image = b->inst[0].mem.space == MEM_TEXTURE || (b->sass[0].sem >= SEM_TEX && b->sass[0].sem <= SEM_TXQ) ||
                     b->sass[0].sem == SEM_SULD || b->sass[0].sem == SEM_SUST || b->sass[0].sem == SEM_SURED;
  if (tensor) put_map(in, b->low + MAP_AT);
  for (unsigned i = 0; image && i < OBJECTS; i++) add_object(in, &b->objects);
  run_instruction(in, b, sm);
  tex_objects_free(&b->objects);
}

/* A function of the runtime, as the loader places it. */
static void service(struct fields *in, struct bench *b)
{
  const struct word128 end = {0x000000000000794dull, 0x000fea0003800000ull};
  const unsigned sm = target(in);
  struct err e;
  for (unsigned i = 0; i < 2; i++)
    if (!sass_decode(sm, end, CODE + 16 * i, &b->sass[i], &b->inst[i], &e)) return;
  b->sass[0].row = NULL;
  b->sass[0].sem = SEM_SYSCALL;
  b->sass[0].src[0].imm = choice(in, SYSCALL__N);
  b->sass[0].dst = SASS_RZ, b->sass[0].udst = SASS_URZ;
  if (b->sass[0].src[0].imm == SYSCALL_VPRINTF) put_format(in, (char *)b->low + TEXT_AT, 1024);
  for (unsigned i = 0; i < OBJECTS; i++) add_object(in, &b->objects);
  b->heap = func_heap_new(LOW_AT, BUFFER);
  run_instruction(in, b, sm);
  func_heap_free(b->heap);
  b->heap = NULL;
  tex_objects_free(&b->objects);
}

/* ---- printf --------------------------------------------------------------------------------------- */

struct block {
  const uint8_t *p;
  size_t n;
};

static bool read_block(void *ctx, uint64_t addr, void *buf, size_t bytes)
{
  const struct block *k = ctx;
  if (addr > k->n || bytes > k->n - addr) return false;
  memcpy(buf, k->p + addr, bytes);
  return true;
}

/* No record becomes longer than the limits of sys.h allow. */
static void print(struct fields *in)
{
  enum { FORMAT = 512, ARGUMENTS = 128, MOST = 16 * SYS_PRINTF_MOST + FORMAT };
  uint8_t guest[FORMAT + ARGUMENTS] = {0};
  char *text;
  size_t n;
  put_format(in, (char *)guest, FORMAT);
  for (unsigned i = 0; i < ARGUMENTS / 8; i++) {
    const uint64_t v = field8(in) & 1 ? number(in) : field8(in) * 2u;
    memcpy(guest + FORMAT + 8 * i, &v, 8);
  }
  struct block *k = malloc(sizeof *k);
  *k = (struct block){guest, FORMAT + choice(in, ARGUMENTS + 1)};
  FILE *out = open_memstream(&text, &n);
  sys_printf(out, read_block, k, field8(in) & 7 ? 0 : number(in), field8(in) & 7 ? FORMAT : number(in));
  fclose(out);
  BUG_ON(n > MOST);
  free(text);
  free(k);
}

/* ---- heap ----------------------------------------------------------------------------------------- */

/* The blocks are the heap, side by side, and those in use are the ones that were given out. */
static void check_heap(const struct func_heap *h, uint64_t base, uint64_t bytes, unsigned used)
{
  struct func_heap_block k[80];
  const size_t n = func_heap_save(h, k, 80);
  BUG_ON(n > 80);
  for (size_t i = 0; i < n; i++) {
    BUG_ON(k[i].addr != base || k[i].bytes > bytes);
    base += k[i].bytes, bytes -= k[i].bytes, used -= k[i].used;
  }
  BUG_ON(bytes || used);
}

static void heap(struct fields *in)
{
  enum { OPERATIONS = 32 };
  const uint64_t base = LOW_AT, bytes = 16 + (number(in) & 0xffffff);
  struct func_heap *h = func_heap_new(base, bytes);
  uint64_t given[OPERATIONS];
  unsigned n = 0;
  for (unsigned i = 0; i < OPERATIONS && in->n; i++) {
    if (field8(in) & 1) {
      const uint64_t p = func_heap_take(h, field8(in) & 1 ? number(in) : field(in, 2));
      BUG_ON(p && (p < base || p % 16));
      if (p) given[n++] = p;
    } else {
      const unsigned which = choice(in, OPERATIONS);
      const bool known = n && field8(in) & 3;
      const uint64_t p = known ? given[which % n] : place(in);
      bool ours = false;
      for (unsigned j = 0; j < n; j++) ours |= given[j] == p;
      BUG_ON(func_heap_give(h, p) != ours);
      for (unsigned j = 0; ours && j < n; j++)
        if (given[j] == p) given[j] = given[--n], ours = false;
    }
    check_heap(h, base, bytes, n);
  }
  func_heap_free(h);
}

/* ---- launches ------------------------------------------------------------------------------------- */

/* Any numbers of a launch: it is refused, or its first CTA begins. */
static void launch(struct fields *in, struct bench *b)
{
  const struct word128 end = {0x000000000000794dull, 0x000fea0003800000ull};
  struct err e = {""};
  struct func_params p = {.sm = target(in), .code = {.base = CODE, .end = CODE + 16, .shift = 4, .inst = b->inst, .decoded = b->sass}, .entry_pc = CODE,
                          .regs_per_thread = (unsigned)number(in), .shared_window = SHARED_WINDOW,
                          .local_window = LOCAL_WINDOW, .image = b->mem, .n_workers = choice(in, 3),
                          .slots_per_worker = choice(in, 5), .kernel_name = "fuzz", .host_level = 1};
  if (!sass_decode(p.sm, end, CODE, &b->sass[0], &b->inst[0], &e)) return;
  for (unsigned i = 0; i < 3; i++) {
    p.grid[i] = field8(in) & 1 ? (uint32_t)number(in) : 1 + choice(in, 4);
    p.block[i] = field8(in) & 1 ? (uint32_t)number(in) : 1 + choice(in, 4);
    p.cluster[i] = field8(in) & 3 ? 0 : (uint32_t)number(in);
  }
  p.shared_reserved = (uint32_t)number(in), p.shared_static = (uint32_t)number(in);
  p.shared_dynamic = (uint32_t)number(in), p.local_bytes = number(in);
  struct func_launch *l = func_launch_new(&p, &e);
  BUG_ON(!l && !e.msg[0]);
  if (!l) return;
  struct step_source *s = func_source(l);
  struct effect effect = {.mem = NULL};
  struct fault f = {0};
  struct step_cta *c = s->ops->cta_begin(s, 0, 0, 0, 0);
  BUG_ON(!ended_well(s->ops->step(c->warp[s->warps_per_cta - 1], 0, &effect, &f), &f));
  func_launch_free(l);
}

void fuzz_guest(const uint8_t *data, size_t size)
{
  struct fields in = {data, size};
  struct bench *b = bench();
  switch (choice(&in, 8)) {
  case 0: service(&in, b); break;
  case 1: print(&in); break;
  case 2: heap(&in); break;
  case 3: launch(&in, b); break;
  default: instruction(&in, b); break;
  }
}
