// Queries of textures and surfaces: sizes are instructions, and executed. Formats, layers, levels and states of samplers
// compile to reads of a table whose entries have a size that no driver defines: NVIDIA's loads the module and does not
// find the function.
#include "driver_check.h"
#include <string>

enum { WIDTH = 12, HEIGHT = 5 };

static std::string entry(const char *name, const std::string &queries)
{
  return std::string(".visible .entry ") + name +
         "(.param .u64 image, .param .u64 out) {\n.reg .b64 %i, %o;\n.reg .b32 %r<2>;\n"
         "ld.param.u64 %i, [image];\nld.param.u64 %o, [out];\n" + queries + "st.global.v2.b32 [%o], {%r0, %r1};\nret;\n}\n";
}

static std::string query(const char *what)
{
  return std::string(what) + ".b32 %r0, [%i];\nmov.b32 %r1, %r0;\n";
}

static CUarray make_array()
{
  CUDA_ARRAY3D_DESCRIPTOR d = {};
  d.Width = WIDTH;
  d.Height = HEIGHT;
  d.Format = CU_AD_FORMAT_FLOAT;
  d.NumChannels = 1;
  d.Flags = CUDA_ARRAY3D_SURFACE_LDST;
  CUarray a;
  CU(cuArray3DCreate(&a, &d));
  return a;
}

static void sizes(CUmodule m, const char *name, unsigned long long image)
{
  CUfunction f;
  CUdeviceptr out;
  CU(cuModuleGetFunction(&f, m, name));
  CU(cuMemAlloc(&out, 8));
  void *args[] = {&image, &out};
  CU(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
  int v[2];
  CU(cuMemcpyDtoH(v, out, sizeof v));
  CHECK(v[0] == WIDTH && v[1] == HEIGHT);
  CU(cuMemFree(out));
}

int main()
{
  static const char *const refused[] = {
      "txq.channel_data_type", "txq.channel_order", "txq.array_size", "txq.num_mipmap_levels", "txq.num_samples",
      "txq.filter_mode", "txq.addr_mode_0", "txq.addr_mode_1", "txq.addr_mode_2", "txq.force_unnormalized_coords",
      "suq.channel_data_type", "suq.channel_order", "suq.array_size", "suq.memory_layout"};
  std::string ptx = ".version 7.8\n.target sm_75\n.address_size 64\n";
  ptx += entry("texture", "txq.width.b32 %r0, [%i];\ntxq.height.b32 %r1, [%i];\n");
  ptx += entry("surface", "suq.width.b32 %r0, [%i];\nsuq.height.b32 %r1, [%i];\n");
  for (const char *q : refused) {
    std::string name = q;
    name[3] = '_';
    ptx += entry(name.c_str(), query(q));
  }
  CUDA(cudaFree(0)); // the context of the runtime
  CUmodule m;
  CU(cuModuleLoadData(&m, ptx.c_str()));
  for (const char *q : refused) {
    std::string name = q;
    name[3] = '_';
    CUfunction f;
    CHECK(cuModuleGetFunction(&f, m, name.c_str()) == CUDA_ERROR_NOT_FOUND);
  }
  CUDA_RESOURCE_DESC r = {};
  CUDA_TEXTURE_DESC t = {};
  r.resType = CU_RESOURCE_TYPE_ARRAY;
  r.res.array.hArray = make_array();
  CUtexObject texture;
  CUsurfObject surface;
  CU(cuTexObjectCreate(&texture, &r, &t, NULL));
  CU(cuSurfObjectCreate(&surface, &r));
  sizes(m, "texture", texture);
  sizes(m, "surface", surface);
  return 0;
}
