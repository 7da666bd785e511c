/*
 * Sudoku: one warp solves each grid by recursion, lanes testing the candidates of a
 * cell by ballot; the first solution in order ends the search.
 */
static __device__ bool allowed(const signed char *g, int at, int v)
{
    int r = at / 9, c = at % 9, box = r / 3 * 27 + c / 3 * 3;

    for (int k = 0; k < 9; k++)
        if (g[9 * r + k] == v || g[9 * k + c] == v || g[box + k / 3 * 9 + k % 3] == v)
            return false;
    return true;
}

static __device__ __noinline__ bool solve(signed char *g, int at)
{
    while (at < 81 && g[at] != 0)
        at++;
    if (at == 81)
        return true;
    int lane = threadIdx.x;
    unsigned open = __ballot_sync(~0u, lane >= 1 && lane <= 9 && allowed(g, at, lane));
    for (; open; open &= open - 1) {
        __syncwarp();
        if (lane == 0)
            g[at] = (signed char)(__ffs(open) - 1);
        __syncwarp();
        if (solve(g, at + 1))
            return true;
    }
    __syncwarp();
    if (lane == 0)
        g[at] = 0;
    __syncwarp();
    return false;
}

extern "C" __global__ void sudoku(signed char *grid, int *solved)
{
    __shared__ signed char g[81];
    signed char *mine = grid + 81 * blockIdx.x;

    for (int i = threadIdx.x; i < 81; i += 32)
        g[i] = mine[i];
    __syncwarp();
    bool ok = solve(g, 0);
    for (int i = threadIdx.x; i < 81; i += 32)
        mine[i] = g[i];
    if (threadIdx.x == 0)
        solved[blockIdx.x] = ok;
}
