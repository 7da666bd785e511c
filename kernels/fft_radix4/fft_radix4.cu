/*
 * 256-point complex FFT in double precision, radix 4, self-sorting (Stockham):
 * four stages between two shared-memory planes, twiddles from a table in constant
 * memory with a different index per lane.
 */
#define N 256

__constant__ double2 twiddle[N];

static __device__ double2 mul(double2 a, double2 b)
{
    return make_double2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

extern "C" __global__ void fft_radix4(const double2 *in, double2 *out)
{
    __shared__ double2 s[2][N];
    unsigned t = threadIdx.x, now = 0; /* N / 4 threads */

    for (unsigned i = t; i < N; i += N / 4)
        s[0][i] = in[blockIdx.x * N + i];
    __syncthreads();
    for (unsigned m = 1; m < N; m *= 4, now ^= 1) {
        unsigned k = t % m, step = N / 4 / m; /* angle 2 pi k / (4 m) per factor */
        double2 a = s[now][t];
        double2 b = mul(s[now][t + N / 4], twiddle[k * step]);
        double2 c = mul(s[now][t + N / 2], twiddle[2 * k * step]);
        double2 d = mul(s[now][t + 3 * N / 4], twiddle[3 * k * step]);
        double2 p = make_double2(a.x + c.x, a.y + c.y), q = make_double2(a.x - c.x, a.y - c.y);
        double2 u = make_double2(b.x + d.x, b.y + d.y), v = make_double2(b.x - d.x, b.y - d.y);
        double2 *o = &s[now ^ 1][(t - k) * 4 + k];
        o[0] = make_double2(p.x + u.x, p.y + u.y);
        o[m] = make_double2(q.x + v.y, q.y - v.x); /* -i v */
        o[2 * m] = make_double2(p.x - u.x, p.y - u.y);
        o[3 * m] = make_double2(q.x - v.y, q.y + v.x);
        __syncthreads();
    }
    for (unsigned i = t; i < N; i += N / 4)
        out[blockIdx.x * N + i] = s[now][i];
}
