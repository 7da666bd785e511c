/* Cubin loader: facts of the kernel corpus against the compiler's own report, placement of
 * separately compiled code, relocations against linker output, and the error for each kind of
 * unusable file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/host_memory.h"
#include "isa/sass/sass.h"
#include "isa/sass/syscall.h"
#include "load/plain_name.h"
#include "load/module.h"
#include "load/reloc.h"

#define KERNELS WS_SOURCE_DIR "/kernels"
#define DATA WS_SOURCE_DIR "/tests/data"

static struct module *load(const char *path)
{
  struct err e = {0};
  struct module *m = module_load(path, &e);
  if (!m) fail_msg("%s", e.msg);
  return m;
}

static struct module_instance *instantiate(struct module *m, struct gmem *mem)
{
  struct err e = {0};
  struct module_instance *in = module_instantiate(m, mem, &e);
  if (!in) fail_msg("%s", e.msg);
  return in;
}

/* ---- The corpus ---- */

struct facts {
  const char *name;
  const char *params;  /* sizes of the parameters in the CUDA source, one digit each */
  unsigned regs[3];    /* sm_80, 86, 90 */
  unsigned barriers, shared;
};

/* Parameters: the signatures in kernels/NAME/NAME.cu. The rest: ptxas -v of CUDA 13.0. */
static const struct facts corpus[] = {
    {"atomics", "88888888", {40, 40, 40}, 1, 144},
    {"barriers", "884", {18, 18, 19}, 16, 768},
    {"const_mem", "8884", {18, 17, 19}, 0, 0},
    {"conv", "888888888884", {32, 40, 32}, 0, 0},
    {"cp_async", "88844", {32, 35, 32}, 1, 8704},
    {"divergence", "884", {24, 26, 26}, 0, 0},
    {"fp32_math", "8888888888888888888", {28, 26, 26}, 0, 0},
    {"fp64_math", "8888888", {28, 27, 32}, 0, 0},
    {"func_ptr", "8884", {40, 34, 34}, 0, 0},
    {"generic_ptr", "888", {20, 20, 26}, 1, 1040},
    {"half_math", "8888888884", {32, 38, 32}, 0, 0},
    {"hist_global", "884", {12, 12, 12}, 0, 0},
    {"hist_shared", "884", {12, 12, 15}, 1, 1024},
    {"int_math", "8888884", {40, 48, 40}, 0, 0},
    {"interpreter", "884", {14, 14, 14}, 0, 256},
    {"jump_table", "884", {9, 9, 10}, 0, 0},
    {"load_loop", "884", {31, 32, 31}, 0, 0},
    {"local_array", "884", {22, 22, 22}, 0, 0},
    {"mandelbrot", "844", {13, 13, 13}, 0, 0},
    {"membar_flag", "8888", {22, 22, 22}, 1, 0},
    {"mma_ldmatrix", "88888844", {54, 54, 60}, 0, 2432},
    {"mufu_sample", "88888888888", {32, 40, 32}, 0, 0},
    {"nanosleep_clock", "88", {18, 18, 20}, 0, 0},
    {"printf_demo", "88", {24, 24, 24}, 0, 0},
    {"recursion", "884", {28, 28, 30}, 0, 0},
    {"red_then_load", "884", {20, 20, 20}, 0, 0},
    {"reduce_shfl", "888888", {26, 24, 28}, 1, 384},
    {"saxpy_loop", "8444", {14, 14, 19}, 0, 0},
    {"scan", "88", {16, 16, 19}, 1, 128},
    {"sgemm_reg", "88844", {67, 64, 64}, 1, 4352},
    {"sgemm_tiled", "888444", {32, 38, 32}, 1, 2048},
    {"softmax", "8844", {30, 38, 30}, 0, 0},
    {"spin_lock_before", "888", {12, 12, 14}, 0, 0},
    {"spin_lock_inside", "888", {14, 14, 14}, 0, 0},
    {"stencil2d", "8844", {16, 16, 20}, 1, 1296},
    {"stream_copy", "884", {12, 12, 18}, 0, 0},
    {"stream_triad", "88844", {16, 16, 22}, 0, 0},
    {"transpose_naive", "8844", {24, 24, 24}, 1, 4096},
    {"transpose_padded", "8844", {24, 24, 22}, 1, 4224},
    {"vecadd", "8884", {12, 12, 12}, 0, 0},
    {"wmma_f16", "88844", {32, 40, 32}, 0, 0},
    {"wmma_gemm", "888844", {56, 46, 42}, 0, 1536},
};

/* CUDA lays parameters out in order, each aligned to its size. */
static void check_params(const struct module_kernel *k, const char *sizes)
{
  unsigned end = 0;
  assert_int_equal(k->n_params, strlen(sizes));
  for (unsigned i = 0; i < k->n_params; i++) {
    unsigned bytes = sizes[i] - '0';
    end = (end + bytes - 1) / bytes * bytes;
    assert_int_equal(k->param[i].bytes, bytes);
    assert_int_equal(k->param[i].offset, end);
    end += bytes;
  }
  assert_int_equal(k->param_bytes, end);
}

/* huge_params.cu: above 4,352 bytes blocks lie elsewhere below sm_90 (compiler output) and have other descriptors. */
static void test_large_params(void **state)
{
  static const struct { unsigned sm, base; } row[] = {{75, 0x1a80}, {80, 0x1a80}, {86, 0x1a80}, {90, 0x210}, {100, 0x380}, {120, 0x380}};
  static const struct module_param params[] = {{0, 1}, {8, 6008}, {6016, 2}, {6024, 8}};
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/huge_params/huge_params.sm_%u.cubin", KERNELS, row[i].sm);
    struct module *m = load(path);
    const struct module_kernel *k = module_kernel(m, "huge_params", NULL);
    assert_non_null(k);
    assert_int_equal(k->param_base, row[i].base);
    assert_int_equal(k->param_bytes, 6032);
    assert_int_equal(k->n_params, 4);
    assert_memory_equal(k->param, params, sizeof params);
    module_free(m);
  }
}

static void check_cubin(const struct facts *f, unsigned sm, unsigned regs)
{
  char path[512];
  snprintf(path, sizeof path, "%s/%s/%s.sm_%u.cubin", KERNELS, f->name, f->name, sm);
  struct module *m = load(path);
  struct module_instance *in = instantiate(m, NULL);
  const struct module_kernel *k = module_kernel(m, f->name, NULL);
  assert_non_null(k);
  assert_int_equal(module_sm(m), sm);
  assert_int_equal(k->regs, regs);
  assert_int_equal(k->barriers, f->barriers);
  check_params(k, f->params);
  assert_int_equal(k->param_base, sm == 90 ? 0x210 : 0x160);
  /* sm_90 reserves the first KiB of shared memory for the system. */
  assert_int_equal(k->shared_reserved, sm == 90 && f->shared ? 0x400 : 0);
  assert_int_equal(k->shared_static, f->shared);
  assert_int_equal(k->entry_pc % 128, 0);
  assert_non_null(code_at(module_code(in), k->entry_pc));
  assert_int_equal(code_at(module_code(in), k->entry_pc)->pc, k->entry_pc);
  module_instance_free(in);
  module_free(m);
}

static void test_corpus(void **state)
{
  static const unsigned sms[] = {80, 86, 90};
  (void)state;
  for (size_t i = 0; i < sizeof corpus / sizeof corpus[0]; i++)
    for (size_t s = 0; s < 3; s++) check_cubin(&corpus[i], sms[s], corpus[i].regs[s]);
}

/* "32 bytes stack frame" and "40 bytes stack frame" of ptxas -v. */
static void test_stack(void **state)
{
  (void)state;
  struct module *m = load(KERNELS "/fp32_math/fp32_math.sm_86.cubin");
  assert_int_equal(module_kernel_at(m, 0)->frame_bytes, 32);
  assert_int_equal(module_kernel_at(m, 0)->stack_bytes, 32);
  module_free(m);
  m = load(KERNELS "/fp64_math/fp64_math.sm_90.cubin");
  assert_int_equal(module_kernel_at(m, 0)->stack_bytes, 40);
  module_free(m);
}

static void test_moves_stack(void **state)
{
  static const struct { const char *name; bool moves; } rows[] = {
      {"recursion", true}, {"local_array", true}, {"vecadd", false}, {"sgemm_reg", false}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s/%s.sm_90.cubin", KERNELS, rows[i].name, rows[i].name);
    struct module *m = load(path);
    struct module_instance *in = instantiate(m, NULL);
    assert_int_equal(module_moves_stack(in, module_kernel_at(m, 0)), rows[i].moves);
    module_instance_free(in);
    module_free(m);
  }
}

/* ---- Separately compiled code (tests/data/linked.cu) ---- */

struct linked_case {
  const char *path;
  unsigned table_lo, table_hi, return_lo, counter_lo, call; /* offsets, readelf -r */
  unsigned return_to;
};

static const struct linked_case linked_cases[] = {
    {DATA "/linked.sm_86.cubin", 0x90, 0xb0, 0x170, 0x1f0, 0x2f0, 0x1a0},
    {DATA "/linked.sm_90.cubin", 0x70, 0x90, 0x130, 0x1b0, 0x2c0, 0x160},
};

static uint64_t symbol_pc(const struct module *m, const char *name)
{
  for (unsigned i = 0; i < module_symbol_count(m); i++)
    if (strcmp(module_symbol_at(m, i)->name, name) == 0) return module_symbol_at(m, i)->offset;
  fail_msg("no symbol %s", name);
  return 0;
}

static struct word128 word_at(const struct module_instance *in, uint64_t pc)
{
  const struct code_view *c = module_code(in);
  return module_sass(in)[(pc - c->base) >> c->shift].word;
}

static uint32_t imm_at(const struct module_instance *in, uint64_t pc)
{
  return word_at(in, pc).lo >> 32;
}

static uint64_t guest_u64(const struct gmem *mem, uint64_t addr)
{
  uint64_t v = 0;
  assert_true(gmem_read(mem, addr, &v, sizeof v));
  return v;
}

static void check_linked(const struct linked_case *c)
{
  struct module *m = load(c->path);
  struct gmem *mem = gmem_new(16);
  struct module_instance *in = instantiate(m, mem);
  const struct module_kernel *k = module_kernel(m, "linked", NULL);
  assert_non_null(k);
  uint64_t table = module_address(in, module_variable(m, "table"));
  uint64_t counter = module_address(in, module_variable(m, "counter"));
  assert_int_equal(imm_at(in, k->entry_pc + c->table_lo), (uint32_t)table);
  assert_int_equal(imm_at(in, k->entry_pc + c->table_hi), table >> 32);
  assert_int_equal(imm_at(in, k->entry_pc + c->counter_lo), (uint32_t)counter);
  assert_int_equal(imm_at(in, k->entry_pc + c->return_lo), k->entry_pc + c->return_to);
  /* Function pointers are addresses of the code space. */
  assert_int_equal(guest_u64(mem, table), symbol_pc(m, "_Z5twicei"));
  assert_int_equal(guest_u64(mem, table + 8), symbol_pc(m, "_Z4lessi"));
  assert_int_equal((uint32_t)guest_u64(mem, counter), 7);
  /* vprintf is the first service; the call names its address in words. */
  struct word128 call = word_at(in, k->entry_pc + c->call);
  uint64_t target = module_sm(m) == 90
                        ? (bits_get(call, 34, 47) << 8 | bits_get(call, 16, 8)) << 2
                        : bits_get(call, 34, 47) << 2;
  assert_int_equal(target, MODULE_CODE_BASE + SYSCALL_VPRINTF * 16);
  module_instance_free(in);
  gmem_free(mem);
  module_free(m);
}

static void test_linked(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof linked_cases / sizeof linked_cases[0]; i++)
    check_linked(&linked_cases[i]);
}

static void test_services(void **state)
{
  (void)state;
  struct module *m = load(DATA "/linked.sm_86.cubin");
  struct module_instance *in = instantiate(m, NULL);
  const struct code_view *c = module_code(in);
  assert_int_equal(c->base, MODULE_CODE_BASE);
  for (unsigned i = 0; i < SYSCALL__COMMON; i++) {
    const struct sass_inst *s = &module_sass(in)[i];
    assert_true(c->inst[i].flags & INST_SYSCALL);
    assert_int_equal(s->sem, SEM_SYSCALL);
    assert_int_equal(s->src[0].imm, i);
  }
  module_instance_free(in);
  module_free(m);
}

static void test_constants(void **state)
{
  static const uint32_t want[4] = {1, 2, 3, 4};
  uint32_t bytes, seen[4];
  (void)state;
  struct module *m = load(DATA "/linked.sm_86.cubin");
  struct gmem *mem = gmem_new(16);
  struct module_instance *in = instantiate(m, mem);
  const struct module_kernel *k = module_kernel_at(m, 0);
  const struct module_symbol *scale = module_variable(m, "scale");
  const uint8_t *bank = module_bank(in, k, 3, &bytes);
  assert_non_null(bank);
  assert_memory_equal(bank + scale->offset, want, sizeof want);
  assert_true(gmem_read(mem, module_address(in, scale), seen, sizeof seen));
  assert_memory_equal(seen, want, sizeof want);
  /* A host write reaches the bank and the copy that generic loads see. */
  assert_true(module_variable_write(in, scale, (uint32_t[]){9, 8, 7, 6}, 16));
  assert_memory_equal(bank + scale->offset, ((uint32_t[]){9, 8, 7, 6}), 16);
  assert_true(module_variable_read(in, scale, seen, sizeof seen));
  assert_int_equal(seen[3], 6);
  assert_false(module_variable_write(in, scale, want, 17));
  assert_null(module_bank(in, k, 5, &bytes));
  assert_int_equal(bytes, 0);
  module_instance_free(in);
  gmem_free(mem);
  module_free(m);
}

static void test_where(void **state)
{
  char text[128];
  (void)state;
  struct module *m = load(DATA "/linked.sm_86.cubin");
  const struct module_kernel *k = module_kernel_at(m, 0);
  module_where(m, k->entry_pc + 0x120, text, sizeof text);
  assert_string_equal(text, "linked+0x120");
  module_where(m, symbol_pc(m, "_Z4lessi"), text, sizeof text);
  assert_string_equal(text, "_Z4lessi+0x0");
  module_where(m, MODULE_CODE_BASE, text, sizeof text);
  assert_string_equal(text, "vprintf");
  module_where(m, 0, text, sizeof text);
  assert_non_null(strstr(text, "outside"));
  module_free(m);
}

static void test_two_instances(void **state)
{
  (void)state;
  struct module *m = load(DATA "/linked.sm_90.cubin");
  struct gmem *mem = gmem_new(16);
  struct module_instance *a = instantiate(m, mem), *b = instantiate(m, mem);
  const struct module_symbol *counter = module_variable(m, "counter");
  uint32_t one = 1, seen = 0;
  assert_int_not_equal(module_address(a, counter), module_address(b, counter));
  assert_true(module_variable_write(a, counter, &one, sizeof one));
  assert_true(module_variable_read(b, counter, &seen, sizeof seen));
  assert_int_equal(seen, 7);
  module_instance_free(a);
  module_instance_free(b);
  gmem_free(mem);
  module_free(m);
}

/* ---- Relocations: words of nvcc's object file, the value, the word nvlink wrote ---- */

static const struct {
  unsigned type, bank;
  uint64_t value;
  struct word128 object, linked;
} reloc_cases[] = {
    {55, 0, 0x1c0, {0x0000000000077882, 0x000fe20000000000},
     {0x000001c000077882, 0x000fe20000000000}},
    {55, 0, 0x40, {0x0000000000067882, 0x000fe40000000000},
     {0x0000004000067882, 0x000fe40000000000}},
    {59, 3, 28, {0x0000000000047882, 0x000fe40000000000},
     {0x0000001c00047882, 0x000fe40000000000}},
    {64, 3, 16, {0x0000000007077a23, 0x004fca0000000000},
     {0x00c0040007077a23, 0x004fca0000000000}},
    {64, 3, 48, {0x0000000000007a45, 0x000fe40000201400},
     {0x00c00c0000007a45, 0x000fe40000201400}},
    {66, 3, 16, {0x00c0000000047ab9, 0x000fc80000000800},
     {0x00c0040000047ab9, 0x000fc80000000800}},
    {66, 3, 48, {0x00c0000000047ab9, 0x000fc60000000800},
     {0x00c00c0000047ab9, 0x000fc60000000800}},
    {74, 0, 0x40, {0x0000000008087984, 0x000e620000000800},
     {0x0000400008087984, 0x000e620000000800}},
    {74, 0, 0x1cc, {0x000000000b077984, 0x000ea20000004800},
     {0x0001cc000b077984, 0x000ea20000004800}},
    {100, 0, 0x124, {0x0000019002077fae, 0x000fe8000b921844},
     {0x0012419002077fae, 0x000fe8000b921844}},
    {58, 0, 0x123456780, {0x0000000000007943, 0x020fea0003c00000},
     {0x2345678000007943, 0x020fea0003c00001}}, /* CALL.ABS.NOINC 0x123456780, sm_86 */
    {115, 3, 0x12c, {0x00c00000ff0477ac, 0x000ee20008000800},
     {0x00c02580ff0477ac, 0x000ee20008000800}}, /* LDCU, sm_100 */
    {66, 2, (uint64_t)(0x24 - 0x8000), {0x0080000000027b82, 0x000e640000000800},
     {0x00a0090000027b82, 0x000e640000000800}}, /* LDC of a jump table, sm_100 */
    {75, 0, 0x123456780, {0x0000000000007943, 0x020fea0003c00000},
     {0x0123456400e07943, 0x020fea0003c00000}}, /* the same, sm_90 */
};

static void test_reloc_words(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof reloc_cases / sizeof reloc_cases[0]; i++) {
    struct word128 w = reloc_cases[i].object;
    const struct reloc_row *r = reloc_find(reloc_cases[i].type);
    assert_non_null(r);
    assert_true(reloc_apply(r, reloc_cases[i].value, reloc_cases[i].bank, (uint8_t *)&w));
    assert_memory_equal(&w, &reloc_cases[i].linked, sizeof w);
    assert_int_equal(reloc_addend(r, (uint8_t *)&w), reloc_cases[i].value);
  }
}

static void test_reloc_range(void **state)
{
  struct word128 w = {0, 0};
  uint8_t *p = (uint8_t *)&w;
  (void)state;
  assert_false(reloc_apply(reloc_find(1), UINT64_C(1) << 32, 0, p));
  assert_false(reloc_apply(reloc_find(58), 2, 0, p)); /* not a word address */
  assert_false(reloc_apply(reloc_find(74), UINT64_C(1) << 24, 0, p));
  assert_true(reloc_apply(reloc_find(74), (uint64_t)-4, 0, p));
  assert_int_equal(reloc_addend(reloc_find(74), p), -4);
  assert_true(reloc_apply(reloc_find(56), UINT64_C(0x123456789), 0, p));
  assert_int_equal(w.lo >> 32, 0x23456789);
  assert_true(reloc_apply(reloc_find(57), UINT64_C(0x123456789), 0, p));
  assert_int_equal(w.lo >> 32, 1);
  assert_null(reloc_find(3));
}

/* ---- The other targets (tests/data/fat.cu): initialised variables, the address table ---- */

static const struct {
  unsigned sm, regs, param_base; /* ptxas -v; compiler output */
} generations[] = {{75, 10, 0x160}, {89, 12, 0x160}, {100, 12, 0x380}, {120, 12, 0x380}};

/* The kernel finds its variables through bank 4: two pointers, in an order of the compiler's. */
static void check_address_table(const struct module_instance *in, const struct module_kernel *k,
                                uint64_t table, uint64_t entry)
{
  uint32_t bytes;
  uint64_t p[2];
  const uint8_t *bank = module_bank(in, k, 4, &bytes);
  assert_int_equal(bytes, sizeof p);
  memcpy(p, bank, sizeof p);
  assert_true((p[0] == table && p[1] == entry) || (p[0] == entry && p[1] == table));
}

static void test_generations(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof generations / sizeof generations[0]; i++) {
    char path[512];
    uint32_t bytes, values[4], want[4] = {5, 6, 7, 8};
    snprintf(path, sizeof path, "%s/fat.sm_%u.cubin", DATA, generations[i].sm);
    struct module *m = load(path);
    struct gmem *mem = gmem_new(16);
    struct module_instance *in = instantiate(m, mem);
    const struct module_kernel *k = module_kernel(m, "fat_add", NULL);
    assert_non_null(k);
    assert_int_equal(module_sm(m), generations[i].sm);
    assert_int_equal(k->param_base, generations[i].param_base);
    assert_int_equal(k->regs, generations[i].regs);
    check_params(k, "84");
    uint64_t table = module_address(in, module_variable(m, "table"));
    uint64_t entry = module_address(in, module_variable(m, "entry"));
    assert_true(gmem_read(mem, table, values, sizeof values));
    assert_memory_equal(values, want, sizeof want);
    assert_int_equal(guest_u64(mem, entry), table + 8); /* = table + 2 */
    check_address_table(in, k, table, entry);
    const uint8_t *bank = module_bank(in, k, 3, &bytes);
    assert_memory_equal(bank, ((uint32_t[]){3, 4}), 8);
    assert_true(module_constants(in) != 0);
    assert_int_equal(guest_u64(mem, module_constants(in)), UINT64_C(0x400000003));
    module_instance_free(in);
    gmem_free(mem);
    module_free(m);
  }
}

/* ---- Objects (tests/data/fat_part.cu) ---- */

/* Needs that nvlink computes (its info records) are the least an object may state. */
static void check_object(unsigned sm)
{
  char path[512];
  snprintf(path, sizeof path, "%s/fat_part.object.sm_%u.cubin", DATA, sm);
  struct module *object = load(path);
  snprintf(path, sizeof path, "%s/fat_part.linked.sm_%u.cubin", DATA, sm);
  struct module *linked = load(path);
  struct module_instance *in = instantiate(object, NULL);
  assert_int_equal(module_kernel_count(object), 4);
  for (unsigned i = 0; i < module_kernel_count(linked); i++) {
    const struct module_kernel *want = module_kernel_at(linked, i);
    const struct module_kernel *got = module_kernel(object, want->name, NULL);
    assert_non_null(got);
    assert_true(got->regs >= want->regs);
    assert_true(got->barriers >= want->barriers);
    assert_true(got->stack_bytes >= want->stack_bytes);
    assert_true(got->shared_static >= want->shared_static);
    assert_int_equal(got->param_base, want->param_base);
    assert_int_equal(got->n_params, want->n_params);
  }
  module_instance_free(in);
  module_free(object);
  module_free(linked);
}

static void test_object_needs(void **state)
{
  (void)state;
  check_object(86);
  check_object(90);
  check_object(120);
}

/* The array is behind what the system keeps, as the file's symbol says (0x400), also where the kernel has no section of its own. */
static void test_debug_shared(void **state)
{
  (void)state;
  struct module *m = load(DATA "/debug_shared.sm_90.cubin");
  const struct module_kernel *k = module_kernel(m, "debug_shared", NULL);
  assert_non_null(k);
  assert_int_equal(k->shared_reserved, 0x400);
  assert_int_equal(k->shared_static, 0);
  module_free(m);
}

/* linked.cu before nvlink: function pointers and variables are where they are after it. */
static void test_object_pointers(void **state)
{
  (void)state;
  struct module *m = load(DATA "/object.sm_90.cubin");
  struct gmem *mem = gmem_new(16);
  struct module_instance *in = instantiate(m, mem);
  const struct module_kernel *k = module_kernel(m, "linked", NULL);
  assert_non_null(k);
  uint64_t table = module_address(in, module_variable(m, "table"));
  assert_int_equal(guest_u64(mem, table), symbol_pc(m, "_Z5twicei"));
  assert_int_equal(guest_u64(mem, table + 8), symbol_pc(m, "_Z4lessi"));
  assert_int_equal(imm_at(in, k->entry_pc + linked_cases[1].table_lo), (uint32_t)table);
  assert_int_equal(imm_at(in, k->entry_pc + linked_cases[1].table_hi), table >> 32);
  assert_int_equal(imm_at(in, k->entry_pc + linked_cases[1].return_lo),
                   k->entry_pc + linked_cases[1].return_to);
  module_instance_free(in);
  gmem_free(mem);
  module_free(m);
}

/* ---- Headers and errors ---- */

static uint8_t *read_all(const char *path, size_t *n)
{
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  uint8_t *data = malloc(1 << 20);
  *n = fread(data, 1, 1 << 20, f);
  fclose(f);
  return data;
}

/* CUDA 12 headers: OSABI 0x33, ABI version 7, SM number in the low byte and in bits 23:16. */
static void test_cuda12_header(void **state)
{
  size_t n;
  struct err e = {0};
  (void)state;
  uint8_t *data = read_all(KERNELS "/vecadd/vecadd.sm_86.cubin", &n);
  data[7] = 0x33;
  data[8] = 7;
  memcpy(data + 48, "\x56\x05\x56\x00", 4);
  struct module *m = module_load_memory(data, n, "old", &e);
  free(data);
  if (!m) fail_msg("%s", e.msg);
  assert_int_equal(module_sm(m), 86);
  module_free(m);
}

static const struct {
  unsigned at;
  uint8_t byte;
  const char *says;
} header_errors[] = {
    {0, 'X', "no ELF header"},     {4, 1, "64-bit"},           {7, 9, "OSABI"},
    {18, 62, "ELF machine 62"},    {49, 62, "sm_62"},          {49, 99, "sm_99"},
    {16, 3, "neither executable"},
};

static void test_header_errors(void **state)
{
  size_t n;
  (void)state;
  uint8_t *data = read_all(KERNELS "/vecadd/vecadd.sm_86.cubin", &n);
  for (size_t i = 0; i < sizeof header_errors / sizeof header_errors[0]; i++) {
    struct err e = {0};
    uint8_t old = data[header_errors[i].at];
    data[header_errors[i].at] = header_errors[i].byte;
    assert_null(module_load_memory(data, n, "bad.cubin", &e));
    if (!strstr(e.msg, header_errors[i].says)) fail_msg("%s", e.msg);
    assert_memory_equal(e.msg, "bad.cubin: ", 11);
    data[header_errors[i].at] = old;
  }
  free(data);
}

static void test_file_errors(void **state)
{
  struct err e = {0};
  (void)state;
  assert_null(module_load(DATA "/no-such.cubin", &e));
  assert_non_null(strstr(e.msg, "cannot read"));
  assert_null(module_load(DATA, &e));
  assert_null(module_load(DATA "/linked.cu", &e));
  assert_non_null(strstr(e.msg, "not a cubin"));
}

static void test_kernel_names(void **state)
{
  struct err e = {0};
  (void)state;
  struct module *m = load(DATA "/linked.sm_86.cubin");
  assert_null(module_kernel(m, "linkd", &e));
  assert_non_null(strstr(e.msg, "choose one of: linked"));
  module_free(m);
}

/* A relocation of an unknown type, and one against an unknown function. */
static void test_reloc_errors(void **state)
{
  size_t n;
  struct err e = {0};
  (void)state;
  uint8_t *data = read_all(DATA "/linked.sm_86.cubin", &n);
  data[0xa28 + 8] = 199; /* first record of .rel.text.linked (readelf -S) */
  assert_null(module_load_memory(data, n, "bad.cubin", &e));
  assert_non_null(strstr(e.msg, "relocation type 199"));
  data[0xa28 + 8] = 56;
  for (size_t i = 0; i + 8 < n; i++)
    if (memcmp(data + i, "\0vprintf", 9) == 0) data[i + 1] = 'w';
  struct module *m = module_load_memory(data, n, "bad.cubin", &e);
  assert_non_null(m);
  assert_null(module_instantiate(m, NULL, &e));
  assert_non_null(strstr(e.msg, "'wprintf'"));
  module_free(m);
  free(data);
}

/* A function that no file has, in an object: say how to get it. */
static void test_object_errors(void **state)
{
  size_t n;
  struct err e = {0};
  (void)state;
  uint8_t *data = read_all(DATA "/object.sm_90.cubin", &n);
  for (size_t i = 0; i + 8 < n; i++)
    if (memcmp(data + i, "\0vprintf", 9) == 0) data[i + 1] = 'w';
  struct module *m = module_load_memory(data, n, "bad.cubin", &e);
  assert_non_null(m);
  assert_null(module_instantiate(m, NULL, &e));
  assert_non_null(strstr(e.msg, "'wprintf'"));
  assert_non_null(strstr(e.msg, "give the object that has it"));
  module_free(m);
  free(data);
}

/* Mangled by g++ (Itanium C++ ABI): namespaces, internal linkage, templates. */
static void plain_names(void **state)
{
  static const struct {
    const char *symbol, *plain;
  } row[] = {
      {"vecadd", "vecadd"},
      {"_Z6vecaddPf", "vecadd"},
      {"_ZL6vecaddv", "vecadd"},
      {"_ZN2ns5inner6vecaddEv", "vecadd"},
      {"_ZN12_GLOBAL__N_16vecaddEv", "vecadd"},
      {"_Z6vecaddIfEvPT_", "vecadd"},
      {"_ZN2ns6vecaddILi3ENS_1sEEEvT0_", "vecadd"},
      {"_Z99short", "_Z99short"},
      {"_Z", "_Z"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    size_t n;
    const char *plain = plain_name(row[i].symbol, &n);
    assert_int_equal(n, strlen(row[i].plain));
    assert_memory_equal(plain, row[i].plain, n);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_names), cmocka_unit_test(test_corpus),        cmocka_unit_test(test_large_params), cmocka_unit_test(test_stack),
      cmocka_unit_test(test_moves_stack),   cmocka_unit_test(test_linked),
      cmocka_unit_test(test_services),      cmocka_unit_test(test_constants),
      cmocka_unit_test(test_where),         cmocka_unit_test(test_two_instances),
      cmocka_unit_test(test_reloc_words),   cmocka_unit_test(test_reloc_range),
      cmocka_unit_test(test_cuda12_header), cmocka_unit_test(test_header_errors),
      cmocka_unit_test(test_file_errors),   cmocka_unit_test(test_kernel_names),
      cmocka_unit_test(test_reloc_errors),  cmocka_unit_test(test_generations),
      cmocka_unit_test(test_object_needs),  cmocka_unit_test(test_object_pointers),
      cmocka_unit_test(test_object_errors), cmocka_unit_test(test_debug_shared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
