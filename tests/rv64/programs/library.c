/* A library that is loaded while the program runs, and qsort's callback from it. Linked dynamically. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
  return *(const int *)a - *(const int *)b;
}

int main(void)
{
  void *m = dlopen("libm.so.6", RTLD_NOW);
  double (*cosine)(double) = m ? (double (*)(double))dlsym(m, "cos") : NULL;
  if (!cosine) return puts(dlerror()), 1;
  printf("%.17g\n", cosine(0.5));
  printf("none: %d\n", dlsym(m, "no_such_function") == NULL);
  void (*sort)(void *, size_t, size_t, int (*)(const void *, const void *)) =
      (void (*)(void *, size_t, size_t, int (*)(const void *, const void *)))dlsym(RTLD_DEFAULT, "qsort");
  int a[] = {5, 3, 9, 1};
  sort(a, 4, sizeof *a, compare);
  printf("%d %d %d %d\n", a[0], a[1], a[2], a[3]);
  dlclose(m);
  return 0;
}
