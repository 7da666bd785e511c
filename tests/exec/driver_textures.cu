// Arrays, textures and surfaces of the driver interface: descriptions come back as they were given, copies go
// to the right texels, and kernels read what the rules of sampling say.
#include "driver_check.h"
#include <cstring>

extern "C" __global__ void sample(cudaTextureObject_t t, float *out, int width, int height)
{
  int x = threadIdx.x, y = threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}

extern "C" __global__ void fetch(cudaTextureObject_t t, unsigned *out)
{
  uint2 v = tex1Dfetch<uint2>(t, threadIdx.x);
  out[threadIdx.x] = v.x * 1000 + v.y;
}

extern "C" __global__ void turn(cudaSurfaceObject_t s, int width, int height)
{
  int x = threadIdx.x, y = threadIdx.y;
  int v = surf2Dread<int>(s, x * 4, y);
  __syncthreads();
  surf2Dwrite(v, s, (width - 1 - x) * 4, height - 1 - y);
}

const int width = 12, height = 5;

static void arrays(CUarray a, const float *h)
{
  CUDA_ARRAY_DESCRIPTOR d = {};
  CU(cuArrayGetDescriptor(&d, a));
  CHECK(d.Width == width && d.Height == height && d.Format == CU_AD_FORMAT_FLOAT && d.NumChannels == 1);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = h;
  copy.srcPitch = width * 4;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = a;
  copy.WidthInBytes = width * 4;
  copy.Height = height;
  CU(cuMemcpy2D(&copy));
  // a part of it back: 3 texels of 2 rows from (4, 1) on
  float part[2][3];
  CUDA_MEMCPY2D back = {};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  back.srcArray = a;
  back.srcXInBytes = 4 * 4;
  back.srcY = 1;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = part;
  back.dstPitch = sizeof part[0];
  back.WidthInBytes = sizeof part[0];
  back.Height = 2;
  CU(cuMemcpy2D(&back));
  for (int y = 0; y < 2; y++)
    for (int x = 0; x < 3; x++) CHECK(part[y][x] == h[(y + 1) * width + x + 4]);
  back.srcY = height - 1; // one row too far
  CHECK(cuMemcpy2D(&back) == CUDA_ERROR_INVALID_VALUE);
}

static void textures(CUfunction f, CUarray a, const float *h, CUdeviceptr out)
{
  static float got[width * height];
  CUDA_RESOURCE_DESC resource = {}, was;
  CUDA_TEXTURE_DESC texture = {}, said;
  CUtexObject t;
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = a;
  texture.addressMode[0] = texture.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  texture.filterMode = CU_TR_FILTER_MODE_POINT;
  CU(cuTexObjectCreate(&t, &resource, &texture, nullptr));
  CU(cuTexObjectGetResourceDesc(&was, t));
  CU(cuTexObjectGetTextureDesc(&said, t));
  CHECK(was.res.array.hArray == a && said.addressMode[1] == CU_TR_ADDRESS_MODE_CLAMP);
  int w = width, n = height;
  void *args[] = {&t, &out, &w, &n};
  CU(cuLaunchKernel(f, 1, 1, 1, width, height, 1, 0, nullptr, args, nullptr));
  CU(cuMemcpyDtoH(got, out, sizeof got));
  for (int i = 0; i < width * height; i++) CHECK(got[i] == h[i]);
  CU(cuTexObjectDestroy(t));
  CHECK(cuTexObjectDestroy(t) == CUDA_ERROR_INVALID_VALUE);

  // 8-bit texels over plain memory, read as normalised floats: v / 255
  unsigned char bytes[32 * height];
  for (int i = 0; i < int(sizeof bytes); i++) bytes[i] = i * 3;
  CUdeviceptr p;
  size_t pitch;
  CU(cuMemAllocPitch(&p, &pitch, 32, height, 4));
  for (int y = 0; y < height; y++) CU(cuMemcpyHtoD(p + y * pitch, bytes + 32 * y, 32));
  resource = {};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D.devPtr = p;
  resource.res.pitch2D.format = CU_AD_FORMAT_UNSIGNED_INT8;
  resource.res.pitch2D.numChannels = 1;
  resource.res.pitch2D.width = 32;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  CU(cuTexObjectCreate(&t, &resource, &texture, nullptr));
  CU(cuLaunchKernel(f, 1, 1, 1, width, height, 1, 0, nullptr, args, nullptr));
  CU(cuMemcpyDtoH(got, out, sizeof got));
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      float want = bytes[32 * y + x] / 255.0f, d = got[y * width + x] - want;
      CHECK(d < 1e-6f && d > -1e-6f);
    }
  CU(cuTexObjectDestroy(t));
  CU(cuMemFree(p));
}

static void linear(CUfunction f, CUdeviceptr out)
{
  unsigned h[32], got[16];
  for (int i = 0; i < 32; i++) h[i] = i + 1;
  CUdeviceptr p;
  CU(cuMemAlloc(&p, sizeof h));
  CU(cuMemcpyHtoD(p, h, sizeof h));
  CUDA_RESOURCE_DESC resource = {};
  CUDA_TEXTURE_DESC texture = {};
  CUtexObject t;
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear.devPtr = p;
  resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
  resource.res.linear.numChannels = 2;
  resource.res.linear.sizeInBytes = sizeof h;
  texture.flags = CU_TRSF_READ_AS_INTEGER;
  CU(cuTexObjectCreate(&t, &resource, &texture, nullptr));
  void *args[] = {&t, &out};
  CU(cuLaunchKernel(f, 1, 1, 1, 16, 1, 1, 0, nullptr, args, nullptr));
  CU(cuMemcpyDtoH(got, out, sizeof got));
  for (int i = 0; i < 16; i++) CHECK(got[i] == h[2 * i] * 1000 + h[2 * i + 1]);
  CU(cuTexObjectDestroy(t));
}

static void surfaces(CUfunction f)
{
  CUDA_ARRAY3D_DESCRIPTOR d = {}, was;
  CUarray a;
  int h[width * height], got[width * height];
  d.Width = width;
  d.Height = height;
  d.Format = CU_AD_FORMAT_SIGNED_INT32;
  d.NumChannels = 1;
  d.Flags = CUDA_ARRAY3D_SURFACE_LDST;
  CU(cuArray3DCreate(&a, &d));
  CU(cuArray3DGetDescriptor(&was, a));
  CHECK(was.Flags == d.Flags && was.Depth == 0 && was.Format == d.Format);
  for (int i = 0; i < width * height; i++) h[i] = i * i;
  CU(cuMemcpyHtoA(a, 0, h, sizeof h));
  CUDA_RESOURCE_DESC resource = {};
  CUsurfObject s;
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = a;
  CU(cuSurfObjectCreate(&s, &resource));
  int w = width, n = height;
  void *args[] = {&s, &w, &n};
  CU(cuLaunchKernel(f, 1, 1, 1, width, height, 1, 0, nullptr, args, nullptr));
  CU(cuMemcpyAtoH(got, a, 0, sizeof got));
  for (int i = 0; i < width * height; i++) CHECK(got[i] == h[width * height - 1 - i]);
  CU(cuSurfObjectDestroy(s));
  CU(cuArrayDestroy(a));
  CHECK(cuArrayDestroy(a) == CUDA_ERROR_INVALID_HANDLE);
  d.NumChannels = 3;
  CHECK(cuArray3DCreate(&a, &d) == CUDA_ERROR_INVALID_VALUE);
}

int main()
{
  CUfunction f;
  CUarray a;
  CUDA_ARRAY_DESCRIPTOR d = {};
  CUdeviceptr out;
  static float h[width * height];
  for (int i = 0; i < width * height; i++) h[i] = 0.25f * i;
  CUDA(cudaFree(nullptr)); // the runtime's context, which its functions belong to
  d.Width = width;
  d.Height = height;
  d.Format = CU_AD_FORMAT_FLOAT;
  d.NumChannels = 1;
  CU(cuArrayCreate(&a, &d));
  CU(cuMemAlloc(&out, sizeof h));
  arrays(a, h);
  CUDA(cudaGetFuncBySymbol(&f, (const void *)sample));
  textures(f, a, h, out);
  CUDA(cudaGetFuncBySymbol(&f, (const void *)fetch));
  linear(f, out);
  CUDA(cudaGetFuncBySymbol(&f, (const void *)turn));
  surfaces(f);
  CU(cuArrayDestroy(a));
}
