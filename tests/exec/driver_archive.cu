// The driver's linker with each kind of input: objects, an archive, cubins, fat binaries, PTX; its options, logs and errors.
#include "driver_check.h"
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

// Adds 1 to what scale of another input gives.
static const char ptx[] = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) _Z5scalei(.param .b32 v);
.visible .entry more(.param .u64 p)
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
    call (r), _Z5scalei, (v);
    ld.param.b32 %r1, [r];
  }
  add.u32 %r1, %r1, 1;
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d2, %d0, %d1;
  st.global.u32 [%d2], %r1;
  ret;
}
)";

static std::string bytes_of(const std::string &path)
{
  std::string text;
  FILE *f = fopen(path.c_str(), "rb");
  CHECK(f);
  for (int c; (c = fgetc(f)) != EOF;) text += (char)c;
  fclose(f);
  return text;
}

static std::string part(const char *end)
{
  return std::string(PARTS) + end;
}

static void add_file(CUlinkState link, CUjitInputType type, const char *end)
{
  CU(cuLinkAddFile(link, type, part(end).c_str(), 0, nullptr, nullptr));
}

static void add_bytes(CUlinkState link, CUjitInputType type, const char *end)
{
  std::string b = bytes_of(part(end));
  CU(cuLinkAddData(link, type, &b[0], b.size(), end, 0, nullptr, nullptr));
}

// Values of kernel `name`, 32 of them.
static std::vector<int> run(CUmodule m, const char *name)
{
  std::vector<int> h(32);
  CUfunction f;
  CUdeviceptr p;
  CU(cuModuleGetFunction(&f, m, name));
  CU(cuMemAlloc(&p, 32 * sizeof(int)));
  void *args[] = {&p};
  CU(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
  CU(cuMemcpyDtoH(h.data(), p, 32 * sizeof(int)));
  CU(cuMemFree(p));
  return h;
}

// Completes, loads, runs both kernels of the parts.
static CUmodule finish(CUlinkState link)
{
  void *image;
  size_t size;
  CUmodule m;
  CU(cuLinkComplete(link, &image, &size));
  CU(cuModuleLoadData(&m, image));
  CU(cuLinkDestroy(link));
  std::vector<int> filled = run(m, "fill"), counted = run(m, "count");
  for (int i = 0; i < 32; i++) CHECK(filled[i] == 7 * i + 100 && counted[i] == i + 7);
  return m;
}

static CUlinkState start()
{
  CUlinkState link;
  CU(cuLinkCreate(0, nullptr, nullptr, &link));
  return link;
}

static void inputs()
{
  CUlinkState link = start();
  add_file(link, CU_JIT_INPUT_LIBRARY, ".a");
  CU(cuModuleUnload(finish(link)));

  link = start();
  add_file(link, CU_JIT_INPUT_OBJECT, ".part1.o");
  add_bytes(link, CU_JIT_INPUT_OBJECT, ".part2.o");
  CU(cuModuleUnload(finish(link)));

  link = start();
  add_bytes(link, CU_JIT_INPUT_CUBIN, ".part1.cubin");
  add_file(link, CU_JIT_INPUT_FATBINARY, ".part2.fatbin");
  CU(cuModuleUnload(finish(link)));

  // PTX that needs a function of the archive: its errors only count when it cannot be a part either
  link = start();
  CU(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)ptx, sizeof ptx, "more", 0, nullptr, nullptr));
  add_bytes(link, CU_JIT_INPUT_LIBRARY, ".a");
  CUmodule m = finish(link);
  std::vector<int> h = run(m, "more");
  for (int i = 0; i < 32; i++) CHECK(h[i] == 7 * i + 1);
  CU(cuModuleUnload(m));
}

static void options_and_log()
{
  char info[2048] = "", error[2048] = "";
  CUjit_option option[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                           CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_LOG_VERBOSE, CU_JIT_WALL_TIME, CU_JIT_TARGET};
  void *value[] = {info, (void *)sizeof info, error, (void *)sizeof error, (void *)1, nullptr, (void *)CU_TARGET_COMPUTE_86};
  CUlinkState link;
  CU(cuLinkCreate(7, option, value, &link));
  CUjit_option registers[] = {CU_JIT_MAX_REGISTERS}, of_link[] = {CU_JIT_TARGET};
  void *sixteen[] = {(void *)16}, *sm_86[] = {(void *)CU_TARGET_COMPUTE_86};
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)ptx, sizeof ptx, "more", 1, of_link, sm_86) == CUDA_ERROR_INVALID_VALUE);
  CU(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)ptx, sizeof ptx, "more", 1, registers, sixteen));
  CHECK(strstr(info, "more") && (size_t)value[1] == strlen(info) + 1);

  // text that is no PTX, and PTX that is wrong: the call says so, and the link goes on without it
  char broken[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { frobnicate; }\n", text[] = "no code";
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, text, sizeof text, "words", 0, nullptr, nullptr) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(strstr(error, "words"));
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, broken, sizeof broken, "broken", 0, nullptr, nullptr) == CUDA_ERROR_INVALID_PTX);
  CHECK(strstr(error, "frobnicate") && (size_t)value[3] == strlen(error) + 1);

  // a function that no input has
  void *image;
  size_t size;
  CHECK(cuLinkComplete(link, &image, &size) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(strstr(error, "_Z5scalei"));
  float ms;
  memcpy(&ms, &value[5], sizeof ms);
  CHECK(ms > 0 && ms < 1e6f);
  CU(cuLinkDestroy(link));

  // the same name twice
  CU(cuLinkCreate(7, option, value, &link));
  add_file(link, CU_JIT_INPUT_LIBRARY, ".a");
  add_file(link, CU_JIT_INPUT_OBJECT, ".part2.o");
  CHECK(cuLinkComplete(link, &image, &size) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(strstr(error, ".part2.o") && strstr(error, ".a"));
  CU(cuLinkDestroy(link));
}

static void errors()
{
  CUlinkState link = start();
  void *image;
  size_t size;
  std::string object = bytes_of(part(".part1.o")), cubin = bytes_of(part(".part1.cubin"));
  CHECK(cuLinkComplete(link, &image, &size) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, "/nowhere.a", 0, nullptr, nullptr) == CUDA_ERROR_FILE_NOT_FOUND);
  CHECK(cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, part(".part1.o").c_str(), 0, nullptr, nullptr) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, &object[0], object.size(), "o", 0, nullptr, nullptr) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, &cubin[0], cubin.size(), "c", 0, nullptr, nullptr) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_OBJECT, &object[0], 200, "cut", 0, nullptr, nullptr) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(cuLinkAddData(link, (CUjitInputType)17, &object[0], object.size(), "o", 0, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuLinkAddData(nullptr, CU_JIT_INPUT_OBJECT, &object[0], object.size(), "o", 0, nullptr, nullptr) == CUDA_ERROR_INVALID_HANDLE);
  // half a cubin, at the latest when it is linked
  if (cuLinkAddData(link, CU_JIT_INPUT_CUBIN, &cubin[0], cubin.size() / 2, "half", 0, nullptr, nullptr) == CUDA_SUCCESS)
    CHECK(cuLinkComplete(link, &image, &size) == CUDA_ERROR_INVALID_IMAGE);
  CU(cuLinkDestroy(link));
}

int main()
{
  CUdevice device;
  CUcontext context;
  CU(cuInit(0));
  CU(cuDeviceGet(&device, 0));
  CU(cuCtxCreate(&context, nullptr, 0, device));
  inputs();
  options_and_log();
  errors();
  CU(cuCtxDestroy(context));
}
