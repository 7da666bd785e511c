/*
 * A structure of 2 KB by value among other parameters: constant-bank indices far out,
 * uniform and divergent ones, alignment padding.
 */
struct table {
    short head[3]; /* 6 bytes, then padding */
    double scale[8];
    unsigned word[480];
    unsigned char tail[5];
};

extern "C" __global__ void big_params(char before, struct table t, short after, double *out)
{
    unsigned i = threadIdx.x;
    double v = t.scale[i % 8] * t.word[(i * 29) % 480] + t.head[i % 3];

    v += t.word[479] + t.tail[i % 5] + before + after;
    for (int k = 0; k < 480; k += 160)
        v += t.word[k + blockIdx.x];
    out[blockIdx.x * blockDim.x + i] = v;
}
