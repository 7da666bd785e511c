/* Reference of divergence: lane by lane, and loops over the warp for votes. */
#include "../common/ref.h"

enum { N = 256, ROWS = 11 };

static uint32_t in[N];
static int32_t out[ROWS][N];

static uint32_t bits_of(uint32_t v)
{
    uint32_t n = 0;
    for (; v; v >>= 1)
        n += v & 1;
    return n;
}

static uint32_t zeros_above(uint32_t v)
{
    uint32_t n = 32;
    for (; v; v >>= 1)
        n--;
    return n;
}

static uint32_t pick(uint32_t x)
{
    /* all alternatives at once; unsigned arithmetic wraps like the device's */
    const uint32_t choice[16] = {
        x * 3, x ^ 0x55, x - 100, x / 8, x % 7, x * x, bits_of(x), ~x, x | 0x1000, x & 0x0ff0,
        x / 11, zeros_above(x), x << 5, 77, 77, 77,
    };
    return choice[x % 16];
}

static int32_t nested(uint32_t x, unsigned lane)
{
    int32_t low5 = (int32_t)(x % 32);

    if (x % 2 == 0)
        return (int32_t)(lane / 8 % 2 ? x % 13 : x % 17);
    if (x / 2 % 2)
        return 2 * (lane < 7 ? 33 : 11 - low5);
    return x / 4 % 2 ? 202 : 2;
}

static int32_t collatz(uint32_t v)
{
    return v == 1 ? 0 : 1 + collatz(v % 2 ? 3 * v + 1 : v / 2);
}

static int32_t broken_loops(uint32_t x, unsigned lane)
{
    uint32_t sum = 0, stop = x / 8 % 8;

    for (uint32_t a = 0; a <= x % 8; a++)
        if (a != 3)
            for (uint32_t b = 0; b < 6 && a + b != stop; b++)
                sum += in[(a * 8 + b + lane) % N] % 16;
    return (int32_t)sum;
}

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (unsigned i = 0; i < N; i++)
        in[i] = (uint32_t)ref_uniform_int(70, i, 0, 1000000);
    for (unsigned i = 0; i < N; i++) {
        unsigned lane = i % 32, first = i - lane;
        const uint32_t *warp = in + first;
        uint32_t x = in[i];
        uint32_t odd = 0, any = 0, all = 1, equal = 0, second = 0, lane_sum = 0, leader = 0;

        for (unsigned k = 32; k-- > 0;) {
            uint32_t w = warp[k], bit = 1u << k;
            any |= w % 61 == 0;
            all &= w % 61 != 5;
            equal |= w % 5 == x % 5 ? bit : 0;
            if (w % 2) {
                odd |= bit;
                lane_sum += k;
                leader = w; /* ends as the lowest odd lane's */
            } else if (w / 2 % 2) {
                second |= bit;
            }
        }
        out[0][i] = nested(x, lane);
        out[1][i] = (int32_t)pick(x);
        out[2][i] = collatz(x % 64 + 1);
        out[3][i] = broken_loops(x, lane);
        out[4][i] = (int32_t)odd;
        out[5][i] = (int32_t)(2 * any + all);
        out[6][i] = (int32_t)equal;
        out[7][i] = 0; /* all lanes match: mask of ones, plus 1 */
        out[8][i] = (int32_t)(x % 2 ? leader + lane_sum : second);
        out[9][i] = x % 3 == 0 ? 1 : 2;
        out[10][i] = x % 7 == 0 ? 0 : x % 11 == 0 ? 1 : 2 + (int32_t)(x % 4);
    }
    REF_WRITE("out.bin", out);
    return 0;
}
