/*
 * Gravity among 128 bodies: tiles of positions in shared memory, rsqrtf, softening;
 * one step of the accelerations.
 */
#define TILE 32

extern "C" __global__ void nbody(const float4 *body, float4 *acc, int n, float eps2)
{
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 me = body[i];
    float ax = 0, ay = 0, az = 0;

    for (int base = 0; base < n; base += TILE) {
        tile[threadIdx.x] = body[base + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < TILE; j++) {
            float4 b = tile[j];
            float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + eps2);
            float s = b.w * r * r * r;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    acc[i] = make_float4(ax, ay, az, 0);
}
