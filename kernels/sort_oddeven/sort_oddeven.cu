/*
 * Batcher's odd-even merge sort of 128 doubles per CTA.  Half of the threads
 * sit out most steps; the exchange is DSETP with selects.
 */
#define N 128

extern "C" __global__ void sort_oddeven(double *data)
{
    __shared__ double s[N];
    int t = threadIdx.x;

    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int p = 1; p < N; p *= 2)
        for (int k = p; k >= 1; k /= 2) {
            int j = t - k % p;
            bool lower = j >= 0 && j % (2 * k) < k && t + k < N;
            if (lower && t / (2 * p) == (t + k) / (2 * p)) {
                double x = s[t], y = s[t + k];
                s[t] = x < y ? x : y;
                s[t + k] = x < y ? y : x;
            }
            __syncthreads();
        }
    data[blockIdx.x * N + t] = s[t];
}
