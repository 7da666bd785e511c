/*
 * A lock taken and released inside the loop body, all lanes of all warps
 * contending.  Works on any SIMT machine: the winner leaves its critical
 * section before the lanes meet again.
 */
extern "C" __global__ void spin_lock_inside(int *lock, volatile unsigned *counter, unsigned *sum)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    bool done = false;

    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            unsigned n = counter[0];
            counter[1] += i * i;
            counter[0] = n + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
    atomicAdd(sum, 1u);
}
