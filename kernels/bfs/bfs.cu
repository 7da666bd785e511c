/*
 * Breadth-first search by one CTA: frontiers in shared memory, appended to with
 * shared atomics, vertices claimed with a global compare-and-swap.  The order in
 * a frontier is free, the levels are not.
 */
#define MAX 512

extern "C" __global__ void bfs(const int *start, const int *edge, int *level, int source,
                               int *depth)
{
    __shared__ int frontier[2][MAX], size[2];
    int t = threadIdx.x, now = 0, d = 0;

    if (t == 0) {
        frontier[0][0] = source;
        size[0] = 1;
        level[source] = 0;
    }
    __syncthreads();
    while (size[now] > 0) {
        if (t == 0)
            size[now ^ 1] = 0;
        __syncthreads();
        for (int i = t; i < size[now]; i += blockDim.x) {
            int v = frontier[now][i];
            for (int e = start[v]; e < start[v + 1]; e++)
                if (atomicCAS(&level[edge[e]], -1, d + 1) == -1)
                    frontier[now ^ 1][atomicAdd(&size[now ^ 1], 1)] = edge[e];
        }
        __syncthreads();
        now ^= 1;
        d++;
    }
    if (t == 0)
        *depth = d;
}
