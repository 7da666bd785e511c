/*
 * PRMT in all modes with variable selectors: generic with sign replication, forward
 * and backward extraction, replication of bytes and halfwords, edge clamping.
 */
#define PRMT(mode, r) asm("prmt.b32" mode " %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(s))

extern "C" __global__ void prmt_modes(const unsigned *in, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    unsigned x = in[i], y = in[n + i], s = in[2 * n + i], r[10];

    PRMT("", r[0]);
    PRMT(".f4e", r[1]);
    PRMT(".b4e", r[2]);
    PRMT(".rc8", r[3]);
    PRMT(".ecl", r[4]);
    PRMT(".ecr", r[5]);
    PRMT(".rc16", r[6]);
    r[7] = __byte_perm(x, y, 0x5410);
    r[8] = __byte_perm(x, y, 0x7632);
    asm("prmt.b32 %0, %1, %2, 0x9a08;" : "=r"(r[9]) : "r"(x), "r"(y));
#pragma unroll
    for (int k = 0; k < 10; k++)
        out[k * n + i] = r[k];
}
