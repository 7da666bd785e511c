/*
 * Warp specialisation with named barriers: one warp loads tiles, one transforms them,
 * two reduce them; full and empty barriers per stage, two stages.
 */
#define TILE 64
#define STAGES 2

static __device__ void sync(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

static __device__ void arrive(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

extern "C" __global__ void warp_pipeline(const int *in, int *out, int tiles)
{
    __shared__ int raw[STAGES][TILE], done[STAGES][TILE];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    for (int k = 0; k < tiles; k++) {
        int s = k % STAGES;
        int loaded = 1 + s, taken = 3 + s, ready = 5 + s, drained = 7 + s;
        if (warp == 0) {
            int a = in[k * TILE + lane], b = in[k * TILE + 32 + lane];
            if (k >= STAGES)
                sync(taken, 64);
            raw[s][lane] = a;
            raw[s][lane + 32] = b;
            arrive(loaded, 64);
        } else if (warp == 1) {
            sync(loaded, 64);
            int a = raw[s][63 - lane] * 3 + k, b = raw[s][31 - lane] ^ k;
            arrive(taken, 64);
            if (k >= STAGES)
                sync(drained, 96);
            done[s][lane] = a;
            done[s][lane + 32] = b;
            arrive(ready, 96);
        } else {
            sync(ready, 96);
            int v = done[s][(warp - 2) * 32 + lane];
            arrive(drained, 96);
            for (int m = 16; m > 0; m /= 2)
                v += __shfl_down_sync(~0u, v, m);
            if (lane == 0)
                out[2 * k + warp - 2] = v;
        }
    }
}
