/*
 * The other source: jump tables in a kernel and in a function it calls, shared memory, names that a
 * short name can or cannot tell apart.
 */
#define PICK(x)                   \
    switch (x) {                  \
    case 0: r = clock64() < 0; break; \
    case 1: r += 17; break;       \
    case 2: r *= 3; break;        \
    case 3: r = __popc(r); break; \
    case 4: r = -r; break;        \
    case 5: r ^= 0x55; break;     \
    case 6: r /= 3; break;        \
    case 7: r -= 9; break;        \
    default: r = 100; break;      \
    }

__shared__ int file_tile[40];
extern __shared__ int dynamic[];

__device__ __noinline__ int pick(int x, int r)
{
    file_tile[threadIdx.x & 31] = x;
    PICK(x)
    return r;
}

/* Needs 4 * blockDim.x bytes of dynamic shared memory; at most 32 threads. */
extern "C" __global__ void fat_pick(int *p)
{
    __shared__ int tile[32];
    int i = threadIdx.x, r = 7 * i;
    PICK(i & 7)
    tile[i] = r;
    dynamic[i] = pick(i % 9, 40 + i);
    __syncthreads();
    p[i] = tile[blockDim.x - 1 - i] + 1000 * dynamic[i] + 100000 * file_tile[blockDim.x - 1 - i];
}

template <class T> __global__ void fat_scale(T *p, T f) { p[threadIdx.x] *= f; }
template __global__ void fat_scale<float>(float *, float);
template __global__ void fat_scale<double>(double *, double);

namespace fat {
__global__ void inner(int *p) { *p = 11; }
}
