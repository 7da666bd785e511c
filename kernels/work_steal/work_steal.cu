// CTAs that run do the work of CTAs that have not been launched, one after another, until there is none left.
#include "../common/launch_control.cuh"

extern "C" __global__ void work_steal(const uint32_t *x, uint32_t *out, uint32_t *total)
{
    __shared__ launch_answer answer;
    uint32_t done = 0;
    launch_place at = {blockIdx.x, blockIdx.y, blockIdx.z, true};
    if (threadIdx.x == 0)
        launch_init(&answer);
    __syncthreads();
    for (uint32_t phase = 0; at.taken; phase ^= 1) {
        if (threadIdx.x == 0) {
            launch_expect(&answer);
            launch_ask(&answer);
        }
        uint32_t tile = at.x + gridDim.x * (at.y + gridDim.y * at.z), i = tile * blockDim.x + threadIdx.x;
        atomicAdd(&out[i], x[i] * 3 + (at.x << 16 ^ at.y << 8 ^ at.z));
        done++;
        launch_wait(&answer, phase);
        at = launch_read(&answer);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(&total[0], done);
        atomicOr(&total[1], done > 1);
    }
}
