// The driver's linker: two inputs of PTX that need each other, as text and from a file.
#include "driver_check.h"
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

static const char kernel[] = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) scale(.param .b32 v);
.extern .global .align 4 .u32 offset;
.visible .entry fill(.param .u64 p)
{
  .reg .u32 %r<4>;
  .reg .u64 %d<3>;
  ld.param.u64 %d0, [p];
  cvta.to.global.u64 %d0, %d0;
  mov.u32 %r0, %tid.x;
  {
    .param .b32 v;
    .param .b32 r;
    st.param.b32 [v], %r0;
    call (r), scale, (v);
    ld.param.b32 %r1, [r];
  }
  ld.global.u32 %r2, [offset];
  add.u32 %r1, %r1, %r2;
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d2, %d0, %d1;
  st.global.u32 [%d2], %r1;
  ret;
}
)";

static const char library[] = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 offset = 100;
.visible .func (.param .b32 r) scale(.param .b32 v)
{
  .reg .u32 %r<3>;
  ld.param.b32 %r0, [v];
  mul.lo.u32 %r1, %r0, 7;
  st.param.b32 [r], %r1;
  ret;
}
)";

static void check(const void *image)
{
  unsigned h[32], seven = 7;
  CUmodule m;
  CUfunction f;
  CUdeviceptr p, offset;
  CU(cuModuleLoadData(&m, image));
  CU(cuModuleGetFunction(&f, m, "fill"));
  CU(cuModuleGetGlobal(&offset, nullptr, m, "offset"));
  CU(cuMemAlloc(&p, sizeof h));
  void *args[] = {&p};
  for (unsigned base : {100u, 7u}) {
    CU(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
    CU(cuMemcpyDtoH(h, p, sizeof h));
    for (unsigned i = 0; i < 32; i++) CHECK(h[i] == i * 7 + base);
    CU(cuMemcpyHtoD(offset, &seven, 4));
  }
  CU(cuMemFree(p));
  CU(cuModuleUnload(m));
}

int main()
{
  CUdevice device;
  CUcontext context;
  CUlinkState link;
  void *image;
  size_t bytes;
  CU(cuInit(0));
  CU(cuDeviceGet(&device, 0));
  CU(cuCtxCreate(&context, nullptr, 0, device));
  CU(cuLinkCreate(0, nullptr, nullptr, &link));
  CU(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)kernel, sizeof kernel, "kernel", 0, nullptr, nullptr));
  char path[] = "/tmp/warpstep-link-XXXXXX";
  int file = mkstemp(path);
  CHECK(file >= 0);
  FILE *f = fdopen(file, "w");
  fputs(library, f);
  fclose(f);
  CU(cuLinkAddFile(link, CU_JIT_INPUT_PTX, path, 0, nullptr, nullptr));
  remove(path);
  CU(cuLinkComplete(link, &image, &bytes));
  CHECK(bytes > sizeof kernel);
  check(image);
  CU(cuLinkDestroy(link));

  // what no input defines is an error, at the latest when the result is loaded
  CU(cuLinkCreate(0, nullptr, nullptr, &link));
  CU(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)kernel, sizeof kernel, "kernel", 0, nullptr, nullptr));
  CUmodule m;
  CUresult r = cuLinkComplete(link, &image, &bytes);
  CHECK(r != CUDA_SUCCESS || cuModuleLoadData(&m, image) != CUDA_SUCCESS);
  CU(cuLinkDestroy(link));
  CU(cuCtxDestroy(context));
}
