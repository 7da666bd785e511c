/*
 * Length of the longest common subsequence of two strings of 64 characters: a thread
 * per column, anti-diagonals in three rotating shared-memory lines.
 */
#define N 64

extern "C" __global__ void lcs(const char *a, const char *b, int *length)
{
    __shared__ int line[3][N + 1];
    __shared__ char sa[N];
    int j = threadIdx.x + 1; /* column */
    char mine = b[blockIdx.x * N + j - 1];

    sa[j - 1] = a[blockIdx.x * N + j - 1];
    for (int k = 0; k < 3; k++) {
        line[k][j] = 0;
        if (j == 1)
            line[k][0] = 0;
    }
    __syncthreads();
    for (int d = 2; d <= 2 * N; d++) {
        int i = d - j; /* row */
        int *now = line[d % 3];
        const int *last = line[(d + 2) % 3], *before = line[(d + 1) % 3];
        if (i >= 1 && i <= N)
            now[j] = sa[i - 1] == mine ? before[j - 1] + 1 : max(last[j], last[j - 1]);
        __syncthreads();
    }
    if (j == N)
        length[blockIdx.x] = line[2 * N % 3][N];
}
