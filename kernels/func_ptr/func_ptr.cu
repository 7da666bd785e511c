/*
 * Indirect calls through a table of device functions in global memory.  The
 * compiler initialises the table with code offsets and calls relative to the
 * kernel's start; lanes of one warp call different targets.
 */
typedef int (*Op)(int, int);

static __device__ __noinline__ int op_add(int a, int b) { return a + b; }
static __device__ __noinline__ int op_sub(int a, int b) { return a - b; }
static __device__ __noinline__ int op_mul(int a, int b) { return a * b; }
static __device__ __noinline__ int op_gcd(int a, int b)
{
    while (b != 0) {
        int r = a % b;
        a = b;
        b = r;
    }
    return a;
}

__device__ Op table[4] = {op_add, op_sub, op_mul, op_gcd};

extern "C" __global__ void func_ptr(const int *a, const int *b, int *out, unsigned rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = a[i];

    v = table[blockIdx.x % 4](v, b[i]); /* the same for all lanes */
    for (unsigned k = 0; k < rounds; k++)
        v = table[(i + k) % 4](v & 0x3ff, b[i]);
    out[i] = v;
}
