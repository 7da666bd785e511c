/*
 * Samples of every shape but plain 2-D: 3-D, layered 1-D and 2-D, cube maps, texel fetches from linear
 * buffers, gather, explicit levels and gradients, and a handle that differs by lane.
 */
#include <cuda_runtime.h>

extern "C" __global__ void tex_shapes(cudaTextureObject_t volume, cudaTextureObject_t lines,
                                      cudaTextureObject_t sheets, cudaTextureObject_t cube,
                                      cudaTextureObject_t image, cudaTextureObject_t halves,
                                      cudaTextureObject_t bytes, cudaTextureObject_t units,
                                      cudaTextureObject_t shorts, cudaTextureObject_t quads,
                                      const float *xs, const float *ys,
                                      const float *zs, float *out, int *iout)
{
    int i = threadIdx.x;
    float x = xs[i], y = ys[i], z = zs[i], *o = out + i * 16;
    int *n = iout + i * 4, layer = i % 5; /* more than there are */

    o[0] = tex3D<float>(volume, x, y, z);
    o[1] = tex1DLayered<float>(lines, x, layer);
    o[2] = tex2DLayered<float>(sheets, x, y, layer);
    o[3] = texCubemap<float>(cube, x - 0.5f, y - 0.5f, z - 0.5f);
    float4 g = tex2Dgather<float4>(image, x, y, 0);
    o[4] = g.x, o[5] = g.y, o[6] = g.z, o[7] = g.w;
    o[8] = tex2DLod<float>(image, x, y, 0.0f);
    o[9] = tex2DGrad<float>(image, x, y, make_float2(x, y), make_float2(y, z));
    o[10] = tex2DLayeredGrad<float>(sheets, x, y, layer, make_float2(x, y), make_float2(y, z));
    o[11] = tex3DLod<float>(volume, x, y, z, 0.0f);
    float2 h = tex1Dfetch<float2>(halves, i - 4);
    o[12] = h.x, o[13] = h.y;
    o[14] = tex1Dfetch<float>(i & 1 ? bytes : units, i);
    o[15] = tex1DLayeredLod<float>(lines, y, layer, 0.0f);
    n[0] = tex1Dfetch<short>(shorts, i - 4);
    uint4 q = tex1Dfetch<uint4>(quads, i - 4);
    n[1] = (int)(q.x + 3 * q.y + 5 * q.z + 7 * q.w);
    n[2] = tex1Dfetch<short>(shorts, 27 - i);
    n[3] = layer;
}
