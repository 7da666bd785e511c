/*
 * Producers and consumers: two warps of a CTA put numbers into a ring in shared
 * memory, two take them out, with head and tail counters, volatile polling and
 * fences.  Which consumer gets what is free, the sums are not.
 */
#define SLOTS 16
#define ITEMS 64 /* per producer */

extern "C" __global__ void warp_queue(const unsigned *in, unsigned *sum, unsigned *count)
{
    __shared__ volatile unsigned slot[SLOTS], full[SLOTS];
    __shared__ unsigned head, tail;
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    if (threadIdx.x < SLOTS)
        full[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        head = tail = 0;
    __syncthreads();
    if (lane != 0)
        return;
    if (warp < 2) {
        for (unsigned i = 0; i < ITEMS; i++) {
            unsigned at = atomicAdd(&head, 1); /* this producer's turn in the ring */
            while (full[at % SLOTS] != at / SLOTS * 2)
                ;
            slot[at % SLOTS] = in[(blockIdx.x * 2 + warp) * ITEMS + i];
            __threadfence_block();
            full[at % SLOTS] = at / SLOTS * 2 + 1;
        }
    } else {
        unsigned mine = 0, n = 0;
        for (;;) {
            unsigned at = atomicAdd(&tail, 1);
            if (at >= 2 * ITEMS)
                break;
            while (full[at % SLOTS] != at / SLOTS * 2 + 1)
                ;
            __threadfence_block();
            mine += slot[at % SLOTS];
            n++;
            __threadfence_block();
            full[at % SLOTS] = at / SLOTS * 2 + 2;
        }
        atomicAdd(sum, mine);
        atomicAdd(count, n);
    }
}
