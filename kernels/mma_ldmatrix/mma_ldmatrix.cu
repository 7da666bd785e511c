/*
 * mma.sync.m16n8k16 in inline PTX, operands from shared memory by ldmatrix: FP16
 * with B stored K-major and transposed by ldmatrix.trans, then bfloat16 with B
 * stored N-major.  Fixes the fragment layouts that wmma hides.
 */
#define LD 24 /* row length of A and N-major B in shared memory, padded */
#define LDB 16 /* row length of K-major B */

typedef unsigned short u16;

static __device__ unsigned smem(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

extern "C" __global__ void mma_ldmatrix(const u16 *a, const u16 *b, float *d, const u16 *ba,
                                        const u16 *bb, float *bd, int n, int k)
{
    __shared__ __align__(16) u16 sa[16 * LD], sb[16 * LDB], sc[16 * LD], se[8 * LD];
    int lane = threadIdx.x;
    int row = blockIdx.y * 16, col = blockIdx.x * 8;
    int r = lane / 2, h = lane % 2 * 8;
    float acc[4] = {}, bacc[4] = {};
    unsigned f[4], g[2];

    for (int k0 = 0; k0 < k; k0 += 16) {
        *(uint4 *)&sa[r * LD + h] = *(const uint4 *)&a[(row + r) * k + k0 + h];
        *(uint4 *)&sc[r * LD + h] = *(const uint4 *)&ba[(row + r) * k + k0 + h];
        if (lane < 16) {
            /* b: 16 rows of k, 8 columns; bb: 8 rows of n, 16 values of k */
            *(uint4 *)&sb[lane * LDB] = *(const uint4 *)&b[(k0 + lane) * n + col];
            *(uint4 *)&se[r * LD + h] = *(const uint4 *)&bb[(col + r) * k + k0 + h];
        }
        __syncwarp();
        unsigned pa = smem(&sa[lane % 16 * LD + lane / 16 * 8]);
        unsigned pc = smem(&sc[lane % 16 * LD + lane / 16 * 8]);
        unsigned pb = smem(&sb[lane % 16 * LDB]);
        unsigned pe = smem(&se[lane % 8 * LD + lane / 8 % 2 * 8]);

        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(pa) : "memory");
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(g[0]), "=r"(g[1]) : "r"(pb) : "memory");
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
                     : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "r"(g[0]), "r"(g[1]));

        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(pc) : "memory");
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(g[0]), "=r"(g[1]) : "r"(pe) : "memory");
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(bacc[0]), "+f"(bacc[1]), "+f"(bacc[2]), "+f"(bacc[3])
                     : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "r"(g[0]), "r"(g[1]));
        __syncwarp();
    }
    for (int i = 0; i < 4; i++) {
        int p = (row + lane / 4 + i / 2 * 8) * n + col + lane % 4 * 2 + i % 2;
        d[p] = acc[i];
        bd[p] = bacc[i];
    }
}
