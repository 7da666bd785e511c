/* What programs for the driver interface need that are built without nvcc and CUDA's headers: its functions by name, and a
 * launch of kernels/vecadd. */
#ifndef TESTS_TIMELINE_DRIVER_CALLS_H
#define TESTS_TIMELINE_DRIVER_CALLS_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *handle;
typedef unsigned long long address;

static void *library;

static inline void *entry(const char *name)
{
  void *f = dlsym(library, name);
  if (!f) fprintf(stderr, "no %s\n", name), exit(1);
  return f;
}

static inline void check(int result, int line)
{
  if (result) fprintf(stderr, "line %d: error %d\n", line, result), exit(1);
}

#define CALL(name, ...) check(((int (*)())entry(#name))(__VA_ARGS__), __LINE__)

static inline int load_driver(void)
{
  return (library = dlopen("libcuda.so.1", RTLD_NOW)) != NULL;
}

static inline void launch(handle f, unsigned block, handle stream, address x, address y, address z, unsigned n)
{
  void *args[] = {&x, &y, &z, &n};
  CALL(cuLaunchKernel, f, (n + block - 1) / block, 1, 1, block, 1, 1, 0, stream, args, NULL);
}

#endif
