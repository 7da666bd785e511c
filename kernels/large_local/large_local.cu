/*
 * 2 KB of local memory per thread at dynamic indices: offsets beyond what fits an
 * instruction, interleaving by thread, a heap sort in place.
 */
#define N 64
#define SIZE 512

extern "C" __global__ void large_local(const unsigned *in, unsigned *out, int n)
{
    unsigned heap[SIZE];
    int t = blockIdx.x * blockDim.x + threadIdx.x, size = 0;

    for (int i = 0; i < n; i++) { /* insert and sift up; the smallest is on top */
        unsigned v = in[t * n + i];
        int at = size++;
        for (; at > 0 && heap[(at - 1) / 2 + SIZE / 2] > v; at = (at - 1) / 2)
            heap[at + SIZE / 2] = heap[(at - 1) / 2 + SIZE / 2];
        heap[at + SIZE / 2] = v;
    }
    for (int i = 0; i < n; i++) {
        out[t * n + i] = heap[SIZE / 2];
        unsigned v = heap[--size + SIZE / 2];
        int at = 0;
        for (int child; (child = 2 * at + 1) < size; at = child) {
            if (child + 1 < size && heap[child + 1 + SIZE / 2] < heap[child + SIZE / 2])
                child++;
            if (heap[child + SIZE / 2] >= v)
                break;
            heap[at + SIZE / 2] = heap[child + SIZE / 2];
        }
        heap[at + SIZE / 2] = v;
    }
}
