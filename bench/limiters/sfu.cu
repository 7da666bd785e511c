/* A sum of sines and cosines of multiples of an angle: two special functions a step, against a rotation by the angle, which
 * is four multiply-adds. */
extern "C" __global__ void sfu_slow(const float *angle, float *out, int n)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    float a = angle[t & 255], at = 0, sum = 0;

#pragma unroll 8
    for (int i = 0; i < n; i++) {
        sum += __cosf(at);
        sum += 0.5f * __sinf(at);
        at += a;
    }
    out[t] = sum;
}

extern "C" __global__ void sfu_fast(const float *angle, float *out, int n)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    float a = angle[t & 255], ca = cosf(a), sa = sinf(a), c = 1, s = 0, sum = 0;

#pragma unroll 8
    for (int i = 0; i < n; i++) {
        sum += c;
        sum += 0.5f * s;
        float next = c * ca - s * sa;
        s = s * ca + c * sa;
        c = next;
    }
    out[t] = sum;
}
