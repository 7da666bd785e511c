/*
 * Linked lists on the device heap: malloc per thread, pointers to nodes, a walk by
 * another thread of the warp, free.
 */
struct node {
    struct node *next;
    int value;
};

extern "C" __global__ void device_list(int *sum, int *fine)
{
    __shared__ struct node *head[32];
    int t = threadIdx.x, length = t % 5 + 1, ok = 1;
    struct node *list = nullptr;

    for (int k = 0; k < length; k++) {
        struct node *n = (struct node *)malloc(sizeof *n);
        ok &= n != nullptr && ((size_t)n & 15) == 0;
        if (n) {
            n->next = list;
            n->value = t * 10 + k;
            list = n;
        }
    }
    head[t] = list;
    __syncthreads();
    int total = 0;
    for (struct node *n = head[31 - t]; n;) {
        struct node *next = n->next;
        total = total * 3 + n->value; /* depends on the order */
        free(n);
        n = next;
    }
    sum[t] = total;
    fine[t] = ok;
}
