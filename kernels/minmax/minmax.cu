/*
 * Minima and maxima: f32 with and without NaN propagation and flushing, f64, f16,
 * 16-, 32- and 64-bit integers of both signs, clamps and three-way forms.
 */
extern "C" __global__ void minmax(const float *in, const int *iin, float *f, double *d, int *o,
                                  long long *l)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float x = in[i / 16], y = in[i % 16];
    int a = iin[i], b = iin[n - 1 - i];
    long long p = (long long)a << 25 | b, q = (long long)b << 25 | a;

    f[i] = fminf(x, y);
    f[n + i] = fmaxf(x, y);
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(f[2 * n + i]) : "f"(x), "f"(y));
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(f[3 * n + i]) : "f"(x), "f"(y));
    asm("max.ftz.f32 %0, %1, %2;" : "=f"(f[4 * n + i]) : "f"(x), "f"(y));
    f[5 * n + i] = fminf(fmaxf(x, -1.0f), 1.0f);
    f[6 * n + i] = __saturatef(x * y); /* NaN gives 0 */
    f[7 * n + i] = fmaxf(-x, fabsf(y));
    d[i] = fmin((double)x, (double)y);
    d[n + i] = fmax((double)x, (double)y);
    o[i] = min(a, b);
    o[n + i] = max(a, b);
    o[2 * n + i] = (int)min((unsigned)a, (unsigned)b);
    o[3 * n + i] = (int)max((unsigned)a, (unsigned)b);
    o[4 * n + i] = min(max(a, -1000), 100000);
    o[5 * n + i] = max(max(a, b), a ^ b);
    o[6 * n + i] = max(min(a, b), 0);
    o[7 * n + i] = abs(a) + min((short)a, (short)b);
    l[i] = min(p, q);
    l[n + i] = (long long)max((unsigned long long)p, (unsigned long long)q);
}
