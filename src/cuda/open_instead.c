/* Libraries that a program opens by their path though one of ours stands in for them (docs/libraries.md): Python
 * packages load the libraries of other packages that way before they load their own. What is asked for by its name
 * alone is found first anyhow, as `warpstep exec` has loaded ours before; by its path it would be there twice, and
 * NVIDIA's cuBLAS would find our cuBLASLt.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/shim.h"

/* What is opened, and by whom: two registers, as a function returns it. */
struct opening {
  const char *path;
  void *(*real_dlopen)(const char *, int);
};

static __attribute__((used)) struct opening opened_instead(const char *path);

/* The C library finds out who calls, whose search path counts: so nothing may be between the caller and it. */
__asm__(".text\n"
        ".globl dlopen\n"
        ".type dlopen, @function\n"
        ".balign 16\n"
        "dlopen:\n"
        "  push %rdi\n"
        "  push %rsi\n"
        "  sub $8, %rsp\n"
        "  call opened_instead\n"
        "  add $8, %rsp\n"
        "  pop %rsi\n"
        "  pop %rdi\n"
        "  mov %rax, %rdi\n"
        "  jmp *%rdx\n"
        ".size dlopen, .-dlopen\n");

/* Is the loaded library one of ours? Those lie in a folder beside this one. */
static bool is_ours(void *library)
{
  const struct link_map *map = NULL;
  Dl_info own;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) || !map) return false;
  if (!dladdr((const void *)(uintptr_t)opened_instead, &own)) return false;
  const char *end = strrchr(own.dli_fname, '/');
  const size_t n = end ? (size_t)(end - own.dli_fname) : 0;
  return n && strncmp(map->l_name, own.dli_fname, n) == 0 && strncmp(map->l_name + n, "/libs/", 6) == 0;
}

/* What is opened in the place of a file: the name of the library of ours that has the file's name and is loaded, else
 * the file. */
static struct opening opened_instead(const char *path)
{
  struct opening o = {.path = path};
  *(void **)&o.real_dlopen = dlsym(RTLD_NEXT, "dlopen");
  const char *name = path ? strrchr(path, '/') : NULL;
  if (!name || strncmp(++name, "lib", 3) != 0) return o;
  void *loaded = o.real_dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (!loaded) return o;
  if (is_ours(loaded)) o.path = name;
  dlclose(loaded);
  return o;
}
