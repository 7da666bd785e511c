/*
 * Occurrences of a pattern in a text: naively with early exits, and by Knuth, Morris
 * and Pratt on overlapping segments with the failure table in shared memory.
 */
#define MAX 16

extern "C" __global__ void string_match(const char *text, int n, const char *pattern, int m,
                                        int *naive, int *kmp, int segment)
{
    __shared__ int fail[MAX];
    __shared__ char p[MAX];
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    if (threadIdx.x < m)
        p[threadIdx.x] = pattern[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        fail[0] = 0;
        for (int i = 1, k = 0; i < m; i++) {
            while (k > 0 && p[i] != p[k])
                k = fail[k - 1];
            k += p[i] == p[k];
            fail[i] = k;
        }
    }
    __syncthreads();
    int count = 0;
    for (int i = t; i + m <= n; i += gridDim.x * blockDim.x) {
        int k = 0;
        while (k < m && text[i + k] == p[k])
            k++;
        count += k == m;
    }
    if (count)
        atomicAdd(naive, count);
    int first = t * segment, last = min(first + segment + m - 1, n);
    count = 0;
    for (int i = first, k = 0; i < last; i++) {
        while (k > 0 && (k == m || text[i] != p[k]))
            k = fail[k - 1];
        k += text[i] == p[k];
        count += k == m;
    }
    if (count)
        atomicAdd(kmp, count);
}
