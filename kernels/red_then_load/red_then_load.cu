/*
 * A reduction (RED, no result) followed by a plain load of the same address by
 * the same thread must see the thread's own addition: program order holds per
 * address, so an older copy in L1 must not be used.  Every thread has its own
 * word; neighbours share cache lines.
 */
extern "C" __global__ void red_then_load(unsigned *words, unsigned *seen, unsigned rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned hash = 0;

#pragma unroll 1
    for (unsigned k = 0; k < rounds; k++) {
        atomicAdd(&words[i], i + k);
        hash = hash * 31 + words[i];
        atomicXor(&words[i], 0x100u << (k & 7));
        hash = hash * 31 + words[i];
        words[i] += 1;
        atomicMax(&words[i], 500u);
        hash = hash * 31 + words[i];
    }
    seen[i] = hash;
}
