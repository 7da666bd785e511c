/*
 * Four independent chains of v = a * v + b per thread, iters times.
 * Benchmark of FFMA throughput: no memory traffic inside the loop; raise iters
 * for a long run.
 */
extern "C" __global__ void saxpy_loop(float *y, float a, float b, int iters)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float v0 = y[i];
    float v1 = v0 + 1.0f;
    float v2 = v0 + 2.0f;
    float v3 = v0 + 3.0f;

    for (int k = 0; k < iters; k++) {
        v0 = __fmaf_rn(a, v0, b);
        v1 = __fmaf_rn(a, v1, b);
        v2 = __fmaf_rn(a, v2, b);
        v3 = __fmaf_rn(a, v3, b);
    }
    y[i] = (v0 + v1) + (v2 + v3);
}
