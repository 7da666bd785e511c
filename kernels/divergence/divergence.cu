/*
 * Divergent control flow: nested ifs, a switch,
 * loops with different trip counts, break and continue, votes and matches under
 * full and partial masks, early return.  Reconvergence is BSSY/BSYNC.
 */
static __device__ int pick(int x)
{
    switch (x & 15) {
    case 0: return x * 3;
    case 1: return x ^ 0x55;
    case 2: return x - 100;
    case 3: return x >> 3;
    case 4: return x % 7;
    case 5: return (int)((unsigned)x * x);
    case 6: return __popc(x);
    case 7: return ~x;
    case 8: return x | 0x1000;
    case 9: return x & 0x0ff0;
    case 10: return x / 11;
    case 11: return __clz(x);
    case 12: return x << 5;
    default: return 77;
    }
}

static __device__ int nested(int x, int lane)
{
    int r = 0;
    if (x & 1) {
        r += 1;
        if (x & 2) {
            r += 10;
            if (lane < 7)
                r *= 3;
            else
                r -= x & 31;
        } else if (x & 4) {
            r += 100;
        }
        r <<= 1;
    } else {
        r = lane & 8 ? x % 13 : x % 17;
    }
    return r;
}

extern "C" __global__ void divergence(const int *in, int *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x % 32;
    int x = in[i];
    int *o = out + i;

    o[0 * n] = nested(x, (int)lane);
    o[1 * n] = pick(x);

    /* different trip counts: steps of the Collatz sequence */
    int steps = 0;
    for (unsigned v = (x & 63) + 1; v != 1; steps++)
        v = v & 1 ? 3 * v + 1 : v / 2;
    o[2 * n] = steps;

    /* a break inside two loops, continue */
    int sum = 0;
    for (int a = 0; a < (x & 7) + 1; a++) {
        if (a == 3)
            continue;
        for (int b = 0; b < 6; b++) {
            if (a + b == (x >> 3 & 7))
                break;
            sum += in[(a * 8 + b + lane) % n] & 15;
        }
    }
    o[3 * n] = sum;

    /* votes with all lanes */
    o[4 * n] = (int)__ballot_sync(~0u, x & 1);
    o[5 * n] = __any_sync(~0u, x % 61 == 0) * 2 + __all_sync(~0u, x % 61 != 5);
    o[6 * n] = (int)__match_any_sync(~0u, x % 5);
    int same;
    o[7 * n] = (int)__match_all_sync(~0u, x >> 30, &same) + same;

    /* votes, shuffles and reductions among the lanes of one branch */
    bool odd = x & 1;
    unsigned odds = __ballot_sync(~0u, odd);
    int r;
    if (odd) {
        r = __shfl_sync(odds, x, __ffs(odds) - 1);
        r += __reduce_add_sync(odds, (int)lane);
        __syncwarp(odds);
    } else {
        r = (int)__ballot_sync(~odds, x & 2);
    }
    o[8 * n] = r;

    /* which lanes run together is up to the scheduler, but a lane always runs
       with itself and never with the other side of its branch */
    unsigned threes = __ballot_sync(~0u, x % 3 == 0);
    if (x % 3 == 0) {
        unsigned m = __activemask();
        o[9 * n] = (m >> lane & 1) && (m & ~threes) == 0;
    } else {
        o[9 * n] = 2;
    }

    if (x % 7 == 0)
        return;
    o[10 * n] = 1;
    if (x % 11 == 0)
        return;
    o[10 * n] = 2 + (x & 3);
}
