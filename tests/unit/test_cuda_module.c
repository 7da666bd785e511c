/* Modules and launches of the driver interface, from the prebuilt cubins. Expected values: CUDA Driver API reference, sections
 * Module Management, Execution Control, Occupancy; results by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda_rig.h"
#include "load/asm_source.h"

CUresult cuTensorMapEncodeTiled(void *, unsigned, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                                const uint32_t *, unsigned, unsigned, unsigned, unsigned);

#define KERNEL(name) WS_SOURCE_DIR "/kernels/" name "/" name

CUresult cuModuleLoadData(CUmodule *, const void *);
CUresult cuModuleLoadDataEx(CUmodule *, const void *, unsigned, int *, void **);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, CUmodule, const char *);
CUresult cuModuleGetFunctionCount(unsigned *, CUmodule);
CUresult cuModuleEnumerateFunctions(CUfunction *, unsigned, CUmodule);
CUresult cuLibraryLoadFromFile(CUlibrary *, const char *, int *, void **, unsigned, int *, void **, unsigned);
CUresult cuLibraryGetKernel(CUkernel *, CUlibrary, const char *);
CUresult cuLibraryUnload(CUlibrary);
CUresult cuKernelGetFunction(CUfunction *, CUkernel);
CUresult cuFuncGetAttribute(int *, int, CUfunction);
CUresult cuFuncSetAttribute(CUfunction, int, int);
CUresult cuFuncGetModule(CUmodule *, CUfunction);
CUresult cuFuncGetName(const char **, CUfunction);
CUresult cuFuncGetParamInfo(CUfunction, size_t, size_t *, size_t *);
CUresult cuLaunchKernelEx(const CUlaunchConfig *, CUfunction, void **, void **);
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                                   void **);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, CUfunction, int, size_t);
CUresult cuOccupancyMaxPotentialBlockSize(int *, int *, CUfunction, size_t (*)(int), size_t, int);
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *, CUfunction, int, int);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice);

static char *file_bytes(const char *path, size_t *n)
{
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  fseek(f, 0, SEEK_END);
  *n = (size_t)ftell(f);
  rewind(f);
  char *text = malloc(*n);
  assert_int_equal(fread(text, 1, *n, f), *n);
  fclose(f);
  return text;
}

/* Tensor maps are of GPUs from sm_90 on. */
static void no_tensor_maps(void **state)
{
  static _Alignas(64) uint8_t map[128];
  const uint64_t extent[1] = {64}, none[1] = {0};
  const uint32_t box[1] = {16}, step[1] = {1};
  (void)state;
  assert_int_equal(cuTensorMapEncodeTiled(map, 2, 1, map, extent, none, box, step, 0, 0, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
  for (unsigned i = 0; i < sizeof map; i++) assert_int_equal(map[i], 0);
}

/* Each thread writes its number. */
#define WRITES_NUMBERS \
  ".param 8\n" \
  "[W0:S02] S2R R0, SR_TID.X ;\n[S04] MOV R7, 0x4 ;\n[S12] ULDC.64 UR4, c[0x0][0x118] ;\n" \
  "[B0:S06] IMAD.WIDE.U32 R2, R0, R7, c[0x0][0x160] ;\n[S01] STG.E desc[UR4][R2.64], R0 ;\n[S05] EXIT ;\n"

/* Kernels of CUDA Tile IR are launched with one thread and have those that they were compiled for; other kernels are not. */
static void tiles(void **state)
{
  enum { THREADS = 64 };
  static const char text[] = ".target sm_86\n.kernel tile\n.reqntid 64\n.tile\n" WRITES_NUMBERS
                             ".kernel plain\n" WRITES_NUMBERS;
  struct arena a = {0};
  struct err e = {""};
  size_t bytes;
  CUmodule m;
  CUfunction tile, plain;
  CUdeviceptr out;
  unsigned got[THREADS + 1];
  (void)state;
  const uint8_t *image = asm_source_assemble(&a, text, sizeof text - 1, "tile.sass", NULL, &bytes, &e);
  if (!image) fail_msg("%s", e.msg);
  OK(cuModuleLoadData(&m, image));
  OK(cuModuleGetFunction(&tile, m, "tile"));
  OK(cuModuleGetFunction(&plain, m, "plain"));
  OK(cuMemAlloc_v2(&out, sizeof got));
  void *params[] = {&out};
  for (int tiled = 0; tiled < 2; tiled++) {
    OK(cuMemsetD32_v2(out, 0xffffffff, THREADS + 1));
    OK(cuLaunchKernel(tiled ? tile : plain, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH_v2(got, out, sizeof got));
    for (unsigned i = 0; i <= THREADS; i++) assert_int_equal(got[i], i < (tiled ? THREADS : 1u) ? i : 0xffffffff);
  }
  OK(cuMemFree_v2(out));
  OK(cuModuleUnload(m));
  arena_free(&a);
}

/* Such a kernel whose parameter block has room for tensor maps that no parameter describes: the second one's record is
 * one that nobody knows here, and the first one's number stays. NVIDIA's driver has host code of the cubin fill it. */
static void tiles_with_host_code(void **state)
{
  static const char text[] = ".target sm_86\n.kernel tile\n.reqntid 64\n.tile\n.param 8\n.param 128\n[S05] EXIT ;\n";
  static const uint8_t second[] = {0x04, 0x17, 0x0c, 0x00, 0, 0, 0, 0, 0x01, 0x00}; /* KPARAM_INFO of parameter 1 */
  enum { UNKNOWN = 0x7f };
  struct arena a = {0};
  struct err e = {""};
  size_t bytes;
  CUmodule m;
  CUfunction f;
  uint64_t argument = 0;
  void *params[] = {&argument, NULL};
  (void)state;
  const uint8_t *image = asm_source_assemble(&a, text, sizeof text - 1, "tile.sass", NULL, &bytes, &e);
  if (!image) fail_msg("%s", e.msg);
  uint8_t *record = memmem(image, bytes, second, sizeof second);
  assert_non_null(record);
  record[1] = UNKNOWN;
  OK(cuModuleLoadData(&m, image));
  OK(cuModuleGetFunction(&f, m, "tile"));
  assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_NOT_SUPPORTED);
  OK(cuCtxSynchronize());
  OK(cuModuleUnload(m));
  arena_free(&a);
}

static void loading(void **state)
{
  CUmodule m, other;
  CUfunction f, list[4] = {0};
  CUlibrary library;
  CUkernel kernel;
  const char *name;
  size_t bytes;
  unsigned n = 0;
  (void)state;
  f = cuda_vecadd(&m);
  OK(cuModuleGetFunctionCount(&n, m));
  assert_int_equal(n, 1);
  OK(cuModuleEnumerateFunctions(list, 1, m));
  assert_ptr_equal(list[0], f);
  OK(cuFuncGetName(&name, f));
  assert_string_equal(name, "vecadd");
  OK(cuFuncGetModule(&other, f));
  assert_ptr_equal(other, m);
  assert_int_equal(cuModuleGetFunction(&f, m, "no such"), CUDA_ERROR_NOT_FOUND);
  assert_int_equal(cuModuleGetFunction(&f, m, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuModuleGetFunction(NULL, m, "vecadd"), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuModuleLoad(&other, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
  assert_int_equal(cuModuleLoad(&other, "/dev/null"), CUDA_ERROR_INVALID_IMAGE); /* an empty file */
  assert_int_equal(cuModuleLoad(&other, WS_SOURCE_DIR), CUDA_ERROR_FILE_NOT_FOUND); /* a folder */
  assert_int_equal(cuModuleLoad(&other, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuModuleLoad(&other, KERNEL("vecadd") ".sm_90.cubin"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  assert_int_equal(cuModuleLoadData(&other, "this is neither an ELF file nor PTX, nor a fat binary ....................."),
                   CUDA_ERROR_INVALID_IMAGE);
  assert_int_equal(cuModuleLoadData(&other, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuModuleLoadData(NULL, "x"), CUDA_ERROR_INVALID_VALUE);
  char *image = file_bytes(KERNEL("vecadd") ".sm_86.cubin", &bytes);
  OK(cuModuleLoadData(&other, image));
  assert_ptr_not_equal(other, m);
  OK(cuModuleGetFunction(&f, other, "vecadd"));
  OK(cuModuleUnload(other));
  free(image);
  assert_int_equal(cuModuleUnload(other), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuModuleGetFunction(&f, other, "vecadd"), CUDA_ERROR_INVALID_HANDLE);
  OK(cuLibraryLoadFromFile(&library, KERNEL("vecadd") ".sm_86.cubin", NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryGetKernel(&kernel, library, "vecadd"));
  OK(cuKernelGetFunction(&f, kernel));
  assert_int_equal(cuLibraryGetKernel(&kernel, library, "no such"), CUDA_ERROR_NOT_FOUND);
  OK(cuLibraryUnload(library));
  OK(cuModuleUnload(m));
}

/* tests/data/fat.cu: table = {5, 6, 7, 8}, scale = {3, 4}, entry = &table[2]; fat_add adds table[i & 3] * scale[n & 1] +
 * *entry to p[i]. */
static void variables(void **state)
{
  CUmodule m;
  CUfunction f;
  CUdeviceptr table, entry, p, at;
  size_t bytes;
  int v[8], n = 6;
  (void)state;
  OK(cuModuleLoad(&m, WS_SOURCE_DIR "/tests/data/fat.fatbin"));
  OK(cuModuleGetFunction(&f, m, "fat_add"));
  OK(cuModuleGetGlobal_v2(&table, &bytes, m, "table"));
  assert_int_equal(bytes, 16);
  OK(cuMemcpyDtoH_v2(v, table, 16));
  for (int i = 0; i < 4; i++) assert_int_equal(v[i], 5 + i);
  OK(cuModuleGetGlobal_v2(&entry, &bytes, m, "entry"));
  assert_int_equal(bytes, 8);
  OK(cuMemcpyDtoH_v2(&at, entry, 8));
  assert_int_equal(at, table + 8);
  OK(cuModuleGetGlobal_v2(NULL, &bytes, m, "scale")); /* either is optional */
  assert_int_equal(bytes, 8);
  assert_int_equal(cuModuleGetGlobal_v2(&p, &bytes, m, "no such"), CUDA_ERROR_NOT_FOUND);
  assert_int_equal(cuModuleGetGlobal_v2(&p, &bytes, m, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemAlloc_v2(&p, sizeof v));
  OK(cuMemsetD32_v2(p, 100, 8));
  OK(cuMemsetD32_v2(table + 4, 60, 1));
  OK(cuLaunchKernel(f, 1, 1, 1, 8, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
  OK(cuMemcpyDtoH_v2(v, p, sizeof v));
  static const int want[4] = {5, 60, 7, 8};
  for (int i = 0; i < 8; i++) assert_int_equal(v[i], i < n ? 100 + want[i & 3] * 3 + 7 : 100);
  OK(cuMemFree_v2(p));
  OK(cuModuleUnload(m));
}

enum { N = 1000 };

static void check_sum(CUdeviceptr z, unsigned n, float first, float step)
{
  float out[N];
  OK(cuMemcpyDtoH_v2(out, z, sizeof out));
  for (unsigned i = 0; i < N; i++) assert_true(out[i] == (i < n ? first + step * (float)i : 0));
  OK(cuMemsetD8_v2(z, 0, sizeof out));
}

/* Arguments as pointers and as a buffer; every way of asking for the same grid. */
static void launches(void **state)
{
  CUmodule m;
  CUfunction f = cuda_vecadd(&m);
  CUdeviceptr x = cuda_floats(N, 1, 1), y = cuda_floats(N, 10, 2), z = cuda_floats(N, 0, 0);
  unsigned n = N;
  void *params[] = {&x, &y, &z, &n};
  (void)state;
  OK(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
  check_sum(z, N, 11, 3);
  n = 300;
  OK(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
  check_sum(z, 300, 11, 3);
  struct {
    CUdeviceptr x, y, z;
    unsigned n;
  } buffer = {x, y, z, 100};
  size_t bytes = 28;
  void *extra[] = {LAUNCH_PARAM_BUFFER, &buffer, LAUNCH_PARAM_BUFFER_SIZE, &bytes, LAUNCH_PARAM_END};
  OK(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, NULL, NULL, extra));
  check_sum(z, 100, 11, 3);
  assert_int_equal(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, NULL, params, extra), CUDA_ERROR_INVALID_VALUE);
  CUlaunchConfig c = {.grid = {4, 1, 1}, .block = {256, 1, 1}};
  OK(cuLaunchKernelEx(&c, f, params, NULL));
  check_sum(z, 300, 11, 3);
  assert_int_equal(cuLaunchKernelEx(NULL, f, params, NULL), CUDA_ERROR_INVALID_VALUE);
  c.n_attrs = 1;
  assert_int_equal(cuLaunchKernelEx(&c, f, params, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuLaunchCooperativeKernel(f, 4, 1, 1, 256, 1, 1, 0, NULL, params));
  check_sum(z, 300, 11, 3);
  /* 46 SMs, 48 warps each: 6 CTAs of 256 threads; one more cannot be resident at once */
  OK(cuLaunchCooperativeKernel(f, 46 * 6, 1, 1, 256, 1, 1, 0, NULL, params));
  assert_int_equal(cuLaunchCooperativeKernel(f, 46 * 6 + 1, 1, 1, 256, 1, 1, 0, NULL, params),
                   CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  OK(cuMemFree_v2(x));
  OK(cuMemFree_v2(y));
  OK(cuMemFree_v2(z));
  OK(cuModuleUnload(m));
  assert_int_equal(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_INVALID_HANDLE);
}

static void bad_configurations(void **state)
{
  static const struct {
    unsigned grid[3], block[3], shared;
  } row[] = {{{0, 1, 1}, {32, 1, 1}, 0},     {{1, 0, 1}, {32, 1, 1}, 0},      {{1, 1, 0}, {32, 1, 1}, 0},
             {{1, 1, 1}, {0, 1, 1}, 0},      {{1, 1, 1}, {32, 0, 1}, 0},      {{1, 1, 1}, {32, 1, 0}, 0},
             {{1, 1, 1}, {1025, 1, 1}, 0},   {{1, 1, 1}, {1, 1025, 1}, 0},    {{1, 1, 1}, {1, 1, 65}, 0},
             {{1, 1, 1}, {32, 33, 1}, 0},    {{1, 65536, 1}, {32, 1, 1}, 0},  {{1, 1, 65536}, {32, 1, 1}, 0},
             {{1u << 31, 1, 1}, {32, 1, 1}, 0}, {{1, 1, 1}, {32, 1, 1}, 49153}};
  CUmodule m;
  CUfunction f = cuda_vecadd(&m);
  CUdeviceptr x = 0;
  unsigned n = 0;
  void *params[] = {&x, &x, &x, &n};
  (void)state;
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    CUresult r = cuLaunchKernel(f, row[i].grid[0], row[i].grid[1], row[i].grid[2], row[i].block[0], row[i].block[1],
                                row[i].block[2], row[i].shared, NULL, params, NULL);
    if (r != CUDA_ERROR_INVALID_VALUE) fail_msg("row %u: %d", i, (int)r);
  }
  OK(cuLaunchKernel(f, 1, 1, 1, 1024, 1, 1, 49152, NULL, params, NULL)); /* n = 0: nothing is read */
  OK(cuLaunchKernel(f, 1, 65535, 1, 1, 1, 1, 0, NULL, params, NULL));
  OK(cuFuncSetAttribute(f, FUNC_MAX_DYNAMIC_SHARED, 101376)); /* with the opt-in up to 99 KiB */
  OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 101376, NULL, params, NULL));
  assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 101377, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuFuncSetAttribute(f, FUNC_MAX_DYNAMIC_SHARED, 101377), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, (CUstream)&n, params, NULL), CUDA_ERROR_INVALID_HANDLE);
  OK(cuModuleUnload(m));
}

/* extern "C" __global__ void vecadd(const float *x, const float *y, float *z, unsigned n) */
static void what_a_kernel_says(void **state)
{
  static const size_t want[4][2] = {{0, 8}, {8, 8}, {16, 8}, {24, 4}};
  CUmodule m;
  CUfunction f = cuda_vecadd(&m);
  size_t offset, bytes;
  int v;
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    OK(cuFuncGetParamInfo(f, i, &offset, &bytes));
    assert_int_equal(offset, want[i][0]);
    assert_int_equal(bytes, want[i][1]);
  }
  OK(cuFuncGetParamInfo(f, 0, &offset, NULL));
  assert_int_equal(cuFuncGetParamInfo(f, 4, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuFuncGetParamInfo(f, 0, NULL, &bytes), CUDA_ERROR_INVALID_VALUE);
  OK(cuFuncGetAttribute(&v, FUNC_MAX_THREADS, f));
  assert_int_equal(v, 1024);
  OK(cuFuncGetAttribute(&v, FUNC_BINARY_VERSION, f));
  assert_int_equal(v, 86);
  OK(cuFuncGetAttribute(&v, FUNC_SHARED_SIZE, f));
  assert_int_equal(v, 0);
  OK(cuFuncGetAttribute(&v, FUNC_LOCAL_SIZE, f));
  assert_int_equal(v, 0);
  OK(cuFuncGetAttribute(&v, FUNC_NUM_REGS, f));
  assert_in_range(v, 1, 32);
  OK(cuFuncGetAttribute(&v, FUNC_MAX_DYNAMIC_SHARED, f));
  assert_int_equal(v, 49152);
  assert_int_equal(cuFuncGetAttribute(&v, FUNC__N, f), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuFuncGetAttribute(NULL, FUNC_MAX_THREADS, f), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuFuncGetAttribute(&v, FUNC_MAX_THREADS, NULL), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuFuncSetAttribute(f, FUNC_NUM_REGS, 8), CUDA_ERROR_INVALID_VALUE); /* read only */
  OK(cuFuncSetAttribute(f, FUNC_CARVEOUT, 50));
  OK(cuFuncGetAttribute(&v, FUNC_CARVEOUT, f));
  assert_int_equal(v, 50);
  assert_int_equal(cuFuncSetAttribute(f, FUNC_CARVEOUT, 101), CUDA_ERROR_INVALID_VALUE);
  /* Allowed or not; LMDeploy and others say how large the clusters are to be, and some check the call. */
  static const int clusters[] = {1, 0, 16};
  for (unsigned i = 0; i < 3; i++) {
    OK(cuFuncSetAttribute(f, FUNC_NON_PORTABLE_CLUSTER, clusters[i]));
    OK(cuFuncGetAttribute(&v, FUNC_NON_PORTABLE_CLUSTER, f));
    assert_int_equal(v, clusters[i] != 0);
  }
  OK(cuFuncGetAttribute(&v, FUNC_CACHE_MODE_CA, f)); /* "-Xptxas --dlcm=ca": the kernels are compiled without */
  assert_int_equal(v, 0);
  OK(cuModuleUnload(m));
}

/* Occupancy calculator, compute capability 8.6: 48 warps, 16 CTAs, 100 KiB of shared memory, 1 KiB of it for each CTA. */
static void occupancy(void **state)
{
  CUmodule m;
  CUfunction f = cuda_vecadd(&m);
  int n, grid, block;
  size_t bytes;
  (void)state;
  static const struct {
    int threads, shared, ctas;
  } row[] = {{256, 0, 6}, {1024, 0, 1}, {768, 0, 2}, {32, 0, 16}, {96, 0, 16}, {97, 0, 12}, {128, 32768, 3}, {128, 16384, 5}};
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, row[i].threads, (size_t)row[i].shared));
    assert_int_equal(n, row[i].ctas);
  }
  assert_int_equal(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, f, 32, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 0, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0));
  assert_int_equal(block, 768); /* the largest that fills 1536 threads */
  assert_int_equal(grid, 2 * 46);
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 300));
  assert_int_equal(block, 256); /* 6 x 256 = 1536 */
  assert_int_equal(grid, 6 * 46);
  OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 2, 256));
  assert_in_range(bytes, 48 * 1024, 49 * 1024); /* (100 KiB - 2 KiB) / 2, at most what a CTA may have */
  OK(cuModuleUnload(m));
}

/* An address that nobody allocated: the launch succeeds, the error comes with the wait, and stays. */
static void faults_stick(void **state)
{
  CUmodule m;
  CUfunction f = cuda_vecadd(&m);
  CUdeviceptr x = cuda_floats(N, 1, 1), bad = 0x1000;
  unsigned n = N;
  void *params[] = {&x, &x, &bad, &n};
  float out;
  (void)state;
  OK(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
  assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  assert_int_equal(cuMemcpyDtoH_v2(&out, x, sizeof out), CUDA_ERROR_ILLEGAL_ADDRESS);
  assert_int_equal(cuMemAlloc_v2(&bad, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  params[2] = &x;
  assert_int_equal(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
  OK(cuDevicePrimaryCtxReset_v2(0)); /* a new start */
  OK(cuCtxSetCurrent(NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_tensor_maps), cmocka_unit_test(tiles), cmocka_unit_test(tiles_with_host_code),
      cmocka_unit_test(loading), cmocka_unit_test(variables), cmocka_unit_test(launches),
      cmocka_unit_test(bad_configurations), cmocka_unit_test(what_a_kernel_says), cmocka_unit_test(occupancy),
      cmocka_unit_test(faults_stick),
  };
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
