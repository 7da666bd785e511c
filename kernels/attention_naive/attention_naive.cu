/*
 * One attention head, 32 queries and keys of dimension 16: a thread per query holds
 * its scores in local memory, then softmax and the weighted sum of values.
 */
#define SEQ 32
#define DIM 16

extern "C" __global__ void attention_naive(const float *q, const float *k, const float *v,
                                           float *out, int causal)
{
    int row = threadIdx.x;
    float score[SEQ], top = -INFINITY, sum = 0;
    int n = causal ? row + 1 : SEQ;

#pragma unroll 1
    for (int j = 0; j < n; j++) {
        float s = 0;
        for (int d = 0; d < DIM; d++)
            s += q[row * DIM + d] * k[j * DIM + d];
        score[j] = s * 0.25f; /* 1 / sqrt(DIM) */
        top = fmaxf(top, score[j]);
    }
#pragma unroll 1
    for (int j = 0; j < n; j++) {
        score[j] = expf(score[j] - top);
        sum += score[j];
    }
#pragma unroll 1
    for (int d = 0; d < DIM; d++) {
        float o = 0;
#pragma unroll 2
        for (int j = 0; j < n; j++)
            o += score[j] * v[j * DIM + d];
        out[row * DIM + d] = o / sum;
    }
}
