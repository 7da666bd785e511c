/* Reference of union_find: the smallest label spreads until nothing changes. */
#include "../common/ref.h"

enum { V = 300, E = 200 };

int main(int argc, char **argv)
{
    static int32_t label[V];
    int changed = 1;

    ref_init(argc, argv);
    for (int v = 0; v < V; v++)
        label[v] = v;
    while (changed) {
        changed = 0;
        for (unsigned e = 0; e < E; e++) {
            int32_t *a = &label[ref_uniform_int(215, 2 * e, 0, V - 1)];
            int32_t *b = &label[ref_uniform_int(215, 2 * e + 1, 0, V - 1)];
            if (*a != *b) {
                *a = *b = *a < *b ? *a : *b;
                changed = 1;
            }
        }
    }
    REF_WRITE("parent.bin", label);
    return 0;
}
