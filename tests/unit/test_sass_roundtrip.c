/* Every instruction of every prebuilt kernel decodes, and its row and field values give back all
 * 128 bits of the word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "isa/sass/sass.h"

struct totals {
  unsigned files, words;
};

static void check_word(const char *path, unsigned sm, uint64_t pc, struct word128 w)
{
  struct sass_inst s;
  struct inst t;
  struct err e = {""};
  char text[256];
  if (!sass_decode(sm, w, pc, &s, &t, &e))
    fail_msg("%s 0x%llx: %s", path, (unsigned long long)pc, e.msg);
  const struct inst_ctrl c = sass_ctrl(w);
  struct word128 back = sass_encode(&s, &c);
  assert_int_equal(back.lo, w.lo);
  assert_int_equal(back.hi, w.hi);
  assert_true(sass_print(&s, &t, true, text, sizeof text) > 20);
  assert_string_not_equal(sass_mnemonic(t.mnemonic), "?");
  assert_true(t.n_src <= INST_MAX_SRC && t.n_dst <= INST_MAX_DST);
}

static void check_section(const char *path, unsigned sm, Elf_Scn *scn, struct totals *n)
{
  Elf_Data *d = elf_rawdata(scn, NULL);
  assert_non_null(d);
  for (size_t at = 0; at + 16 <= d->d_size; at += 16) {
    struct word128 w;
    memcpy(&w, (const char *)d->d_buf + at, 16);
    check_word(path, sm, at, w);
    n->words++;
  }
}

static void check_file(const char *path, unsigned want_sm, struct totals *n)
{
  int fd = open(path, O_RDONLY);
  assert_true(fd >= 0);
  Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
  GElf_Ehdr eh;
  assert_non_null(elf);
  assert_non_null(gelf_getehdr(elf, &eh));
  unsigned sm = eh.e_flags >> 8 & 0xff; /* CUDA 13 */
  for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn && sm == want_sm; scn = elf_nextscn(elf, scn)) {
    GElf_Shdr sh;
    assert_non_null(gelf_getshdr(scn, &sh));
    const char *name = elf_strptr(elf, eh.e_shstrndx, sh.sh_name);
    if (name && !strncmp(name, ".text.", 6)) check_section(path, sm, scn, n);
  }
  n->files += sm == want_sm;
  elf_end(elf);
  close(fd);
}

static void check_target(unsigned sm)
{
  struct totals n = {0, 0};
  glob_t g;
  assert_int_not_equal(elf_version(EV_CURRENT), EV_NONE);
  assert_int_equal(glob(WS_SOURCE_DIR "/kernels/*/*.cubin", 0, NULL, &g), 0);
  for (size_t i = 0; i < g.gl_pathc; i++) check_file(g.gl_pathv[i], sm, &n);
  globfree(&g);
  assert_true(n.files > 0 && n.words > 100);
}

static void test_sm75(void **state)
{
  (void)state;
  check_target(75);
}

static void test_sm100(void **state)
{
  (void)state;
  check_target(100);
}

static void test_sm120(void **state)
{
  (void)state;
  check_target(120);
}

static void test_sm80(void **state)
{
  (void)state;
  check_target(80);
}

static void test_sm86(void **state)
{
  (void)state;
  check_target(86);
}

static void test_sm90(void **state)
{
  (void)state;
  check_target(90);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sm75),
      cmocka_unit_test(test_sm80),
      cmocka_unit_test(test_sm86),
      cmocka_unit_test(test_sm90),
      cmocka_unit_test(test_sm100),
      cmocka_unit_test(test_sm120),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
