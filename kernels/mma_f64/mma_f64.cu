/*
 * mma.sync.m8n8k4 in double precision (DMMA).  Two products: of integers, exact, and
 * of real numbers; the second checks that products are not rounded before they are
 * added.
 */
extern "C" __global__ void mma_f64(const double *a, const double *b, const double *c, double *d,
                                   int n, int k)
{
    int lane = threadIdx.x, group = lane / 4, t = lane % 4;
    const double *pa = a + (blockIdx.y * 8 + group) * k + t;
    const double *pb = b + (blockIdx.x * 8 + group) * k + t;
    int at = (blockIdx.y * 8 + group) * n + blockIdx.x * 8 + 2 * t;
    double x = c[at], y = c[at + 1];

    for (int i = 0; i < k; i += 4)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                     "{%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(x), "+d"(y)
                     : "d"(pa[i]), "d"(pb[i]));
    d[at] = x;
    d[at + 1] = y;
}
