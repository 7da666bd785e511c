// Tensor maps: which arguments the driver takes, and that tensormap.replace finds the fields where the driver's
// encoding has them.
#include "driver_check.h"
#include <cuda_runtime.h>
#include <cstring>

// A valid request; a test spoils one argument of a copy.
struct Tiled {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  unsigned rank = 3;
  uint64_t address = 0x10000;
  cuuint64_t dim[5] = {64, 32, 16, 8, 4}, stride[4] = {256, 8192, 131072, 1048576};
  cuuint32_t box[5] = {16, 8, 4, 2, 1}, step[5] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion l2 = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult encode(CUtensorMap *map) const
  {
    return cuTensorMapEncodeTiled(map, type, rank, (void *)address, dim, stride, box, step, interleave, swizzle, l2,
                                  fill);
  }
  CUtensorMap map() const
  {
    CUtensorMap m;
    CU(encode(&m));
    return m;
  }
};

template <typename F> static CUresult tiled(F spoil)
{
  CUtensorMap map;
  Tiled t;
  spoil(t);
  return t.encode(&map);
}

#define GOOD(...) CHECK(tiled([](Tiled &t) { __VA_ARGS__; }) == CUDA_SUCCESS)
#define BAD(...)  CHECK(tiled([](Tiled &t) { __VA_ARGS__; }) == CUDA_ERROR_INVALID_VALUE)

static void tiled_rules()
{
  GOOD();
  CUtensorMap two[2];
  Tiled t;
  CHECK(t.encode((CUtensorMap *)((char *)two + 16)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(t.encode((CUtensorMap *)((char *)two + 64)) == CUDA_SUCCESS);
  CHECK(t.encode(nullptr) == CUDA_ERROR_INVALID_VALUE);
  BAD(t.type = (CUtensorMapDataType)16);
  BAD(t.rank = 0); BAD(t.rank = 6);
  GOOD(t.rank = 1); GOOD(t.rank = 5);
  BAD(t.address += 8);
  BAD(t.dim[2] = 0); BAD(t.dim[0] = (1ull << 32) + 1);
  GOOD(t.dim[0] = 1ull << 32);
  BAD(t.stride[1] += 8); BAD(t.stride[1] = 1ull << 40);
  GOOD(t.stride[1] = (1ull << 40) - 16);
  BAD(t.box[1] = 0); BAD(t.box[1] = 257);
  GOOD(t.box[1] = 256);
  BAD(t.box[0] = 2);                 // 8 bytes
  BAD(t.step[1] = 0); BAD(t.step[1] = 9);
  GOOD(t.step[0] = 9, t.step[1] = 8); // that of dimension 0 is not looked at
  BAD(t.fill = (CUtensorMapFloatOOBfill)2); BAD(t.l2 = (CUtensorMapL2promotion)4);
  BAD(t.swizzle = (CUtensorMapSwizzle)7); BAD(t.interleave = (CUtensorMapInterleave)3);
  GOOD(t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  BAD(t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA, t.type = CU_TENSOR_MAP_DATA_TYPE_INT32);
}

static void swizzle_rules()
{
  GOOD(t.swizzle = CU_TENSOR_MAP_SWIZZLE_64B); // 16 floats
  BAD(t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B);
  GOOD(t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B, t.box[0] = 8);
  GOOD(t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B, t.box[0] = 32);
  BAD(t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B, t.box[0] = 64);
  BAD(t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B, t.box[0] = 64);
  BAD(t.interleave = CU_TENSOR_MAP_INTERLEAVE_16B, t.rank = 2);
  GOOD(t.interleave = CU_TENSOR_MAP_INTERLEAVE_16B, t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B);
  BAD(t.interleave = CU_TENSOR_MAP_INTERLEAVE_16B, t.step[0] = 9);
  BAD(t.interleave = CU_TENSOR_MAP_INTERLEAVE_32B);
  GOOD(t.interleave = CU_TENSOR_MAP_INTERLEAVE_32B, t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B);
  BAD(t.interleave = CU_TENSOR_MAP_INTERLEAVE_32B, t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B, t.address += 16);
  BAD(t.interleave = CU_TENSOR_MAP_INTERLEAVE_32B, t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B, t.stride[0] += 16);
}

static void packed_rules()
{
  GOOD(t.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, t.box[0] = 32);
  BAD(t.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, t.box[0] = 16); // 8 bytes
  BAD(t.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, t.box[0] = 32, t.dim[0] = 63);
  GOOD(t.type = CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, t.box[0] = 128, t.dim[0] = 256);
  BAD(t.type = CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, t.box[0] = 64, t.dim[0] = 256);
  BAD(t.type = CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, t.box[0] = 128, t.dim[0] = 64);
  BAD(t.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, t.box[0] = 128, t.dim[0] = 256, t.address += 16);
  BAD(t.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, t.box[0] = 128, t.dim[0] = 256,
      t.swizzle = CU_TENSOR_MAP_SWIZZLE_64B);
  BAD(t.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, t.box[0] = 128, t.dim[0] = 256,
      t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
}

static CUresult im2col(unsigned rank, int lower, int upper, unsigned channels, unsigned pixels, CUtensorMap *out = 0)
{
  CUtensorMap map;
  Tiled t;
  int lo[3] = {lower, lower, lower}, up[3] = {upper, upper, upper};
  CUresult r = cuTensorMapEncodeIm2col(&map, t.type, rank, (void *)t.address, t.dim, t.stride, lo, up, channels,
                                       pixels, t.step, t.interleave, t.swizzle, t.l2, t.fill);
  if (out) *out = map;
  return r;
}

static void im2col_rules()
{
  CHECK(im2col(4, -1, -1, 16, 64) == CUDA_SUCCESS);
  CHECK(im2col(2, -1, -1, 16, 64) == CUDA_ERROR_INVALID_VALUE);
  CHECK(im2col(6, -1, -1, 16, 64) == CUDA_ERROR_INVALID_VALUE);
  CHECK(im2col(3, -32768, 32767, 16, 64) == CUDA_SUCCESS);
  CHECK(im2col(3, -32769, 0, 16, 64) == CUDA_ERROR_INVALID_VALUE);
  CHECK(im2col(4, -128, 127, 16, 64) == CUDA_SUCCESS);
  CHECK(im2col(4, -129, 0, 16, 64) == CUDA_ERROR_INVALID_VALUE);
  CHECK(im2col(4, 0, 128, 16, 64) == CUDA_ERROR_INVALID_VALUE);
  CHECK(im2col(5, -16, 15, 16, 64) == CUDA_SUCCESS);
  CHECK(im2col(5, -17, 0, 16, 64) == CUDA_ERROR_INVALID_VALUE);
  CHECK(im2col(4, 8, -8, 16, 64) == CUDA_ERROR_INVALID_VALUE); // no element left along H
  CHECK(im2col(4, -1, -1, 257, 64) == CUDA_ERROR_INVALID_VALUE);
  CHECK(im2col(4, -1, -1, 16, 1024) == CUDA_SUCCESS);
  CHECK(im2col(4, -1, -1, 16, 1025) == CUDA_ERROR_INVALID_VALUE);
}

static void addresses()
{
  Tiled a, b;
  b.address = 0x7fff00000040;
  CUtensorMap one = a.map(), other = b.map();
  CHECK(memcmp(&one, &other, sizeof one));
  CHECK(cuTensorMapReplaceAddress(&one, (void *)(b.address + 8)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuTensorMapReplaceAddress(nullptr, (void *)b.address) == CUDA_ERROR_INVALID_VALUE);
  CU(cuTensorMapReplaceAddress(&one, (void *)b.address));
  CHECK(!memcmp(&one, &other, sizeof one));
}

// Every field that PTX can replace, set from the request beside it.
struct Fields {
  uint64_t address;
  uint64_t stride[4];
  unsigned dim[5], box[5], step[5];
};

#define REPLACE(field, index, value)                                                                             \
  asm volatile("tensormap.replace.tile." field ".global.b1024.b32 [%0], " index "%1;" ::"l"(map), "r"(value))
#define REPLACE64(field, index, value)                                                                           \
  asm volatile("tensormap.replace.tile." field ".global.b1024.b64 [%0], " index "%1;" ::"l"(map), "l"(value))
#define REPLACE_CODE(field, value)                                                                               \
  asm volatile("tensormap.replace.tile." field ".global.b1024.b32 [%0], " #value ";" ::"l"(map))
#define EACH(field, v)                                                                                           \
  REPLACE(field, "0, ", v[0]);                                                                                   \
  REPLACE(field, "1, ", v[1]);                                                                                   \
  REPLACE(field, "2, ", v[2]);                                                                                   \
  REPLACE(field, "3, ", v[3]);                                                                                   \
  REPLACE(field, "4, ", v[4])

__global__ void replace(CUtensorMap *generic, Fields f)
{
  uint64_t map = __cvta_generic_to_global(generic);
  REPLACE64("global_address", "", f.address);
  REPLACE("rank", "", 4);
  EACH("global_dim", f.dim);
  EACH("box_dim", f.box);
  EACH("element_stride", f.step);
  REPLACE64("global_stride", "0, ", f.stride[0]); REPLACE64("global_stride", "1, ", f.stride[1]);
  REPLACE64("global_stride", "2, ", f.stride[2]); REPLACE64("global_stride", "3, ", f.stride[3]);
  REPLACE_CODE("elemtype", 10); // .bf16
  REPLACE_CODE("interleave_layout", 1);
  REPLACE_CODE("swizzle_mode", 3);
  REPLACE_CODE("fill_mode", 1);
}

static void device_fields()
{
  Tiled t, before;
  t.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  t.rank = 5;
  t.address = 0x123456789ab0;
  t.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
  t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  Fields f = {t.address};
  for (int i = 0; i < 5; i++) {
    t.dim[i] = (1ull << 32) - i, t.box[i] = 256 - 3 * i, t.step[i] = 1 + (2 * i + 3) % 8;
    if (i) t.stride[i - 1] = (1ull << 40) - 16 - 0x1234567890 * i / 16 * 16;
    f.dim[i] = (unsigned)t.dim[i], f.box[i] = t.box[i], f.step[i] = t.step[i];
    if (i) f.stride[i - 1] = t.stride[i - 1];
  }
  CUtensorMap want = t.map(), have = before.map(), *map;
  CUDA(cudaMalloc(&map, sizeof *map));
  CUDA(cudaMemcpy(map, &have, sizeof have, cudaMemcpyHostToDevice));
  replace<<<1, 1>>>(map, f);
  CUDA(cudaMemcpy(&have, map, sizeof have, cudaMemcpyDeviceToHost));
  CHECK(!memcmp(&have, &want, sizeof have));
  CUDA(cudaFree(map));
}

static void entry_points()
{
  void *p = nullptr;
  cudaDriverEntryPointQueryResult found;
  CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &p, 12000, cudaEnableDefault, &found));
  CHECK(found == cudaDriverEntryPointSuccess && p == (void *)cuTensorMapEncodeTiled);
  CU(cuGetProcAddress("cuTensorMapEncodeIm2col", &p, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  CHECK(p == (void *)cuTensorMapEncodeIm2col);
  int yes = 0;
  CU(cuDeviceGetAttribute(&yes, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0));
  CHECK(yes == 1);
}

int main()
{
  CUDA(cudaFree(0));
  entry_points();
  tiled_rules();
  swizzle_rules();
  packed_rules();
  im2col_rules();
  addresses();
  device_fields();
  printf("all tensor maps right\n");
}
