/*
 * Connected components with a lock-free union-find: the greater root is hooked
 * below the smaller one by compare-and-swap, paths are halved on the way, and one
 * CTA flattens the forest at the end.  The root of a component is its smallest
 * vertex, whatever the order.
 */
static __device__ int find_root(volatile int *parent, int v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]]; /* racy, but only ever moves up the tree */
        v = parent[v];
    }
    return v;
}

extern "C" __global__ void union_find(const int2 *edge, int edges, int *parent, int vertices)
{
    for (int i = threadIdx.x; i < edges; i += blockDim.x) {
        int a = find_root(parent, edge[i].x), b = find_root(parent, edge[i].y);
        while (a != b) {
            int high = max(a, b), low = min(a, b);
            int seen = atomicCAS(&parent[high], high, low);
            if (seen == high)
                break;
            a = find_root(parent, seen);
            b = find_root(parent, low);
        }
    }
    __syncthreads();
    for (int v = threadIdx.x; v < vertices; v += blockDim.x)
        parent[v] = find_root(parent, v);
}
