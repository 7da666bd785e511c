/* Opens the library FIRST by its path and asks its cublasGetProperty for a version, then OTHER, which nobody stands in for.
 * ARGUMENTS: FIRST OTHER, and whether FIRST should be the file (1) or the library in its place (0). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { OWN = 4711 };

static int ask(const char *path)
{
  int value = 0, (*property)(int, int *);
  void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!lib) return printf("%s\n", dlerror()), -1;
  *(void **)&property = dlsym(lib, "cublasGetProperty");
  return property && property(0, &value) == 0 ? value : -1;
}

int main(int argc, char **argv)
{
  if (argc != 4) return 2;
  const int first = ask(argv[1]), other = ask(argv[2]);
  printf("%d %d\n", first, other);
  return other != OWN || first < 0 || (first == OWN) != atoi(argv[3]);
}
