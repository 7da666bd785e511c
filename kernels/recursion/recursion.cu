/*
 * Recursive device functions: CALL and RET through a per-thread stack in local
 * memory, with lanes at different depths.  At most about 20 frames deep, which
 * fits the default stack of 1024 bytes.
 */
static __device__ __noinline__ unsigned fib(unsigned n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static __device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

/* recursion into the smaller part keeps the depth logarithmic */
static __device__ __noinline__ void quicksort(int *a, int lo, int hi)
{
    while (lo < hi) {
        int pivot = a[(lo + hi) / 2], i = lo, j = hi;
        while (i <= j) {
            while (a[i] < pivot)
                i++;
            while (a[j] > pivot)
                j--;
            if (i <= j) {
                int x = a[i];
                a[i++] = a[j];
                a[j--] = x;
            }
        }
        if (j - lo < hi - i) {
            quicksort(a, lo, j);
            lo = i;
        } else {
            quicksort(a, i, hi);
            hi = j;
        }
    }
}

extern "C" __global__ void recursion(unsigned *out, int *data, unsigned length)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    out[2 * i] = fib(i % 7);
    out[2 * i + 1] = ackermann(i & 1, i % 5) + ackermann(2, i % 2);
    quicksort(data + i * length, 0, (int)length - 1);
}
