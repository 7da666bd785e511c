/*
 * Sparse matrix times vector, CSR, one thread per row: uncoalesced gathers and
 * loops of different length in one warp.
 */
extern "C" __global__ void spmv_scalar(const int *start, const int *col, const float *val,
                                       const float *x, float *y, int rows)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;

    if (r >= rows)
        return;
    float sum = 0;
    for (int i = start[r]; i < start[r + 1]; i++)
        sum += val[i] * x[col[i]];
    y[r] = sum;
}
