/*
 * Least-significant-digit radix sort of 256 keys per CTA, one bit per step: a
 * ballot ranks the zeros of a warp, totals of the warps are scanned, and each key
 * is scattered in shared memory.  Stable.
 */
#define N 256
#define WARPS (N / 32)

extern "C" __global__ void sort_radix(const unsigned *in, unsigned *out, unsigned *index, int bits)
{
    __shared__ unsigned key[N], from[N], zeros[WARPS];
    unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    unsigned k = in[blockIdx.x * N + t], origin = t;

    for (int b = 0; b < bits; b++) {
        bool zero = !(k >> b & 1);
        unsigned votes = __ballot_sync(~0u, zero);
        if (lane == 0)
            zeros[warp] = __popc(votes);
        __syncthreads();
        unsigned before = 0, total = 0;
        for (unsigned w = 0; w < WARPS; w++) {
            before += w < warp ? zeros[w] : 0;
            total += zeros[w];
        }
        unsigned rank = before + __popc(votes & ((1u << lane) - 1)); /* zeros in front of this */
        unsigned to = zero ? rank : total + t - rank;
        key[to] = k;
        from[to] = origin;
        __syncthreads();
        k = key[t];
        origin = from[t];
    }
    out[blockIdx.x * N + t] = k;
    index[blockIdx.x * N + t] = origin;
}
