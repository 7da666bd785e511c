/*
 * Message passing between two CTAs: CTA 0 writes data, fences, raises a volatile
 * flag; CTA 1 waits for the flag, fences and reads.  CTA 1 has read the data
 * before, so a stale line in its L1 would show.  Both CTAs must be resident.
 */
extern "C" __global__ void membar_flag(unsigned *data, volatile unsigned *flag, unsigned *early,
                                       unsigned *out)
{
    unsigned t = threadIdx.x, n = blockDim.x;

    if (blockIdx.x == 0) {
        for (unsigned k = 0; k < 4; k++)
            data[k * n + t] = (k + 1) * 1000 + t;
        __threadfence();
        __syncthreads();
        if (t == 0)
            *flag = 1;
    } else {
        early[t] = data[t]; /* old or new */
        __syncthreads();
        if (t == 0)
            while (*flag == 0)
                ;
        __syncthreads();
        __threadfence();
        for (unsigned k = 0; k < 4; k++)
            out[k * n + t] = data[k * n + (n - 1 - t)];
    }
}
