/* Reference of bfs: relaxation of all edges until nothing changes. */
#include "../common/ref.h"

enum { V = 500, E = 1200, SOURCE = 3 };

int main(int argc, char **argv)
{
    static int32_t start[V + 1], edge[E], level[V], depth[1];
    int n = 0;

    ref_init(argc, argv);
    for (int v = 0; v < V; v++) {
        start[v] = n;
        for (unsigned e = 0; e < E; e++)
            if (ref_uniform_int(213, e, 0, V - 1) == v)
                edge[n++] = (int32_t)ref_uniform_int(214, e, 0, V - 1);
    }
    start[V] = n;
    for (int v = 0; v < V; v++)
        level[v] = v == SOURCE ? 0 : -1;
    for (int changed = 1; changed;) {
        changed = 0;
        for (int v = 0; v < V; v++)
            for (int e = start[v]; level[v] >= 0 && e < start[v + 1]; e++) {
                int32_t *l = &level[edge[e]];
                if (*l < 0 || *l > level[v] + 1) {
                    *l = level[v] + 1;
                    changed = 1;
                }
            }
    }
    for (int v = 0; v < V; v++) /* the last frontier is found to be empty of successors */
        depth[0] = level[v] + 1 > depth[0] ? level[v] + 1 : depth[0];
    REF_WRITE("start.bin", start);
    REF_WRITE("edge.bin", edge);
    REF_WRITE("level.bin", level);
    REF_WRITE("depth.bin", depth);
    return 0;
}
