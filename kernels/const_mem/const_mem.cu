/*
 * __constant__ arrays: one with an initialiser, one set before the launch; read
 * with the same index in all lanes (folded operand or ULDC) and with different
 * ones (LDC).  __device__ variables: initialised, zero, and updated.
 */
__constant__ int primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
__constant__ float coeff[16];
__device__ int device_init[4] = {100, 200, 300, 400};
__device__ unsigned device_count;

extern "C" __global__ void const_mem(const unsigned *index, float *out, int *iout, unsigned step)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = index[i];
    float sum = coeff[0]; /* fixed address */

    sum += coeff[step];   /* uniform */
    sum += coeff[x & 15]; /* divergent */
    for (unsigned k = 0; k < 16; k += step)
        sum += coeff[k];
    out[i] = sum;
    iout[i] = primes[3] + primes[blockIdx.x] + primes[x >> 4 & 15] + device_init[x % 3];
    atomicAdd(&device_count, x & 3);
    if (i == 0)
        device_init[3] = -1; /* read by no one */
}
