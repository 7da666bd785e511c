/* A program compiled by nvcc, for the runtime interface: its constructors register tests/data/fat.fatbin, with the kernel
 *
 *   fat_add(int *p, int n): p[i] += table[i & 3] * scale[n & 1] + table[2] for i < n
 *
 * and the variables table = {5, 6, 7, 8} and scale = {3, 4}. Include after cmocka.h. */
#ifndef TESTS_UNIT_CUDA_PROGRAM_H
#define TESTS_UNIT_CUDA_PROGRAM_H

#include "cuda_rig.h"

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);

/* What nvcc leaves in the program. */
static struct {
  int magic, version;
  void *data, *name;
} wrapper = {0x466243b1, 1, NULL, NULL};
/* Host addresses that stand for device code and data. */
static char stub_add, stub_pick, nobody __attribute__((unused)), var_table, var_scale;

static int program_start(void **state)
{
  static char text[1 << 20];
  FILE *f = fopen(WS_SOURCE_DIR "/tests/data/fat.fatbin", "rb");
  (void)state;
  if (!f || !fread(text, 1, sizeof text, f)) return 1;
  fclose(f);
  wrapper.data = text;
  void **handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, &stub_add, "fat_add", "fat_add", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterFunction(handle, &stub_pick, "no_such_kernel", "no_such_kernel", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterVar(handle, &var_table, "table", "table", 0, 16, 0, 0);
  __cudaRegisterVar(handle, &var_scale, "scale", "scale", 0, 8, 1, 0);
  __cudaRegisterFatBinaryEnd(handle);
  return 0;
}

#endif
