/*
 * Sparse matrix times vector in double precision, CSR, a group of eight lanes per
 * row: strided loops, then shuffles of 64-bit values as two halves.
 */
extern "C" __global__ void spmv_vector(const int *start, const int *col, const double *val,
                                       const double *__restrict__ x, double *y, int rows)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    double sum = 0;

    if (r < rows)
        for (int i = start[r] + lane; i < start[r + 1]; i += 8)
            sum += val[i] * x[col[i]];
    for (int d = 4; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d, 8);
    if (r < rows && lane == 0)
        y[r] = sum;
}
