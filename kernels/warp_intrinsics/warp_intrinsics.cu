/*
 * Warp-wide intrinsics: reductions over partial masks (REDUX), matches of 32 and 64
 * bits, all four shuffles with widths, votes, active masks.
 */
extern "C" __global__ void warp_intrinsics(const unsigned *in, unsigned *out)
{
    unsigned lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned n = gridDim.x * blockDim.x, v = in[i], *o = out + i;
    unsigned part = lane % 3 == 0 ? 0x49249249 : lane % 3 == 1 ? 0x92492492 : 0x24924924;
    int all;

    o[0] = __reduce_add_sync(part, v);
    o[n] = __reduce_min_sync(part, v);
    o[2 * n] = (unsigned)__reduce_max_sync(part, (int)v);
    o[3 * n] = __reduce_and_sync(part, v | 0xff) ^ __reduce_or_sync(part, v & 0xff);
    o[4 * n] = __reduce_xor_sync(~0u, v);
    o[5 * n] = __match_any_sync(~0u, v % 5);
    o[6 * n] = __match_any_sync(~0u, (unsigned long long)(v % 3) << 40 | v % 2);
    o[7 * n] = __match_all_sync(part, lane % 3, &all);
    o[7 * n] += (unsigned)all;
    o[8 * n] = __match_all_sync(~0u, v, &all);
    o[8 * n] += (unsigned)all;
    o[9 * n] = __shfl_sync(~0u, v, lane * 5 + 3);
    o[10 * n] = __shfl_sync(~0u, v, lane * 5 + 3, 8);
    o[11 * n] = __shfl_up_sync(~0u, v, 3, 16);
    o[12 * n] = __shfl_down_sync(~0u, v, v % 8, 8);
    o[13 * n] = __shfl_xor_sync(~0u, v, 21);
    o[14 * n] = __ballot_sync(part, v & 1);
    o[15 * n] = (unsigned)__all_sync(part, v > 99) | (unsigned)__any_sync(part, v % 16 == 3) << 1;
    if (v & 4) {
        o[16 * n] = __activemask() & __ballot_sync(__activemask(), v & 8);
    }
    __syncwarp();
    double d = __shfl_xor_sync(~0u, (double)v, 1);
    o[17 * n] = (unsigned)d;
}
