/* Code that is decoded when somebody needs it: what a launch decodes, what jumps decode, and that the questions about
 * all code are answered as if all were decoded. The reference is module_code(), which decodes all. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "isa/sass/sass.h"
#include "load/module.h"

#define KERNELS WS_SOURCE_DIR "/kernels"
#define DATA WS_SOURCE_DIR "/tests/data"

enum { BANK0_BYTES = 64 << 10 };

struct loaded {
  struct module *module;
  struct module_instance *instance;
};

static struct loaded load(const char *path)
{
  struct err e = {0};
  struct loaded l = {.module = module_load(path, &e)};
  if (l.module) l.instance = module_instantiate(l.module, NULL, &e);
  if (!l.instance) fail_msg("%s", e.msg);
  return l;
}

static void unload(struct loaded l)
{
  module_instance_free(l.instance);
  module_free(l.module);
}

/* Instructions that are decoded, without decoding any. */
static uint64_t count_there(const struct code_view *c)
{
  uint64_t n = 0;
  for (uint64_t i = 0; i < code_count(c); i++) n += c->inst[i].pc != 0;
  return n;
}

static const struct module_kernel *kernel(struct loaded l, const char *name)
{
  const struct module_kernel *k = module_kernel(l.module, name, NULL);
  assert_non_null(k);
  return k;
}

/* rdc.cu has several kernels. */
static void test_launch(void **state)
{
  struct code_reach reach;
  (void)state;
  struct loaded l = load(DATA "/rdc.sm_86.cubin");
  assert_true(module_kernel_count(l.module) >= 2);
  const struct module_kernel *a = module_kernel_at(l.module, 0), *b = module_kernel_at(l.module, 1);
  struct code_view c = module_launch_code(l.instance, a, false, &reach);
  assert_int_equal(code_pc(&c, reach.own.first), module_section_start(l.module, a->entry_pc));
  assert_int_equal(code_at(&c, a->entry_pc)->pc, a->entry_pc);
  assert_int_equal(c.inst[code_index(&c, b->entry_pc)].pc, 0);
  assert_true(count_there(&c) < code_count(&c));
  /* A jump there decodes it; a pc between instructions is none. */
  assert_null(code_at(&c, b->entry_pc + 8));
  assert_int_equal(code_at(&c, b->entry_pc)->pc, b->entry_pc);
  assert_int_equal(code_at(&c, b->entry_pc), &c.inst[code_index(&c, b->entry_pc)]);
  assert_null(code_at(&c, c.end));
  assert_null(code_at(&c, 0));
  /* Who asks for all of it finds it where the launch does. */
  assert_ptr_equal(module_code(l.instance)->inst, c.inst);
  assert_int_equal(count_there(&c), code_count(&c));
  unload(l);
}

/* Device functions (linked.cu calls some by pointers) are there with the kernel. */
static void test_functions(void **state)
{
  struct code_reach reach;
  (void)state;
  struct loaded l = load(DATA "/linked.sm_86.cubin");
  struct code_view c = module_launch_code(l.instance, kernel(l, "linked"), false, &reach);
  for (unsigned i = 0; i < module_symbol_count(l.module); i++) {
    const struct module_symbol *y = module_symbol_at(l.module, i);
    if (y->space == MODULE_CODE) assert_int_equal(c.inst[code_index(&c, y->offset)].pc, y->offset);
  }
  assert_true(reach.n_shared > 2);
  unload(l);
}

/* The answers before anything is decoded, and what all instructions say. */
static void check_answers(const char *path)
{
  struct code_reach reach;
  struct loaded lazy = load(path), whole = load(path);
  const struct code_view *all = module_code(whole.instance);
  struct code_view c = module_launch_code(lazy.instance, module_kernel_at(lazy.module, 0), true, &reach);
  assert_int_equal(c.place, code_place(all));
  assert_int_equal(c.place, all->place);
  static bool operand[BANK0_BYTES], number[BANK0_BYTES], offset[BANK0_BYTES];
  memset(operand, 0, sizeof operand);
  memset(number, 0, sizeof number);
  memset(offset, 0, sizeof offset);
  for (uint64_t i = 0; i < code_count(all); i++) {
    const struct sass_inst *s = &module_sass(whole.instance)[i];
    for (unsigned k = 0; k < 3; k++) {
      const uint32_t at = s->src[k].imm;
      if (s->src[k].kind == SRC_CONST && !s->src[k].bank && at < BANK0_BYTES) operand[at] = true;
      if (s->src[k].kind == SRC_IMM && (s->sem == SEM_MOV || s->sem == SEM_UMOV) && at < BANK0_BYTES) number[at] = true;
    }
    if (s->sem == SEM_LDC || s->sem == SEM_ULDC) offset[(uint16_t)s->offset] = true;
  }
  for (uint32_t at = 0; at < BANK0_BYTES; at += 4) {
    assert_int_equal(module_names_bank0(lazy.instance, false, at), operand[at]);
    assert_int_equal(module_names_bank0(lazy.instance, true, at), offset[at] || (offset[0] && number[at]));
  }
  unload(lazy);
  unload(whole);
}

static void test_answers(void **state)
{
  static const char *const name[] = {"const_mem", "func_ptr", "jump_table", "recursion", "printf_demo", "fp64_math"};
  static const unsigned sm[] = {70, 75, 86, 90, 100, 120};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
    for (size_t k = 0; k < sizeof sm / sizeof sm[0]; k++) {
      char path[512];
      snprintf(path, sizeof path, KERNELS "/%s/%s.sm_%u.cubin", name[i], name[i], sm[k]);
      check_answers(path);
    }
  check_answers(DATA "/rdc.sm_86.cubin");
}

/* Several threads that jump into the same code find the same. */
struct jumper {
  struct code_view code;
  uint64_t pc, wrong;
};

static void *jump(void *context)
{
  struct jumper *j = context;
  for (uint64_t pc = j->pc; pc < j->code.end; pc += 16) {
    const struct inst *in = code_at(&j->code, pc);
    j->wrong += !in || in->pc != pc || in->bytes != 16;
  }
  return NULL;
}

static void test_threads(void **state)
{
  enum { THREADS = 4 };
  struct code_reach reach;
  struct jumper j[THREADS];
  pthread_t thread[THREADS];
  (void)state;
  struct loaded l = load(DATA "/rdc.sm_86.cubin");
  struct code_view c = module_launch_code(l.instance, module_kernel_at(l.module, 0), false, &reach);
  for (unsigned i = 0; i < THREADS; i++) {
    j[i] = (struct jumper){c, c.base, 0};
    assert_int_equal(pthread_create(&thread[i], NULL, jump, &j[i]), 0);
  }
  for (unsigned i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  for (unsigned i = 0; i < THREADS; i++) assert_int_equal(j[i].wrong, 0);
  assert_int_equal(count_there(&c), code_count(&c));
  unload(l);
}

/* A decoder says the same as sass_decode(), whatever came before. */
static void test_decoder(void **state)
{
  struct arena a = {0};
  struct loaded l = load(KERNELS "/half_math/half_math.sm_120.cubin");
  const struct code_view *c = module_code(l.instance);
  struct sass_decoder *d = sass_decoder_new(&a, 120);
  (void)state;
  for (uint64_t i = 0; i < code_count(c); i++) {
    struct sass_inst s[2];
    struct inst t[2];
    const struct word128 w = module_sass(l.instance)[i].word;
    const bool ok = sass_decode(120, w, c->inst[i].pc, &s[0], &t[0], NULL);
    assert_int_equal(sass_decoder_decode(d, w, c->inst[i].pc, &s[1], &t[1], NULL), ok);
    assert_memory_equal(&s[0], &s[1], sizeof s[0]);
    assert_memory_equal(&t[0], &t[1], sizeof t[0]);
  }
  arena_free(&a);
  unload(l);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_launch), cmocka_unit_test(test_functions), cmocka_unit_test(test_answers),
      cmocka_unit_test(test_threads), cmocka_unit_test(test_decoder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
