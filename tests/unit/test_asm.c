/* Assembler: every kernel of the corpus disassembles and assembles to the same bytes; operands,
 * modifiers and control notation give the words the compiler writes; errors say what would be valid.
 * Expected words are compiler output (CUDA 13.0) for sm_86. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/redzone.h"
#include "isa/sass/asm.h"
#include "load/asm_source.h"
#include "load/load_internal.h"

#define KERNELS WS_SOURCE_DIR "/kernels"

/* ---- single instructions ---- */

static struct word128 assemble_for(unsigned sm, const char *text)
{
  struct sass_asm env = {.sm = sm, .pc = 0x40};
  struct word128 w = {0, 0};
  struct err e = {""};
  size_t column;
  if (!sass_assemble(&env, text, &w, &column, &e)) fail_msg("%s: %zu: %s", text, column, e.msg);
  return w;
}

static struct word128 assemble(const char *text)
{
  return assemble_for(86, text);
}

/* Words of nvcc 13.0: packed FP32 operands, halves exchanged or one register for both; requests for work. */
static void test_words_of_100(void **state)
{
  static const struct {
    const char *text;
    uint64_t lo, hi;
  } cases[] = {
      {"[B------:R-:W-:-:S02] @P1 FMUL2 R40, R16.reuse.F32, R40.F32x2.HI_LO ;", 0x000000281028124a, 0x040fe40000040000},
      {"[B--2---:R-:W-:-:S02] FADD2 R2, R2.F32x2.HI_LO, RZ.F32 ;", 0x000000ff0202724b, 0x004fe40000200000},
      {"[B------:R-:W-:-:S02] FMUL2 R6, R30.F32x2.LO_HI, R6.F32x2.HI_LO ;", 0x000000061e06724a, 0x000fe40000020000},
      {"[B------:R-:W-:-:S02] FFMA2 R124, R124.F32x2.HI_LO, UR36.F32, R0.reuse.F32 ;", 0x000000247c7c7c49,
       0x100fe40009200000},
      {"[B--2---:R-:W-:Y:S05] FFMA2.RZ R2, -R2.F32x2.HI_LO.NP, UR4.F32x2.HI_LO, R8.F32x2.HI_LO ;", 0x0000000402027c49,
       0x004fca000808c108},
      {"[B--2---:R-:W-:-:S02] FFMA2.RM R16, R12.F32x2.HI_LO, -R12.F32x2.HI_LO, R14.F32x2.HI_LO.NP ;", 0x8000000c0c107249,
       0x004fe4000040400e},
      {"[B0-----:R-:W-:-:S01] FADD2.FTZ.RM R12, -R12.F32x2.HI_LO.NP, UR4.F32x2.HI_LO ;", 0x000000040c0c7e4b,
       0x001fe20008094100},
      {"[B--2---:R-:W-:Y:S05] FADD2 R6, R6.F32x2.HI_LO, -5.8774717541114375398e-39 ;", 0x804000000606744b, 0x004fca0000200000},
      {"[B--2---:R-:W-:Y:S05] FMUL2 R8, R8.F32x2.HI_LO, 6.258487701416015625e-07 ;", 0x352800000808784a, 0x004fca0001000000},
      {"[B--2---:R-:W-:Y:S04] FFMA2 R8, R8.F32x2.HI_LO, R10.F32x2.HI_LO, -1.8937809467315673828 ;", 0xbff2676a08087449,
       0x004fc8000020000a},
      {"[B------:R-:W-:-:S01] FADD2 R10, R12.F32x2.LO_HI, R20.F32.NP ;", 0x000000140c0a724b, 0x000fe20000620000},
      {"[B------:R-:W-:Y:S12] @!UP0 UGETNEXTWORKID.BROADCAST [UR4], [UR5] ;", 0x00000000040083ca, 0x000fd80008000100},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct word128 w = assemble_for(100, cases[i].text);
    if (w.lo != cases[i].lo || w.hi != cases[i].hi)
      fail_msg("%s: 0x%016llx%016llx", cases[i].text, (unsigned long long)w.hi, (unsigned long long)w.lo);
  }
}

static void test_words(void **state)
{
  static const struct {
    const char *text;
    uint64_t lo, hi;
  } cases[] = {
      {"[B------:R-:W-:-:S02] MOV R1, c[0x0][0x28] ;", 0x00000a0000017a02, 0x000fe40000000f00},
      {"[B------:R-:W0:-:S04] S2R R6, SR_CTAID.X ;", 0x0000000000067919, 0x000e280000002500},
      {"[B0-----:R-:W-:Y:S05] IMAD R6, R6, c[0x0][0x0], R3 ;", 0x0000000006067a24,
       0x001fca00078e0203},
      {"[B------:R-:W-:-:S05] @P0 EXIT ;", 0x000000000000094d, 0x000fea0003800000},
      {"[B------:R-:W2:-:S04] LDG.E R4, desc[UR4][R4.64] ;", 0x0000000404047981,
       0x000ea8000c1e1900},
      {"[B--2---:R-:W-:Y:S05] FADD R9, R4, R3 ;", 0x0000000304097221, 0x004fca0000000000},
      {"[B------:R-:W-:Y:S00] NOP ;", 0x0000000000007918, 0x000fc00000000000},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct word128 w = assemble(cases[i].text);
    if (w.lo != cases[i].lo || w.hi != cases[i].hi)
      fail_msg("%s: 0x%016llx%016llx", cases[i].text, (unsigned long long)w.hi,
               (unsigned long long)w.lo);
  }
}

static void assert_same(const char *one, const char *two)
{
  struct word128 a = assemble(one), b = assemble(two);
  if (a.lo != b.lo || a.hi != b.hi) fail_msg("'%s' and '%s' differ", one, two);
}

/* What may be written in several ways. */
static void test_spellings(void **state)
{
  (void)state;
  assert_same("[B------:R-:W-:-:S01] NOP ;", "NOP");
  assert_same("[B-1--4-:R2:W3:Y:S07] NOP ;", "[Y:S07:W3:R2:B14]   NOP");
  assert_same("[S04] IADD3 R1, R2, 16, RZ ;", "[S04] IADD3 R1,R2,0x10,RZ;");
  assert_same("FADD R1, R2, 0.5", "FADD R1, R2, 0x3f000000");
  assert_same("FADD R1, R2, +INF", "FADD R1, R2, 0x7f800000");
  assert_same("HADD2 R1, R2, 1, -2", "HADD2 R1, R2, 0x3c00, 0xc000");
  assert_same("DADD R2, R4, -1.5", "DADD R2, R4, 0xbff80000");
  assert_same("LDG.E R4, desc[UR4][R2.64+-0x10]", "LDG.E R4, desc[UR4][R2.64-16]");
  assert_same("IMAD.MOV.U32 R1, RZ, RZ, R2", "IMAD.U32 R1, RZ, RZ, R2");
  assert_same("BRA 0x100", "BRA 256");
  assert_same("NOP ?PM=0", "NOP");
}

/* A value that the text does not show. */
static void test_overrides(void **state)
{
  (void)state;
  assert_int_equal(bits_get(assemble("NOP ?PM=2"), 102, 2), 2);
  assert_int_equal(bits_get(assemble("NOP ?REUSE=5"), 122, 3), 5);
  assert_int_equal(bits_get(assemble("FADD R1, R2, QNAN ?IMM32=0x7fc01234"), 32, 32), 0x7fc01234);
}

static void assert_error(const char *text, size_t column, const char *part)
{
  struct sass_asm env = {.sm = 86};
  struct word128 w;
  struct err e = {""};
  size_t at;
  if (sass_assemble(&env, text, &w, &at, &e)) fail_msg("'%s' assembles", text);
  if (!strstr(e.msg, part)) fail_msg("'%s': '%s' does not say '%s'", text, e.msg, part);
  if (at != column) fail_msg("'%s': column %zu, not %zu: %s", text, at, column, e.msg);
}

static void test_errors(void **state)
{
  (void)state;
  assert_error("FADDD R1, R2, R3 ;", 0, "did you mean FADD");
  assert_error("VIADD R1, R2, R3 ;", 0, "sm_90");
  assert_error("FADD.FOO R1, R2, R3 ;", 4, "no modifier '.FOO'");
  assert_error("MUFU.RCPP R1, R2 ;", 4, ".RSQ");
  assert_error("FADD R1, R2 ;", 11, "operand 3 is missing; forms: FADD R0, R4, R8");
  assert_error("FADD R1, R2, R3, R4 ;", 17, "too many operands");
  assert_error("IADD3 R1, R2, 0x123456789, RZ ;", 14, "does not fit 32 bits");
  assert_error("LDG.E R4, desc[UR4][R2.64+0x1000000] ;", 26, "offset out of range");
  assert_error("LDG.E.64 R3, desc[UR4][R2.64] ;", 9, "multiple of 2");
  assert_error("LDG.E.128 R8, desc[UR4][R3.64] ;", 24, "R3 is the first of 2 registers");
  assert_error("IADD3 R1, R2, R300, RZ ;", 14, "no such register");
  assert_error("MOV R1, c[0x0][0x161] ;", 14, "multiple of 4");
  assert_error("DADD R2, R4, 0.1 ;", 13, "upper 32 bits");
  assert_error("IADD3 R1, |R2|, R3, RZ ;", 10, "no absolute value");
  assert_error("LDG.E R4, [R2.64] ;", 10, "name the memory descriptor");
  assert_error("BRA nowhere ;", 4, "unknown label 'nowhere'");
  assert_error("[S16] NOP ;", 1, "stall cycles 0 to 15");
  assert_error("@P8 NOP ;", 0, "guard");
}

/* ---- files ---- */

static struct module *assemble_file(const char *text, size_t n, const char *name, struct err *e)
{
  struct arena a = {0};
  size_t bytes;
  struct module *m = NULL;
  const uint8_t *image = asm_source_assemble(&a, text, n, name, NULL, &bytes, e);
  if (image) m = module_load_memory(image, bytes, name, e);
  arena_free(&a);
  return m;
}

static struct module *assemble_text(const char *text)
{
  struct err e = {""};
  struct module *m = assemble_file(text, strlen(text), "test.sass", &e);
  if (!m) fail_msg("%s", e.msg);
  return m;
}

/* Everything that directives say comes back from the loader. */
static void test_directives(void **state)
{
  struct module *m = assemble_text(
      ".target sm_86\n"
      ".kernel one\n.regs 40\n.param 4\n.param 8\n.param 1, 24\n.shared 512\n.barriers 2\n"
      ".frame 16\n.stack 32\n.maxntid 256\n.reqntid 8, 4, 2\n.tile\n"
      "start: [S05] @P0 BRA start ; // a comment\n /* another\n one */ [S05] EXIT ;\n"
      ".function helper, 16, local\n[S05] EXIT ;\n"
      ".section .nv.constant3, align 4\n.object numbers, 8\n.word 1, -2\n"
      ".section .nv.global.init, align 1\n.object text, 4\n.ascii \"a\\n\\\"\"\n.zero 1\n"
      ".kernel two\n[S05] EXIT ;\n");
  (void)state;
  const struct module_kernel *k = module_kernel(m, "one", NULL);
  assert_non_null(k);
  assert_int_equal(module_sm(m), 86);
  assert_int_equal(module_kernel_count(m), 2);
  assert_int_equal(k->regs, 40);
  assert_int_equal(k->n_params, 3);
  assert_int_equal(k->param[1].offset, 8);
  assert_int_equal(k->param[1].bytes, 8);
  assert_int_equal(k->param[2].offset, 24);
  assert_int_equal(k->param_bytes, 25);
  assert_int_equal(k->param_base, 0x160);
  assert_int_equal(k->shared_static, 512);
  assert_int_equal(k->barriers, 2);
  assert_int_equal(k->frame_bytes, 16);
  assert_int_equal(k->stack_bytes, 32);
  assert_int_equal(k->max_threads[0], 256);
  assert_int_equal(k->max_threads[2], 1);
  assert_int_equal(k->req_threads[1], 4);
  assert_true(k->tile);
  assert_false(module_kernel(m, "two", NULL)->tile);
  assert_int_equal(module_variable(m, "numbers")->bytes, 8);
  assert_int_equal(module_variable(m, "text")->bytes, 4);
  char where[64];
  module_where(m, k->entry_pc + 0x28, where, sizeof where);
  assert_string_equal(where, "helper+0x8");
  module_free(m);
}

static void assert_file_error(const char *text, const char *start)
{
  struct err e = {""};
  struct module *m = assemble_file(text, strlen(text), "f.sass", &e);
  if (m) fail_msg("'%s' assembles", text);
  if (strncmp(e.msg, start, strlen(start)) != 0) fail_msg("'%s', not '%s'", e.msg, start);
}

static void test_file_errors(void **state)
{
  (void)state;
  assert_file_error(".kernel k\n", "f.sass:1:8: the file must begin with .target");
  assert_file_error(".target sm_12\n", "f.sass:1:9: no such target");
  assert_file_error(".target sm_86\n NOP\n", "f.sass:2:2: this belongs after .kernel");
  assert_file_error(".target sm_86\n.kernel k\n  [S01] FOO R1 ;\n", "f.sass:3:9: no instruction 'FOO'");
  assert_file_error(".target sm_86\n.kernel k\n.bogus\n", "f.sass:3:1: unknown directive");
  assert_file_error(".target sm_86\n.kernel k\na:\na:\n", "f.sass:4:1: label 'a' already exists");
  assert_file_error(".target sm_86\n.kernel k\n.param 0\n", "f.sass:3:9: a parameter has at least");
  assert_file_error(".target sm_86\n.kernel k\n.regs 9\n MOV R9, R2\n", "f.sass: kernel k uses 10");
  assert_file_error(".target sm_86\n.kernel k\n.byte 256\n", "f.sass:3:7: the value does not fit");
  assert_file_error(".target sm_86\n.kernel k\n BRA 0x100 ;\n", "f.sass:3:2: the target 0x100 lies");
  assert_file_error("", "f.sass: no kernel");
}

/* ---- the corpus ---- */

static const struct elf_section *section_named(const struct module *m, const char *name)
{
  for (uint32_t i = 1; i < m->elf.n_sections; i++)
    if (!strcmp(m->elf.section[i].name, name)) return &m->elf.section[i];
  return NULL;
}

static void compare_modules(const struct module *a, const struct module *b)
{
  for (uint32_t i = 1; i < a->elf.n_sections; i++) {
    const struct elf_section *s = &a->elf.section[i];
    if (a->place[i].kind == PLACE_NONE || a->place[i].kind == PLACE_SHARED) continue;
    const struct elf_section *t = section_named(b, s->name);
    if (!t || t->size != s->size || (s->data && memcmp(t->data, s->data, s->size) != 0))
      fail_msg("%s: %s differs", a->name, s->name);
  }
  assert_int_equal(a->n_relocs, b->n_relocs);
  assert_int_equal(a->n_kernels, b->n_kernels);
  for (unsigned i = 0; i < a->n_kernels; i++) {
    const struct module_kernel *k = &a->kernel[i], *l = module_kernel(b, k->name, NULL);
    assert_non_null(l);
    assert_int_equal(k->regs, l->regs);
    assert_int_equal(k->shared_static, l->shared_static);
    assert_int_equal(k->stack_bytes, l->stack_bytes);
    assert_int_equal(k->param_bytes, l->param_bytes);
    assert_int_equal(k->n_params, l->n_params);
  }
}

static void check_cubin(const char *path)
{
  struct err e = {""};
  char *text = NULL;
  size_t n = 0;
  struct module *m = module_load(path, &e);
  if (!m) fail_msg("%s", e.msg);
  FILE *f = open_memstream(&text, &n);
  assert_non_null(f);
  bool written = asm_source_write(m, f, &e);
  fclose(f);
  if (!written) fail_msg("%s", e.msg);
  struct module *again = assemble_file(text, n, path, &e);
  if (!again) fail_msg("%s", e.msg);
  compare_modules(m, again);
  module_free(again);
  module_free(m);
  free(text);
}

static void check_target(unsigned sm)
{
  /* Sanitizers watch the assembler, which is the same for all kernels: they get each sixth. */
  enum { EACH = REDZONE_BYTES ? 6 : 1 };
  DIR *d = opendir(KERNELS);
  unsigned n = 0;
  assert_non_null(d);
  for (struct dirent *k; (k = readdir(d));) {
    char path[1024];
    snprintf(path, sizeof path, KERNELS "/%s/%s.sm_%u.cubin", k->d_name, k->d_name, sm);
    FILE *f = fopen(path, "rb");
    if (!f) continue;
    fclose(f);
    if ((n++ + sm) % EACH == 0) check_cubin(path);
  }
  closedir(d);
  assert_true(n > 10);
}

static void test_corpus_sm_75(void **state)
{
  (void)state;
  check_target(75);
}

static void test_corpus_sm_80(void **state)
{
  (void)state;
  check_target(80);
}

static void test_corpus_sm_86(void **state)
{
  (void)state;
  check_target(86);
}

static void test_corpus_sm_90(void **state)
{
  (void)state;
  check_target(90);
}

static void test_corpus_sm_100(void **state)
{
  (void)state;
  check_target(100);
}

static void test_corpus_sm_120(void **state)
{
  (void)state;
  check_target(120);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words_of_100),
      cmocka_unit_test(test_words),         cmocka_unit_test(test_spellings),
      cmocka_unit_test(test_overrides),     cmocka_unit_test(test_errors),
      cmocka_unit_test(test_directives),    cmocka_unit_test(test_file_errors),
      cmocka_unit_test(test_corpus_sm_75),  cmocka_unit_test(test_corpus_sm_80),
      cmocka_unit_test(test_corpus_sm_86),  cmocka_unit_test(test_corpus_sm_90),
      cmocka_unit_test(test_corpus_sm_100), cmocka_unit_test(test_corpus_sm_120),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
