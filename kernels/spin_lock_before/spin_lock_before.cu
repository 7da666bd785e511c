/*
 * A lock taken by a bare spin loop in front of the critical section, all lanes
 * of a warp contending.  Needs independent thread scheduling (compute capability
 * 7.0 and later): the winner must get past the BSYNC that the compiler puts behind
 * the loop while its warp's other lanes still spin through a YIELD.
 */
extern "C" __global__ void spin_lock_before(int *lock, volatile unsigned *counter, unsigned *sum)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    unsigned n = counter[0];
    counter[1] += i * i;
    counter[0] = n + 1;
    __threadfence();
    atomicExch(lock, 0);
    atomicAdd(sum, 1u);
}
