/*
 * Number-theoretic transform of 128 points modulo 998244353: butterflies as in an
 * FFT, but exact.  Products are reduced by Montgomery's method with wide IMADs.
 */
#define N 128
#define P 998244353u

static __device__ unsigned mont(unsigned a, unsigned b) /* a * b / 2^32 mod P */
{
    unsigned long long t = (unsigned long long)a * b;
    unsigned m = (unsigned)t * 998244351u; /* -1 / P mod 2^32 */
    unsigned r = (unsigned)((t + (unsigned long long)m * P) >> 32);
    return r >= P ? r - P : r;
}

extern "C" __global__ void ntt(const unsigned *in, const unsigned *root, unsigned *out)
{
    __shared__ unsigned s[N];
    unsigned t = threadIdx.x; /* N / 2 threads */

    s[__brev(t) >> 25] = in[t];
    s[__brev(t + N / 2) >> 25] = in[t + N / 2];
    __syncthreads();
    for (unsigned half = 1; half < N; half *= 2) {
        unsigned k = t % half, i = 2 * t - k;
        unsigned a = s[i], b = mont(s[i + half], root[k * (N / 2 / half)]);
        s[i] = a + b >= P ? a + b - P : a + b;
        s[i + half] = a >= b ? a - b : a + P - b;
        __syncthreads();
    }
    out[t] = s[t];
    out[t + N / 2] = s[t + N / 2];
}
