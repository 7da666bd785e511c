/*
 * A per-thread array indexed by data, which forces it into local memory (STL,
 * LDL): each thread composes a permutation, then byte accesses to local memory.
 */
extern "C" __global__ void local_array(const unsigned *in, unsigned *out, unsigned swaps)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v[16];
    unsigned char bytes[32];
    unsigned x = in[i];

#pragma unroll
    for (unsigned k = 0; k < 16; k++)
        v[k] = k;
#pragma unroll 1
    for (unsigned k = 0; k < swaps; k++) {
        unsigned p = x & 15, q = x >> 4 & 15;
        unsigned t = v[p];
        v[p] = v[q];
        v[q] = t;
        x = x * 1664525u + 1013904223u;
        x ^= x >> 16;
    }
#pragma unroll 1
    for (unsigned k = 0; k < 32; k++)
        bytes[(k * 7 + i) % 32] = (unsigned char)(v[k % 16] * 13 + k);
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < 32; k++)
        sum = sum * 31 + bytes[k];
    out[i] = sum;
}
