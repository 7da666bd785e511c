/*
 * Dynamic shared memory behind static variables, divided into arrays of different
 * types; its size comes from %dynamic_smem_size and %total_smem_size.
 */
extern "C" __global__ void dyn_smem(const int *in, double *out, unsigned *sizes, int n)
{
    extern __shared__ __align__(128) unsigned char pool[];
    __shared__ unsigned char before[20]; /* moves the pool to the next multiple of 128 */
    double *d = (double *)pool;
    short *s = (short *)(d + n);
    unsigned char *c = (unsigned char *)(s + n);
    int t = threadIdx.x;

    before[t % 20] = 1;
    d[t] = in[t] * 0.5;
    s[t] = (short)(in[t] & 0x7fff);
    c[t] = (unsigned char)(in[t] >> 3);
    __syncthreads();
    int u = (t * 7 + 3) % n;
    out[t] = d[u] + s[(u + 1) % n] + c[(u + 2) % n] + before[t % 20];
    if (t == 0) {
        asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(sizes[0]));
        unsigned at = (unsigned)__cvta_generic_to_shared(pool);
        sizes[1] = at % 128;
        unsigned total;
        asm("mov.u32 %0, %%total_smem_size;" : "=r"(total));
        sizes[2] = total >= sizes[0] + 20;
    }
}
