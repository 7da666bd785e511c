/*
 * Work that is the same for all lanes and may go to the uniform datapath: a loop
 * counter, bit tricks on parameters, constants at computed offsets, votes that feed
 * branches, values broadcast from one lane.
 */
__constant__ unsigned table[64];

extern "C" __global__ void uniform_path(const unsigned *in, unsigned *out, unsigned n, unsigned key)
{
    unsigned b = blockIdx.y, i = b * blockDim.x + threadIdx.x, v = in[i];
    unsigned mix = n * 0x9E3779B1u + key;

    mix = (mix << 7 | mix >> 25) ^ (unsigned)__popc(mix) ^ (unsigned)__clz((int)(mix >> 3));
    mix = max(mix & 0xffff, n) + min(n, 3u) * (gridDim.y - 1);
    mix ^= __brev(key) >> 20 ^ __byte_perm(key, n, 0x5140) % 1024;
#pragma unroll 1
    for (unsigned k = 0; k < n; k++) {
        unsigned t = table[(k * 5 + mix) % 64];
        v = v * 3 + t;
        if (k % 3 == n % 3)
            v ^= table[k % 64] >> (k & 7);
        unsigned first = __shfl_sync(~0u, v, 0); /* the same in all lanes */
        if (first & 0x10000)
            v += first >> (mix & 15);
        if (__any_sync(~0u, (v & 0x3ff) == 0x155))
            v ^= mix;
    }
    int leader = __ffs((int)__ballot_sync(~0u, v & 1)) - 1;
    unsigned long long wide = (unsigned long long)mix * key + n;
    v += leader >= 0 ? __shfl_sync(~0u, v, leader) : (unsigned)(wide >> 20);
    out[i] = v + (unsigned)(wide >> 32);
}
