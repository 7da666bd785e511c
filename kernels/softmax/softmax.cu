/*
 * Softmax of each row, one warp per row: SHFL.BFLY reductions for the maximum
 * and the sum, expf, a division.  Rows of 100 elements leave part of the warp
 * without work in the last step.
 */
extern "C" __global__ void softmax(const float *in, float *out, int rows, int cols)
{
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;

    if (row >= rows)
        return;
    const float *x = in + row * cols;
    float *y = out + row * cols;
    float max = -INFINITY, sum = 0.0f;
    for (int c = lane; c < cols; c += 32)
        max = fmaxf(max, x[c]);
    for (int d = 16; d > 0; d /= 2)
        max = fmaxf(max, __shfl_xor_sync(~0u, max, d));
    for (int c = lane; c < cols; c += 32)
        sum += expf(x[c] - max);
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    for (int c = lane; c < cols; c += 32)
        y[c] = expf(x[c] - max) / sum;
}
