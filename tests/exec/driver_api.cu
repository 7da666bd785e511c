// The driver interface: PTX with options and log, the linker, a cubin, launches in both forms,
// cuGetProcAddress.
#include "check.h"
#include <cstring>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>

#define CU(call)                                                                                   \
  do {                                                                                             \
    CUresult status_ = (call);                                                                     \
    if (status_ != CUDA_SUCCESS) {                                                                 \
      const char *name_ = "?";                                                                     \
      cuGetErrorName(status_, &name_);                                                             \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name_);                                 \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

// p[i] = i * k + offset
static const char ptx[] = R"(
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 offset = 5;
.visible .entry fill(.param .u64 p, .param .u32 k)
{
  .reg .u32 %r<8>;
  .reg .u64 %d<4>;
  ld.param.u64 %d0, [p];
  ld.param.u32 %r0, [k];
  cvta.to.global.u64 %d0, %d0;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.global.u32 %r5, [offset];
  mad.lo.u32 %r6, %r4, %r0, %r5;
  mul.wide.u32 %d1, %r4, 4;
  add.u64 %d2, %d0, %d1;
  st.global.u32 [%d2], %r6;
  ret;
}
)";

static void check(CUdeviceptr p, unsigned k, unsigned offset)
{
  unsigned h[128];
  CU(cuMemcpyDtoH(h, p, sizeof h));
  for (unsigned i = 0; i < 128; i++) CHECK(h[i] == i * k + offset);
}

static void run(CUmodule module, CUdeviceptr p)
{
  CUfunction f;
  unsigned k = 3, offset = 17;
  CU(cuModuleGetFunction(&f, module, "fill"));
  void *args[] = {&p, &k};
  CU(cuMemsetD32(p, 0, 128));
  CU(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
  check(p, 3, 5);
  CUdeviceptr g;
  size_t bytes;
  CU(cuModuleGetGlobal(&g, &bytes, module, "offset"));
  CHECK(bytes == 4);
  CU(cuMemcpyHtoD(g, &offset, 4));
  struct {
    CUdeviceptr p;
    unsigned k;
  } packed = {p, 10};
  size_t size = 12;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  CU(cuLaunchKernel(f, 2, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  check(p, 10, 17);
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128;
  config.blockDimY = config.blockDimZ = 1;
  k = 2;
  CU(cuLaunchKernelEx(&config, f, args, nullptr));
  check(p, 2, 17);
  CHECK(cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuModuleGetFunction(&f, module, "nothing") == CUDA_ERROR_NOT_FOUND);
  CU(cuModuleUnload(module));
  CHECK(cuModuleUnload(module) == CUDA_ERROR_INVALID_HANDLE);
}

// The driver's libraries have the names that its installation gives them.
static void by_name()
{
  void *driver = dlopen("libcuda.so", RTLD_NOW), *management = dlopen("libnvidia-ml.so", RTLD_NOW);
  CHECK(driver && dlsym(driver, "cuInit") == (void *)cuInit && management && dlsym(management, "nvmlInit_v2"));
  // Links of a GPU without NVLink are not supported (3), other than one that a GPU with links has not (2): TensorFlow asks.
  int (*start)() = (int (*)())dlsym(management, "nvmlInit_v2"), active;
  int (*handle)(unsigned, void **) = (int (*)(unsigned, void **))dlsym(management, "nvmlDeviceGetHandleByIndex_v2");
  int (*link)(void *, unsigned, int *) = (int (*)(void *, unsigned, int *))dlsym(management, "nvmlDeviceGetNvLinkState");
  void *gpu;
  CHECK(start() == 0 && handle(0, &gpu) == 0 && link(gpu, 0, &active) == 3);
}

// What fills a page of 2 MiB begins at one, wherever smaller memory went before.
static void aligned()
{
  CUdeviceptr small, large;
  CU(cuMemAlloc(&small, 1000));
  CU(cuMemAlloc(&large, 2 << 20));
  CHECK(large % (2 << 20) == 0);
  CU(cuMemFree(small));
  CU(cuMemFree(large));
}

int main()
{
  CUdevice dev;
  CUcontext ctx, current;
  CUmodule m;
  CUdeviceptr p;
  int major, minor, sms;
  CHECK(cuDeviceGet(&dev, 0) == CUDA_ERROR_NOT_INITIALIZED);
  CU(cuInit(0));
  by_name();
  CU(cuDeviceGet(&dev, 0));
  CU(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev));
  CU(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev));
  CU(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, dev));
  CHECK(major == 8 && minor == 6 && sms == 46); // GeForce RTX 3070
  CHECK(cuMemAlloc(&p, 512) == CUDA_ERROR_INVALID_CONTEXT);
  CU(cuCtxCreate(&ctx, nullptr, 0, dev));
  CU(cuCtxGetCurrent(&current));
  CHECK(current == ctx);
  CU(cuMemAlloc(&p, 512));
  aligned();

  // PTX, with a log that names the kernel
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_LOG_VERBOSE, CU_JIT_OPTIMIZATION_LEVEL};
  void *values[] = {log, (void *)sizeof log, (void *)1, (void *)2};
  CU(cuModuleLoadDataEx(&m, ptx, 4, options, values));
  CHECK(strstr(log, "fill") && (size_t)values[1] == strlen(log) + 1);
  run(m, p);

  // PTX that does not compile
  char error[4096] = "";
  CUjit_option error_options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *error_values[] = {error, (void *)sizeof error};
  CHECK(cuModuleLoadDataEx(&m, ".version 7.0\n.target sm_70\n.visible .entry f() { oops; }\n", 2,
                           error_options, error_values) == CUDA_ERROR_INVALID_PTX);
  CHECK(strstr(error, "oops") || strstr(error, "rror"));
  CHECK(cuModuleLoadData(&m, "no code at all, only text that is long enough to be looked at "
                             "as a header") == CUDA_ERROR_INVALID_IMAGE);

  // the linker gives a cubin
  CUlinkState link;
  void *cubin;
  size_t bytes;
  CU(cuLinkCreate(0, nullptr, nullptr, &link));
  CU(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)ptx, sizeof ptx, "fill.ptx", 0, nullptr, nullptr));
  CU(cuLinkComplete(link, &cubin, &bytes));
  CHECK(memcmp(cubin, "\177ELF", 4) == 0 && bytes > 1000);
  CU(cuModuleLoadData(&m, cubin));
  CU(cuLinkDestroy(link));
  run(m, p);

  // entry points by name
  PFN_cuMemAlloc_v3020 alloc;
  CUdriverProcAddressQueryResult found;
  CU(cuGetProcAddress("cuMemAlloc", (void **)&alloc, 12000, 0, &found));
  CHECK(found == CU_GET_PROC_ADDRESS_SUCCESS);
  CU(alloc(&p, 16));
  CHECK(cuGetProcAddress("cuNothing", (void **)&alloc, 12000, 0, &found) == CUDA_ERROR_NOT_FOUND &&
        found == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CHECK(cuGetProcAddress("cuMemAllocAsync", (void **)&alloc, 10000, 0, &found) ==
            CUDA_ERROR_NOT_FOUND &&
        found == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  CU(cuCtxDestroy(ctx));
  CU(cuCtxGetCurrent(&current));
  CHECK(!current);
}
