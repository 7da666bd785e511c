/* An `extern __shared__` array aligned to more than 16 bytes that the kernel only hands on to a function. -G code of
 * nvcc 13.5 has no section of shared memory for such a kernel, only .nv_debug.shared, whose size is the array's offset:
 *   nvcc -G -cubin -arch=sm_90 -o debug_shared.sm_90.cubin debug_shared.cu   (13.5.37; 13.0 has the kernel's section) */
__device__ __noinline__ void reverse(int *shared, int *out)
{
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void debug_shared(int *out)
{
    extern __shared__ __align__(1024) int array[];
    reverse(array, out);
}
