/*
 * Attention with an online softmax: 16 queries per CTA, tiles of 16 keys and values
 * in shared memory, running maximum and sum per query rescaled from tile to tile.
 * Eight lanes share a query: each owns two scores and two output columns.
 */
#define SEQ 64
#define DIM 16
#define TILE 16
#define LANES 8

extern "C" __global__ void attention_flash(const float *q, const float *k, const float *v,
                                           float *out)
{
    __shared__ float sq[TILE][DIM + 1], sk[TILE][DIM + 1], sv[TILE][DIM], sp[TILE][TILE + 1];
    int t = threadIdx.x, row = t / LANES, lane = t % LANES;
    float top = -INFINITY, sum = 0, o0 = 0, o1 = 0;

    for (int i = t; i < TILE * DIM; i += TILE * LANES)
        sq[i / DIM][i % DIM] = q[blockIdx.x * TILE * DIM + i] * 0.25f;
    for (int k0 = 0; k0 < SEQ; k0 += TILE) {
        for (int i = t; i < TILE * DIM; i += TILE * LANES) {
            sk[i / DIM][i % DIM] = k[k0 * DIM + i];
            sv[i / DIM][i % DIM] = v[k0 * DIM + i];
        }
        __syncthreads();
        float s0 = 0, s1 = 0;
        for (int d = 0; d < DIM; d++) {
            s0 += sq[row][d] * sk[lane][d];
            s1 += sq[row][d] * sk[lane + LANES][d];
        }
        float m = fmaxf(s0, s1);
        for (int x = LANES / 2; x > 0; x /= 2)
            m = fmaxf(m, __shfl_xor_sync(~0u, m, x));
        m = fmaxf(top, m);
        float scale = expf(top - m); /* 0 in the first tile */
        float p0 = expf(s0 - m), p1 = expf(s1 - m), part = p0 + p1;
        for (int x = LANES / 2; x > 0; x /= 2)
            part += __shfl_xor_sync(~0u, part, x);
        sum = sum * scale + part;
        top = m;
        sp[row][lane] = p0;
        sp[row][lane + LANES] = p1;
        __syncwarp(); /* a row lies within one warp */
        o0 *= scale;
        o1 *= scale;
        for (int j = 0; j < TILE; j++) {
            o0 += sp[row][j] * sv[j][lane];
            o1 += sp[row][j] * sv[j][lane + LANES];
        }
        __syncthreads();
    }
    float *o = &out[(blockIdx.x * TILE + row) * DIM];
    o[lane] = o0 / sum;
    o[lane + LANES] = o1 / sum;
}
