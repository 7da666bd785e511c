/*
 * 2-D textures over one image: linear and nearest samples in the four address modes, normalised and
 * unnormalised coordinates, bytes as normalised floats, sRGB. One column of results per texture.
 */
#include <cuda_runtime.h>

extern "C" __global__ void tex_filter2d(cudaTextureObject_t wrap, cudaTextureObject_t clamp,
                                        cudaTextureObject_t mirror, cudaTextureObject_t border,
                                        cudaTextureObject_t plain, cudaTextureObject_t nearest,
                                        cudaTextureObject_t bytes, cudaTextureObject_t srgb,
                                        const float *xs, const float *ys, float *out,
                                        float4 *colour, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    float x = xs[i], y = ys[i];
    out[i] = tex2D<float>(wrap, x, y);
    out[n + i] = tex2D<float>(clamp, x, y);
    out[2 * n + i] = tex2D<float>(mirror, x, y);
    out[3 * n + i] = tex2D<float>(border, x, y);
    out[4 * n + i] = tex2D<float>(plain, x * 16.0f, y * 8.0f);
    out[5 * n + i] = tex2D<float>(nearest, x, y);
    colour[i] = tex2D<float4>(bytes, x, y);
    colour[n + i] = tex2D<float4>(srgb, x, y);
}
