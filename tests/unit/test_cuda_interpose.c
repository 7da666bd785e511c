/* Runtime functions of objects with a static runtime inside, redirected to those here when they are loaded
 * (src/cuda/interpose.c): libraries made with the C compiler, whose own functions return what no runtime returns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include "cuda_rig.h"

enum { OWN = 4711, COUNT = 1 };

static char dir[] = "/tmp/warpstep-interpose.XXXXXX";

static int make_dir(void **state)
{
  (void)state;
  return mkdtemp(dir) ? cuda_setup(state) : 1;
}

static int remove_dir(void **state)
{
  char command[256];
  (void)state;
  snprintf(command, sizeof command, "rm -r %s", dir);
  return system(command);
}

#define OWN_FUNCTION(head) "'int " head "(int *n) { *n = 4711; return 4711 + *n % 2 - 1; }' "

/* Makes the library NAME of lines of C, each in quotes. */
static const char *library(const char *name, const char *flags, const char *lines)
{
  static char path[256];
  char command[2048];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  snprintf(command, sizeof command, "printf '%%s\\n' %s | cc -O0 -shared -fPIC %s -o %s -x c -", lines, flags, path);
  assert_int_equal(system(command), 0);
  return path;
}

/* A runtime function, one that only begins like one, one that is too short for a jump, and another. */
static const char some[] = OWN_FUNCTION("cudaGetDeviceCount") OWN_FUNCTION("cudaGetDeviceCounter") OWN_FUNCTION("count")
    "'int cudaDeviceReset(void) { return 4711; }'";
/* One that is not exported, as in a program with a static runtime; called as if it were far away. */
static const char hidden[] = OWN_FUNCTION("__attribute__((visibility(\"hidden\"))) cudaGetDeviceCount")
    "'int through(int *n) { int (*volatile f)(int *) = cudaGetDeviceCount; return f(n); }'";

/* What a function of the library says; its count is in *n. */
static int ask(void *lib, const char *name, int *n)
{
  int (*f)(int *);
  *(void **)&f = dlsym(lib, name);
  assert_non_null(f);
  *n = -1;
  return f(n);
}

static void functions_are_redirected(void **state)
{
  int n, (*reset)(void);
  (void)state;
  void *lib = dlopen(library("liba.so", "", some), RTLD_NOW | RTLD_LOCAL);
  assert_non_null(lib);
  assert_int_equal(ask(lib, "cudaGetDeviceCount", &n), 0);
  assert_int_equal(n, COUNT);
  assert_int_equal(ask(lib, "cudaGetDeviceCounter", &n), OWN); /* no runtime function */
  assert_int_equal(n, OWN);
  assert_int_equal(ask(lib, "count", &n), OWN);
  *(void **)&reset = dlsym(lib, "cudaDeviceReset"); /* 11 bytes: no room for a jump */
  assert_int_equal(reset(), OWN);
  dlclose(lib);
  /* Without a symbol table the exported names serve; at the place of one that went away as at any other. */
  lib = dlopen(library("libb.so", "-s", some), RTLD_NOW | RTLD_LOCAL);
  assert_non_null(lib);
  assert_int_equal(ask(lib, "cudaGetDeviceCount", &n), 0);
  assert_int_equal(n, COUNT);
  assert_int_equal(ask(lib, "count", &n), OWN);
  dlclose(lib);
}

static void hidden_functions_too(void **state)
{
  int n;
  (void)state;
  void *lib = dlopen(library("libhidden.so", "", hidden), RTLD_NOW | RTLD_LOCAL);
  assert_non_null(lib);
  assert_int_equal(ask(lib, "through", &n), 0);
  assert_int_equal(n, COUNT);
  dlclose(lib);
}

/* What a static runtime is made from follows from the functions that only it has; structures have the size of that version
 * (driver_types.h of 11.8, 12.9 and 13.0), and 12 keeps the form of 11 under the plain name. */
static void forms_are_those_of_the_version(void **state)
{
  static const struct {
    const char *name, *mark;
    size_t bytes;
  } of[] = {{"lib11.so", "cudaBindTexture", 728}, {"lib12.so", "cudaGetDeviceProperties_v2", 728}, {"lib13.so", "count", 1008}};
  (void)state;
  for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
    char lines[512], got[2048];
    snprintf(lines, sizeof lines, "%s 'int cudaGetDeviceProperties(int *p, int n) { *p = 4711; return 4711 + n %% 2 + *p; }'",
             strcmp(of[i].mark, "cudaBindTexture") == 0 ? OWN_FUNCTION("cudaBindTexture")
             : i == 1 ? OWN_FUNCTION("cudaGetDeviceProperties_v2") : OWN_FUNCTION("count"));
    void *lib = dlopen(library(of[i].name, "", lines), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(lib);
    int (*properties)(char *, int);
    *(void **)&properties = dlsym(lib, "cudaGetDeviceProperties");
    memset(got, 0x5a, sizeof got);
    assert_int_equal(properties(got, 0), 0);
    assert_int_equal(got[of[i].bytes - 1], 0);
    assert_int_equal(got[of[i].bytes], 0x5a);
    dlclose(lib);
  }
}

static char image[1 << 17]; /* of a library without a symbol table */
static size_t image_bytes;

static void read_image(void)
{
  FILE *f = fopen(library("libwhole.so", "-s", some), "rb");
  assert_non_null(f);
  image_bytes = fread(image, 1, sizeof image, f);
  assert_in_range(image_bytes, sizeof(Elf64_Ehdr) + 1, sizeof image - 1);
  fclose(f);
}

/* The file with a section header, or the file's, made wrong; the program is what it was. */
static void broken(const char *name, void change(Elf64_Ehdr *, Elf64_Shdr *, size_t bytes), int want)
{
  static char copy[sizeof image];
  char path[256];
  int n;
  Elf64_Ehdr *h = memcpy(copy, image, sizeof image);
  Elf64_Shdr *s = (Elf64_Shdr *)(copy + h->e_shoff);
  unsigned i = 0;
  while (i < h->e_shnum && s[i].sh_type != SHT_DYNSYM) i++;
  assert_true(i < h->e_shnum);
  change(h, &s[i], image_bytes);
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(copy, 1, image_bytes, f), image_bytes);
  fclose(f);
  void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* the linker needs no sections */
  assert_non_null(lib);
  assert_int_equal(ask(lib, "cudaGetDeviceCount", &n), want == OWN ? OWN : 0);
  assert_int_equal(n, want);
  dlclose(lib);
}

static void as_it_is(Elf64_Ehdr *h, Elf64_Shdr *s, size_t bytes)
{
  (void)h, (void)s, (void)bytes;
}

static void headers_outside(Elf64_Ehdr *h, Elf64_Shdr *s, size_t bytes)
{
  (void)s;
  h->e_shoff = bytes + (1 << 20);
}

static void too_many_headers(Elf64_Ehdr *h, Elf64_Shdr *s, size_t bytes)
{
  (void)bytes;
  s->sh_type = SHT_NULL; /* so that all are looked at */
  h->e_shnum = 0xfffe;
}

static void symbols_outside(Elf64_Ehdr *h, Elf64_Shdr *s, size_t bytes)
{
  (void)h;
  s->sh_offset = bytes + (1 << 20);
}

static void symbols_too_long(Elf64_Ehdr *h, Elf64_Shdr *s, size_t bytes)
{
  (void)h;
  s->sh_size = bytes - s->sh_offset + 1;
}

static void no_such_names(Elf64_Ehdr *h, Elf64_Shdr *s, size_t bytes)
{
  (void)bytes;
  s->sh_link = h->e_shnum;
}

static void names_outside(Elf64_Ehdr *h, Elf64_Shdr *s, size_t bytes)
{
  Elf64_Shdr *all = (Elf64_Shdr *)((char *)h + h->e_shoff);
  all[s->sh_link].sh_offset = bytes + (1 << 20);
}

static void names_too_long(Elf64_Ehdr *h, Elf64_Shdr *s, size_t bytes)
{
  Elf64_Shdr *names = (Elf64_Shdr *)((char *)h + h->e_shoff) + s->sh_link;
  names->sh_size = bytes - names->sh_offset + (1 << 20);
}

static void no_names(Elf64_Ehdr *h, Elf64_Shdr *s, size_t bytes)
{
  (void)bytes;
  ((Elf64_Shdr *)((char *)h + h->e_shoff))[s->sh_link].sh_size = 0;
}

static void names_without_an_end(Elf64_Ehdr *h, Elf64_Shdr *s, size_t bytes)
{
  (void)bytes;
  ((Elf64_Shdr *)((char *)h + h->e_shoff))[s->sh_link].sh_size -= 1;
}

static void no_symbols(Elf64_Ehdr *h, Elf64_Shdr *s, size_t bytes)
{
  (void)h, (void)bytes;
  s->sh_type = SHT_NULL;
}

static void what_a_broken_file_says_is_not_used(void **state)
{
  (void)state;
  read_image();
  broken("as_it_is.so", as_it_is, COUNT);
  broken("headers_outside.so", headers_outside, OWN);
  broken("too_many_headers.so", too_many_headers, OWN);
  broken("symbols_outside.so", symbols_outside, OWN);
  broken("symbols_too_long.so", symbols_too_long, OWN);
  broken("no_such_names.so", no_such_names, OWN);
  broken("names_outside.so", names_outside, OWN);
  broken("names_too_long.so", names_too_long, OWN);
  broken("no_names.so", no_names, OWN);
  broken("names_without_an_end.so", names_without_an_end, OWN);
  broken("no_symbols.so", no_symbols, OWN);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_are_redirected), cmocka_unit_test(forms_are_those_of_the_version),
      cmocka_unit_test(hidden_functions_too),
      cmocka_unit_test(what_a_broken_file_says_is_not_used),
  };
  return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
