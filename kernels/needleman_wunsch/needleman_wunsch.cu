/*
 * Global alignment of two sequences of 48: the score matrix in shared memory, filled
 * along anti-diagonals, then one thread walks back and writes the path, diagonal
 * first.
 */
#define N 48
#define MATCH 3
#define MISMATCH (-2)
#define GAP (-2)

extern "C" __global__ void needleman_wunsch(const char *a, const char *b, short *score, char *path)
{
    __shared__ short s[N + 1][N + 1];
    int t = threadIdx.x;

    for (int k = t; k <= N; k += blockDim.x)
        s[k][0] = s[0][k] = (short)(GAP * k);
    __syncthreads();
    for (int d = 2; d <= 2 * N; d++) {
        int i = t + 1, j = d - i;
        if (i <= N && j >= 1 && j <= N) {
            int diagonal = s[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? MATCH : MISMATCH);
            s[i][j] = (short)max(diagonal, max(s[i - 1][j], s[i][j - 1]) + GAP);
        }
        __syncthreads();
    }
    for (int k = t; k < (N + 1) * (N + 1); k += blockDim.x)
        score[k] = s[k / (N + 1)][k % (N + 1)];
    if (t == 0) {
        int i = N, j = N, n = 0;
        while (i > 0 || j > 0) {
            int step = i > 0 && j > 0 ? (a[i - 1] == b[j - 1] ? MATCH : MISMATCH) : 0;
            if (i > 0 && j > 0 && s[i][j] == s[i - 1][j - 1] + step) {
                path[n++] = 'd';
                i--;
                j--;
            } else if (i > 0 && s[i][j] == s[i - 1][j] + GAP) {
                path[n++] = 'u';
                i--;
            } else {
                path[n++] = 'l';
                j--;
            }
        }
    }
}
