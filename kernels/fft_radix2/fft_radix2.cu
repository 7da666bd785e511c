/*
 * 256-point complex FFT per CTA, radix 2, decimation in time: bit-reversed load
 * with BREV, eight butterfly stages in shared memory, twiddles by sincospif.
 */
#define N 256

extern "C" __global__ void fft_radix2(const float2 *in, float2 *out)
{
    __shared__ float2 s[N];
    unsigned t = threadIdx.x, base = blockIdx.x * N; /* N / 2 threads */

    s[__brev(t) >> 24] = in[base + t];
    s[__brev(t + N / 2) >> 24] = in[base + t + N / 2];
    __syncthreads();
    for (unsigned half = 1; half < N; half *= 2) {
        unsigned k = t % half, i = 2 * t - k, j = i + half;
        float sn, cs;
        sincospif(-(float)k / (float)half, &sn, &cs);
        float2 a = s[i], b = s[j];
        float re = b.x * cs - b.y * sn, im = b.x * sn + b.y * cs;
        s[i] = make_float2(a.x + re, a.y + im);
        s[j] = make_float2(a.x - re, a.y - im);
        __syncthreads();
    }
    out[base + t] = s[t];
    out[base + t + N / 2] = s[t + N / 2];
}
