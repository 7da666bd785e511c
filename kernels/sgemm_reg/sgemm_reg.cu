/*
 * C = A * B in FP32, 32x32 tile per CTA of 64 threads, 4x4 outputs per thread
 * in registers, 128-bit loads and stores.  The shape of a real SGEMM inner
 * loop: LDS.128, long runs of independent FFMA, register reuse.  All sizes are
 * multiples of the tile.
 */
#define TM 32
#define TK 16

extern "C" __global__ void sgemm_reg(const float *__restrict__ a, const float *__restrict__ b,
                                     float *__restrict__ c, int n, int k)
{
    __shared__ __align__(16) float ta[TK][TM + 4]; /* transposed; padded against bank conflicts */
    __shared__ __align__(16) float tb[TK][TM];
    int t = threadIdx.x;
    int row0 = blockIdx.y * TM, col0 = blockIdx.x * TM;
    int r = t / 8 * 4, s = t % 8 * 4; /* this thread's corner of the tile */
    float acc[4][4] = {};

    for (int k0 = 0; k0 < k; k0 += TK) {
        /* 32 x 16 floats of A: two float4 per thread, stored transposed */
        for (int i = t; i < TM * TK / 4; i += 64) {
            int ar = i / (TK / 4), ak = i % (TK / 4) * 4;
            float4 v = *(const float4 *)&a[(row0 + ar) * k + k0 + ak];
            ta[ak][ar] = v.x;
            ta[ak + 1][ar] = v.y;
            ta[ak + 2][ar] = v.z;
            ta[ak + 3][ar] = v.w;
        }
        for (int i = t; i < TM * TK / 4; i += 64) {
            int bk = i / (TM / 4), bc = i % (TM / 4) * 4;
            *(float4 *)&tb[bk][bc] = *(const float4 *)&b[(k0 + bk) * n + col0 + bc];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TK; i++) {
            float4 av = *(const float4 *)&ta[i][r];
            float4 bv = *(const float4 *)&tb[i][s];
            float x[4] = {av.x, av.y, av.z, av.w};
            float y[4] = {bv.x, bv.y, bv.z, bv.w};
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q < 4; q++)
                    acc[p][q] += x[p] * y[q];
        }
        __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < 4; p++)
        *(float4 *)&c[(row0 + r + p) * n + col0 + s] =
            make_float4(acc[p][0], acc[p][1], acc[p][2], acc[p][3]);
}
