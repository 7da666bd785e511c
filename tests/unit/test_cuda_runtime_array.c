/* Arrays, mipmaps, texture and surface objects of the runtime, and what programs of several GPUs call in both interfaces. Expected
 * values: CUDA Runtime API and CUDA Driver API references. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda_rig.h"

cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, int);
CUresult cudaMallocArray(CUarray *, const cudaChannelFormatDesc *, size_t, size_t, unsigned);
CUresult cudaMalloc3DArray(CUarray *, const cudaChannelFormatDesc *, cudaExtent, unsigned);
CUresult cudaFreeArray(CUarray);
CUresult cudaMallocMipmappedArray(CUmipmappedArray *, const cudaChannelFormatDesc *, cudaExtent, unsigned, unsigned);
CUresult cudaFreeMipmappedArray(CUmipmappedArray);
CUresult cudaGetMipmappedArrayLevel(CUarray *, CUmipmappedArray, unsigned);
CUresult cudaArrayGetInfo(cudaChannelFormatDesc *, cudaExtent *, unsigned *, CUarray);
CUresult cudaGetChannelDesc(cudaChannelFormatDesc *, CUarray);
CUresult cudaMemcpy2DToArray(CUarray, size_t, size_t, const void *, size_t, size_t, size_t, int);
CUresult cudaMemcpy2DToArrayAsync(CUarray, size_t, size_t, const void *, size_t, size_t, size_t, int, CUstream);
CUresult cudaMemcpy2DFromArray(void *, size_t, CUarray, size_t, size_t, size_t, size_t, int);
CUresult cudaMemcpy2DFromArrayAsync(void *, size_t, CUarray, size_t, size_t, size_t, size_t, int, CUstream);
CUresult cudaMemcpy2DArrayToArray(CUarray, size_t, size_t, CUarray, size_t, size_t, size_t, size_t, int);
CUresult cudaMemcpyToArray(CUarray, size_t, size_t, const void *, size_t, int);
CUresult cudaMemcpyToArrayAsync(CUarray, size_t, size_t, const void *, size_t, int, CUstream);
CUresult cudaMemcpyFromArray(void *, CUarray, size_t, size_t, size_t, int);
CUresult cudaMemcpyFromArrayAsync(void *, CUarray, size_t, size_t, size_t, int, CUstream);
CUresult cudaMemcpy3D(const cudaMemcpy3DParms *);
CUresult cudaCreateTextureObject(unsigned long long *, const cudaResourceDesc *, const cudaTextureDesc *,
                                 const CUDA_RESOURCE_VIEW_DESC *);
CUresult cudaDestroyTextureObject(unsigned long long);
CUresult cudaGetTextureObjectResourceDesc(cudaResourceDesc *, unsigned long long);
CUresult cudaGetTextureObjectTextureDesc(cudaTextureDesc *, unsigned long long);
CUresult cudaGetTextureObjectResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *, unsigned long long);
CUresult cudaCreateSurfaceObject(unsigned long long *, const cudaResourceDesc *);
CUresult cudaDestroySurfaceObject(unsigned long long);
CUresult cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *, unsigned long long);
CUresult cudaMalloc(void **, size_t);
CUresult cudaFree(void *);
CUresult cudaMemset(void *, int, size_t);
CUresult cudaMemcpy(void *, const void *, size_t, int);
CUresult cudaStreamCreate(CUstream *);
CUresult cudaStreamDestroy(CUstream);
CUresult cudaStreamSynchronize(CUstream);
CUresult cudaDeviceCanAccessPeer(int *, int, int);
CUresult cudaDeviceEnablePeerAccess(int, unsigned);
CUresult cudaDeviceDisablePeerAccess(int);
CUresult cudaMemcpyPeer(void *, int, const void *, int, size_t);
CUresult cudaMemcpyPeerAsync(void *, int, const void *, int, size_t, CUstream);
CUresult cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *);
CUresult cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *, CUstream);
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned);
CUresult cuCtxDisablePeerAccess(CUcontext);
CUresult cuMemcpyPeer(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t);
CUresult cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream);
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D *);
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D *, CUstream);

/* cudaChannelFormatKind, cudaArray flags */
enum { SIGNED, UNSIGNED, FLOAT };
enum { LAYERED = 1, SURFACE = 2, CUBE = 4 };

#define INVALID(call) assert_int_equal(call, CUDA_ERROR_INVALID_VALUE)

/* Every row holds other bytes. */
static void pattern(uint8_t *p, unsigned n, unsigned seed)
{
  for (unsigned i = 0; i < n; i++) p[i] = (uint8_t)(7 * i + i / 13 + seed);
}

/* Channels x, x y or x y z w of one size: 8, 16 or 32 bits; floats have 16 or 32. */
static void formats(void **state)
{
  static const struct {
    int x, y, z, w, kind;
    CUresult want;
  } of[] = {
      {8, 0, 0, 0, SIGNED, CUDA_SUCCESS},    {8, 8, 0, 0, UNSIGNED, CUDA_SUCCESS}, {8, 8, 8, 8, UNSIGNED, CUDA_SUCCESS},
      {16, 0, 0, 0, SIGNED, CUDA_SUCCESS},   {16, 16, 0, 0, FLOAT, CUDA_SUCCESS},  {16, 16, 16, 16, FLOAT, CUDA_SUCCESS},
      {32, 0, 0, 0, UNSIGNED, CUDA_SUCCESS}, {32, 32, 0, 0, SIGNED, CUDA_SUCCESS}, {32, 32, 32, 32, FLOAT, CUDA_SUCCESS},
      {8, 0, 0, 0, FLOAT, cudaErrorInvalidChannelDescriptor},      {8, 8, 8, 0, UNSIGNED, cudaErrorInvalidChannelDescriptor},
      {8, 16, 0, 0, UNSIGNED, cudaErrorInvalidChannelDescriptor},  {0, 8, 0, 0, UNSIGNED, cudaErrorInvalidChannelDescriptor},
      {64, 0, 0, 0, UNSIGNED, cudaErrorInvalidChannelDescriptor},  {32, 0, 32, 0, SIGNED, cudaErrorInvalidChannelDescriptor},
      {32, 0, 0, 0, -1, cudaErrorInvalidChannelDescriptor},        {32, 0, 0, 0, 3, cudaErrorInvalidChannelDescriptor},
      {0, 0, 0, 0, SIGNED, cudaErrorInvalidChannelDescriptor},
  };
  CUarray a;
  (void)state;
  for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++) {
    cudaChannelFormatDesc d = cudaCreateChannelDesc(of[i].x, of[i].y, of[i].z, of[i].w, of[i].kind), got;
    CUresult r = cudaMallocArray(&a, &d, 4, 4, 0);
    if (r != of[i].want) fail_msg("format %u: %d", i, (int)r);
    if (r) continue;
    OK(cudaGetChannelDesc(&got, a));
    assert_memory_equal(&got, &d, sizeof d);
    OK(cudaFreeArray(a));
  }
  INVALID(cudaMallocArray(&a, NULL, 4, 4, 0));
}

static void arrays(void **state)
{
  const cudaChannelFormatDesc word = {32, 0, 0, 0, SIGNED}, pair = {16, 16, 0, 0, UNSIGNED};
  cudaChannelFormatDesc d;
  cudaExtent e;
  unsigned flags;
  CUarray a, b;
  (void)state;
  OK(cudaMallocArray(&a, &word, 20, 6, SURFACE));
  OK(cudaArrayGetInfo(&d, &e, &flags, a));
  assert_memory_equal(&d, &word, sizeof d);
  assert_true(e.width == 20 && e.height == 6 && e.depth == 0 && flags == SURFACE);
  OK(cudaArrayGetInfo(NULL, NULL, NULL, a));
  OK(cudaMalloc3DArray(&b, &pair, (cudaExtent){8, 4, 3}, LAYERED));
  OK(cudaArrayGetInfo(&d, &e, &flags, b));
  assert_memory_equal(&d, &pair, sizeof d);
  assert_true(e.width == 8 && e.height == 4 && e.depth == 3 && flags == LAYERED);
  INVALID(cudaGetChannelDesc(NULL, a));
  INVALID(cudaMallocArray(NULL, &word, 20, 6, 0));
  INVALID(cudaMallocArray(&b, &word, 0, 6, 0));
  OK(cudaFreeArray(NULL));
  OK(cudaFreeArray(a));
  assert_int_equal(cudaFreeArray(a), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cudaArrayGetInfo(&d, &e, &flags, a), CUDA_ERROR_INVALID_HANDLE);
  OK(cudaFreeArray(b));
}

static void mipmaps(void **state)
{
  static const size_t want[][2] = {{12, 5}, {6, 2}, {3, 1}, {1, 1}};
  const cudaChannelFormatDesc byte = {8, 0, 0, 0, UNSIGNED};
  CUmipmappedArray m;
  CUarray level;
  cudaExtent e;
  (void)state;
  OK(cudaMallocMipmappedArray(&m, &byte, (cudaExtent){12, 5, 0}, 4, 0));
  for (unsigned i = 0; i < 4; i++) {
    OK(cudaGetMipmappedArrayLevel(&level, m, i));
    OK(cudaArrayGetInfo(NULL, &e, NULL, level));
    assert_true(e.width == want[i][0] && e.height == want[i][1] && e.depth == 0);
  }
  INVALID(cudaGetMipmappedArrayLevel(&level, m, 4));
  INVALID(cudaGetMipmappedArrayLevel(NULL, m, 0));
  OK(cudaFreeMipmappedArray(m));
  assert_int_equal(cudaFreeMipmappedArray(m), CUDA_ERROR_INVALID_HANDLE);
  OK(cudaFreeMipmappedArray(NULL));
  INVALID(cudaMallocMipmappedArray(&m, &byte, (cudaExtent){12, 5, 0}, 0, 0));
  INVALID(cudaMallocMipmappedArray(NULL, &byte, (cudaExtent){12, 5, 0}, 4, 0));
  INVALID(cudaMallocMipmappedArray(&m, NULL, (cudaExtent){12, 5, 0}, 4, 0));
}

/* Rows of 16 bytes, 5 of them. */
static void rectangles(void **state)
{
  const cudaChannelFormatDesc word = {32, 0, 0, 0, SIGNED};
  uint8_t in[160], out[160];
  CUarray a, b;
  CUstream s;
  void *p;
  (void)state;
  pattern(in, sizeof in, 1);
  OK(cudaStreamCreate(&s));
  OK(cudaMallocArray(&a, &word, 4, 5, 0));
  OK(cudaMallocArray(&b, &word, 4, 5, 0));
  OK(cudaMemcpy2DToArray(a, 0, 0, in, 16, 16, 5, COPY_HOST_TO_DEVICE));
  OK(cudaMemcpy2DToArrayAsync(a, 4, 2, in + 100, 20, 8, 3, COPY_DEFAULT, s)); /* bytes 4 to 11 of rows 2 to 4 */
  OK(cudaStreamSynchronize(s));
  OK(cudaMemcpy2DFromArray(out, 32, a, 0, 0, 16, 5, COPY_DEVICE_TO_HOST));
  for (unsigned y = 0; y < 5; y++)
    for (unsigned x = 0; x < 16; x++)
      assert_int_equal(out[32 * y + x], y >= 2 && x >= 4 && x < 12 ? in[100 + 20 * (y - 2) + x - 4] : in[16 * y + x]);
  OK(cudaMalloc(&p, 160));
  OK(cudaMemcpy2DFromArrayAsync(p, 8, a, 8, 1, 8, 4, COPY_DEVICE_TO_DEVICE, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaMemcpy(out, p, 32, COPY_DEVICE_TO_HOST));
  assert_memory_equal(out, in + 16 + 8, 8); /* row 1 is as it was */
  assert_memory_equal(out + 8, in + 104, 4);
  assert_memory_equal(out + 12, in + 32 + 12, 4);
  OK(cudaMemcpy2DArrayToArray(b, 4, 1, a, 0, 0, 12, 4, COPY_DEVICE_TO_DEVICE));
  OK(cudaMemcpy2DFromArray(out, 12, b, 4, 1, 12, 2, COPY_DEFAULT));
  assert_memory_equal(out, in, 12);
  assert_memory_equal(out + 12, in + 16, 12);
  INVALID(cudaMemcpy2DToArray(a, 1, 0, in, 16, 16, 5, COPY_HOST_TO_DEVICE)); /* past the end of a row */
  INVALID(cudaMemcpy2DToArray(a, 0, 1, in, 16, 16, 5, COPY_HOST_TO_DEVICE)); /* past the last row */
  INVALID(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 3, 4, 3, COPY_DEVICE_TO_DEVICE));
  INVALID(cudaMemcpy2DArrayToArray(b, 0, 3, a, 0, 0, 4, 3, COPY_DEVICE_TO_DEVICE));
  assert_int_equal(cudaMemcpy2DToArray(a, 0, 0, in, 15, 16, 5, COPY_HOST_TO_DEVICE), cudaErrorInvalidPitchValue);
  OK(cudaMemcpy2DToArray(a, 0, 0, in, 0, 16, 1, COPY_HOST_TO_DEVICE)); /* one row needs no pitch */
  assert_int_equal(cudaMemcpy2DToArray(a, 0, 0, in, 16, 16, 5, 5), cudaErrorInvalidMemcpyDirection);
  assert_int_equal(cudaMemcpy2DToArray(a, 0, 0, in, 16, 16, 5, -1), cudaErrorInvalidMemcpyDirection);
  CUarray none = (CUarray)(void *)in;
  assert_int_equal(cudaMemcpy2DToArray(none, 0, 0, in, 16, 16, 5, COPY_DEFAULT), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cudaMemcpy2DFromArray(out, 16, none, 0, 0, 16, 5, COPY_DEFAULT), CUDA_ERROR_INVALID_HANDLE);
  OK(cudaStreamDestroy(s));
  assert_int_equal(cudaMemcpy2DToArrayAsync(a, 0, 0, in, 16, 16, 5, COPY_DEFAULT, s), CUDA_ERROR_INVALID_HANDLE);
  OK(cudaFree(p));
  OK(cudaFreeArray(a));
  OK(cudaFreeArray(b));
}

/* From a byte of a row on, over the ends of rows. */
static void bytes_of_arrays(void **state)
{
  const cudaChannelFormatDesc byte = {8, 0, 0, 0, UNSIGNED};
  uint8_t in[64], out[64];
  CUarray a;
  CUstream s;
  (void)state;
  pattern(in, sizeof in, 9);
  OK(cudaStreamCreate(&s));
  OK(cudaMallocArray(&a, &byte, 16, 4, 0));
  OK(cudaMemcpyToArray(a, 0, 0, in, 64, COPY_HOST_TO_DEVICE));
  OK(cudaMemcpyFromArray(out, a, 5, 1, 30, COPY_DEVICE_TO_HOST));
  assert_memory_equal(out, in + 21, 30);
  OK(cudaMemcpyToArrayAsync(a, 3, 2, in, 20, COPY_DEFAULT, s));
  OK(cudaMemcpyFromArrayAsync(out, a, 0, 0, 64, COPY_DEFAULT, s));
  OK(cudaStreamSynchronize(s));
  assert_memory_equal(out, in, 35);
  assert_memory_equal(out + 35, in, 20);
  assert_memory_equal(out + 55, in + 55, 9);
  INVALID(cudaMemcpyToArray(a, 0, 1, in, 49, COPY_HOST_TO_DEVICE));
  OK(cudaMemcpyToArray(a, 0, 1, in, 48, COPY_HOST_TO_DEVICE));
  INVALID(cudaMemcpyFromArray(out, a, 1, 4, 1, COPY_DEVICE_TO_HOST));
  INVALID(cudaMemcpyFromArray(out, a, 0, (size_t)1 << 60, 1, COPY_DEVICE_TO_HOST)); /* times 16 bytes: 64 bits are not enough */
  INVALID(cudaMemcpyFromArray(out, a, SIZE_MAX - 15, 1, 1, COPY_DEVICE_TO_HOST));
  assert_int_equal(cudaMemcpyFromArray(out, a, 0, 0, 4, 9), cudaErrorInvalidMemcpyDirection);
  assert_int_equal(cudaMemcpyFromArray(out, (CUarray)(void *)in, 0, 0, 4, COPY_DEFAULT), CUDA_ERROR_INVALID_HANDLE);
  OK(cudaStreamDestroy(s));
  OK(cudaFreeArray(a));
}

/* cudaMemcpy3D: positions and widths count texels as soon as an array takes part. */
static void boxes(void **state)
{
  const cudaChannelFormatDesc pair = {16, 16, 0, 0, UNSIGNED};
  uint8_t in[4 * 4 * 3 * 2], out[sizeof in];
  CUarray a;
  (void)state;
  pattern(in, sizeof in, 4);
  OK(cudaMalloc3DArray(&a, &pair, (cudaExtent){4, 3, 2}, 0));
  cudaMemcpy3DParms c = {.src = {in, 16, 16, 3}, .dst_array = a, .extent = {4, 3, 2}, .kind = COPY_HOST_TO_DEVICE};
  OK(cudaMemcpy3D(&c));
  c = (cudaMemcpy3DParms){.src_array = a, .src_pos = {1, 1, 1}, .dst = {out, 8, 8, 2}, .extent = {2, 2, 1},
                          .kind = COPY_DEVICE_TO_HOST};
  OK(cudaMemcpy3D(&c));
  assert_memory_equal(out, in + 48 + 16 + 4, 8);
  assert_memory_equal(out + 8, in + 48 + 32 + 4, 8);
  c.extent.width = 4;
  INVALID(cudaMemcpy3D(&c));
  c.extent.width = 2, c.kind = COPY_HOST_TO_DEVICE;
  assert_int_equal(cudaMemcpy3D(&c), cudaErrorInvalidMemcpyDirection);
  INVALID(cudaMemcpy3D(NULL));
  OK(cudaFreeArray(a));
}

static void textures(void **state)
{
  const cudaChannelFormatDesc f = {32, 0, 0, 0, FLOAT}, byte = {8, 0, 0, 0, UNSIGNED};
  cudaResourceDesc r = {.type = RESOURCE_ARRAY}, got;
  cudaTextureDesc t = {.address = {1, 2, 3}, .filter = 1, .normalized = 1, .mip_bias = 0.5f}, got_t;
  CUDA_RESOURCE_VIEW_DESC v = {.format = 0x16 /* one float */, .width = 16, .height = 8}, got_v;
  unsigned long long tex;
  void *p;
  (void)state;
  OK(cudaMallocArray(&r.array, &f, 16, 8, 0));
  OK(cudaCreateTextureObject(&tex, &r, &t, NULL));
  OK(cudaGetTextureObjectResourceDesc(&got, tex));
  assert_true(got.type == RESOURCE_ARRAY && got.array == r.array);
  OK(cudaGetTextureObjectTextureDesc(&got_t, tex));
  assert_memory_equal(&got_t, &t, sizeof t);
  INVALID(cudaGetTextureObjectResourceViewDesc(&got_v, tex)); /* it has none */
  INVALID(cudaGetTextureObjectResourceDesc(NULL, tex));
  INVALID(cudaGetTextureObjectTextureDesc(NULL, tex));
  INVALID(cudaGetSurfaceObjectResourceDesc(&got, tex));
  OK(cudaDestroyTextureObject(tex));
  INVALID(cudaDestroyTextureObject(tex));
  INVALID(cudaGetTextureObjectResourceDesc(&got, tex));
  INVALID(cudaGetTextureObjectTextureDesc(&got_t, tex));
  OK(cudaDestroyTextureObject(0));
  OK(cudaCreateTextureObject(&tex, &r, &t, &v));
  OK(cudaGetTextureObjectResourceViewDesc(&got_v, tex));
  assert_memory_equal(&got_v, &v, sizeof v);
  INVALID(cudaGetTextureObjectResourceViewDesc(NULL, tex));
  OK(cudaDestroyTextureObject(tex));
  v.width = 8;
  INVALID(cudaCreateTextureObject(&tex, &r, &t, &v));
  INVALID(cudaCreateTextureObject(NULL, &r, &t, NULL));
  INVALID(cudaCreateTextureObject(&tex, NULL, &t, NULL));
  INVALID(cudaCreateTextureObject(&tex, &r, NULL, NULL));
  for (int i = 0; i < 3; i++) { /* cudaTextureAddressMode: 0 to 3 */
    cudaTextureDesc bad = t;
    bad.address[i] = 4;
    INVALID(cudaCreateTextureObject(&tex, &r, &bad, NULL));
    bad.address[i] = -1;
    INVALID(cudaCreateTextureObject(&tex, &r, &bad, NULL));
  }
  OK(cudaFreeArray(r.array));
  assert_int_equal(cudaCreateTextureObject(&tex, &r, &t, NULL), CUDA_ERROR_INVALID_HANDLE);
  r.type = 4;
  INVALID(cudaCreateTextureObject(&tex, &r, &t, NULL));
  r.type = RESOURCE_MIPMAP;
  OK(cudaMallocMipmappedArray(&r.mipmap, &f, (cudaExtent){16, 8, 0}, 3, 0));
  OK(cudaCreateTextureObject(&tex, &r, &t, NULL));
  OK(cudaDestroyTextureObject(tex));
  OK(cudaFreeMipmappedArray(r.mipmap));
  assert_int_equal(cudaCreateTextureObject(&tex, &r, &t, NULL), CUDA_ERROR_INVALID_HANDLE);
  OK(cudaMalloc(&p, 4096));
  r = (cudaResourceDesc){.type = RESOURCE_LINEAR};
  r.memory.p = p, r.memory.desc = byte, r.memory.width_or_bytes = 4096;
  OK(cudaCreateTextureObject(&tex, &r, &t, NULL));
  OK(cudaDestroyTextureObject(tex));
  r.type = RESOURCE_PITCHED, r.memory.width_or_bytes = 64, r.memory.height = 8, r.memory.pitch = 512;
  INVALID(cudaCreateTextureObject(&tex, &r, &t, NULL)); /* filtered, so texels must be read as floats */
  t.read_normalized = 1;
  OK(cudaCreateTextureObject(&tex, &r, &t, NULL));
  OK(cudaDestroyTextureObject(tex));
  r.memory.desc.x = 9;
  assert_int_equal(cudaCreateTextureObject(&tex, &r, &t, NULL), cudaErrorInvalidChannelDescriptor);
  r.memory.desc = byte, r.memory.p = &r; /* memory of the host that is not registered */
  INVALID(cudaCreateTextureObject(&tex, &r, &t, NULL));
  OK(cudaFree(p));
}

static void surfaces(void **state)
{
  const cudaChannelFormatDesc word = {32, 0, 0, 0, SIGNED};
  cudaResourceDesc r = {.type = RESOURCE_ARRAY}, got;
  unsigned long long surf;
  (void)state;
  OK(cudaMallocArray(&r.array, &word, 16, 8, SURFACE));
  OK(cudaCreateSurfaceObject(&surf, &r));
  OK(cudaGetSurfaceObjectResourceDesc(&got, surf));
  assert_ptr_equal(got.array, r.array);
  INVALID(cudaGetTextureObjectResourceDesc(&got, surf));
  OK(cudaDestroySurfaceObject(surf));
  INVALID(cudaDestroySurfaceObject(surf));
  INVALID(cudaGetSurfaceObjectResourceDesc(&got, surf));
  INVALID(cudaCreateSurfaceObject(NULL, &r));
  INVALID(cudaCreateSurfaceObject(&surf, NULL));
  r.type = RESOURCE_LINEAR;
  INVALID(cudaCreateSurfaceObject(&surf, &r));
  r.type = RESOURCE_ARRAY;
  OK(cudaFreeArray(r.array));
  assert_int_equal(cudaCreateSurfaceObject(&surf, &r), CUDA_ERROR_INVALID_HANDLE);
  OK(cudaMallocArray(&r.array, &word, 16, 8, 0)); /* without cudaArraySurfaceLoadStore */
  INVALID(cudaCreateSurfaceObject(&surf, &r));
  OK(cudaFreeArray(r.array));
}

/* One GPU: no peer can be reached, and copies between devices are copies inside of it. */
static void peers_of_runtime(void **state)
{
  uint8_t in[32], out[32];
  void *a, *b;
  int can = 1;
  CUstream s;
  (void)state;
  pattern(in, sizeof in, 3);
  OK(cudaStreamCreate(&s));
  OK(cudaDeviceCanAccessPeer(&can, 0, 0));
  assert_int_equal(can, 0);
  assert_int_equal(cudaDeviceCanAccessPeer(&can, 0, 1), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cudaDeviceEnablePeerAccess(0, 0), CUDA_ERROR_INVALID_DEVICE);
  INVALID(cudaDeviceEnablePeerAccess(0, 1));
  assert_int_equal(cudaDeviceDisablePeerAccess(0), CUDA_ERROR_INVALID_DEVICE);
  OK(cudaMalloc(&a, 32));
  OK(cudaMalloc(&b, 32));
  OK(cudaMemcpy(a, in, 32, COPY_HOST_TO_DEVICE));
  OK(cudaMemset(b, 0, 32));
  OK(cudaMemcpyPeer(b, 0, a, 0, 20));
  OK(cudaMemcpyPeerAsync((char *)b + 20, 0, a, 0, 12, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaMemcpy(out, b, 32, COPY_DEVICE_TO_HOST));
  assert_memory_equal(out, in, 20);
  assert_memory_equal(out + 20, in, 12);
  assert_int_equal(cudaMemcpyPeer(b, 1, a, 0, 20), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cudaMemcpyPeer(b, 0, a, 1, 20), CUDA_ERROR_INVALID_DEVICE);
  INVALID(cudaMemcpyPeer(b, 0, a, 0, 33));
  cudaMemcpy3DPeerParms p = {.src = {a, 8, 8, 2}, .src_pos = {4, 1, 0}, .dst = {b, 16, 16, 1}, .extent = {4, 1, 2}};
  OK(cudaMemset(b, 0, 32));
  OK(cudaMemcpy3DPeer(&p));
  OK(cudaMemcpy(out, b, 32, COPY_DEVICE_TO_HOST));
  assert_memory_equal(out, in + 12, 4);
  assert_memory_equal(out + 16, in + 28, 4);
  OK(cudaMemset(b, 0, 32));
  OK(cudaMemcpy3DPeerAsync(&p, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaMemcpy(out, b, 32, COPY_DEVICE_TO_HOST));
  assert_memory_equal(out + 16, in + 28, 4);
  p.src_device = 1;
  assert_int_equal(cudaMemcpy3DPeer(&p), CUDA_ERROR_INVALID_DEVICE);
  p.src_device = 0, p.dst_device = 1;
  assert_int_equal(cudaMemcpy3DPeer(&p), CUDA_ERROR_INVALID_DEVICE);
  INVALID(cudaMemcpy3DPeer(NULL));
  OK(cudaStreamDestroy(s));
  assert_int_equal(cudaMemcpyPeerAsync(b, 0, a, 0, 12, s), CUDA_ERROR_INVALID_HANDLE);
  OK(cudaFree(a));
  OK(cudaFree(b));
}

static void peers_of_driver(void **state)
{
  uint8_t in[32], out[32];
  CUdeviceptr a, b;
  CUcontext me, other, gone;
  CUstream s;
  (void)state;
  pattern(in, sizeof in, 6);
  OK(cuCtxGetCurrent(&me));
  OK(cuCtxCreate_v2(&other, 0, 0));
  OK(cuCtxCreate_v2(&gone, 0, 0));
  OK(cuCtxDestroy_v2(gone));
  OK(cuCtxSetCurrent(me));
  assert_int_equal(cuCtxEnablePeerAccess(other, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  INVALID(cuCtxEnablePeerAccess(other, 1));
  assert_int_equal(cuCtxEnablePeerAccess(me, 0), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuCtxEnablePeerAccess(gone, 0), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuCtxDisablePeerAccess(other), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  assert_int_equal(cuCtxDisablePeerAccess(gone), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuStreamCreate(&s, 0));
  OK(cuMemAlloc_v2(&a, 32));
  OK(cuMemAlloc_v2(&b, 32));
  OK(cuMemcpyHtoD_v2(a, in, 32));
  OK(cuMemcpyPeer(b, other, a, me, 32));
  OK(cuMemcpyDtoH_v2(out, b, 32));
  assert_memory_equal(out, in, 32);
  OK(cuMemsetD8_v2(b, 0, 32));
  OK(cuMemcpyPeerAsync(b, me, a, other, 16, s));
  OK(cuStreamSynchronize(s));
  OK(cuMemcpyDtoH_v2(out, b, 32));
  assert_memory_equal(out, in, 16);
  assert_int_equal(out[16], 0);
  assert_int_equal(cuMemcpyPeer(b, gone, a, me, 32), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuMemcpyPeer(b, me, a, gone, 32), CUDA_ERROR_INVALID_CONTEXT);
  CUDA_MEMCPY3D c = {.src_type = MEM_DEVICE, .src_device = a, .reserved0 = me, .src_pitch = 8, .src_height = 2,
                     .dst_type = MEM_DEVICE, .dst_device = b, .reserved1 = other, .dst_pitch = 16, .dst_height = 1,
                     .width = 4, .height = 1, .depth = 2};
  OK(cuMemsetD8_v2(b, 0, 32));
  OK(cuMemcpy3DPeer(&c));
  OK(cuMemcpyDtoH_v2(out, b, 32));
  assert_memory_equal(out, in, 4);
  assert_memory_equal(out + 16, in + 16, 4);
  OK(cuMemsetD8_v2(b, 0, 32));
  OK(cuMemcpy3DPeerAsync(&c, s));
  OK(cuStreamSynchronize(s));
  OK(cuMemcpyDtoH_v2(out, b, 32));
  assert_memory_equal(out + 16, in + 16, 4);
  c.reserved0 = gone;
  assert_int_equal(cuMemcpy3DPeer(&c), CUDA_ERROR_INVALID_CONTEXT);
  c.reserved0 = me, c.reserved1 = gone;
  assert_int_equal(cuMemcpy3DPeer(&c), CUDA_ERROR_INVALID_CONTEXT);
  c.reserved1 = other, c.src_type = 9;
  INVALID(cuMemcpy3DPeer(&c));
  INVALID(cuMemcpy3DPeer(NULL));
  c.src_type = MEM_DEVICE;
  OK(cuStreamDestroy_v2(s));
  assert_int_equal(cuMemcpy3DPeerAsync(&c, s), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuMemcpyPeerAsync(b, me, a, me, 16, s), CUDA_ERROR_INVALID_HANDLE);
  OK(cuMemFree_v2(a));
  OK(cuMemFree_v2(b));
  OK(cuCtxDestroy_v2(other));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formats),          cmocka_unit_test(arrays),          cmocka_unit_test(mipmaps),
      cmocka_unit_test(rectangles),       cmocka_unit_test(bytes_of_arrays), cmocka_unit_test(boxes),
      cmocka_unit_test(textures),         cmocka_unit_test(surfaces),        cmocka_unit_test(peers_of_runtime),
      cmocka_unit_test(peers_of_driver),
  };
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
