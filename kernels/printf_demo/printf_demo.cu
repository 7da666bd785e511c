/*
 * Device printf: the compiler packs the arguments into a stack buffer and calls
 * the external function vprintf, which the loader provides.
 */
#include <cstdio>

extern "C" __global__ void printf_demo(const char *name, double scale)
{
    unsigned t = threadIdx.x;

    if (t % 20 == 7) {
        printf("thread %u of block %d: %x\n", t, blockIdx.x, t * 0x1111u);
        printf("%s %c %f %5.2f%%\n", t < 32 ? "low" : "high", 'a' + (int)(t % 26), t * scale,
               (double)t / 4);
    }
    if (t == 0 && blockIdx.x == 0) {
        printf("no arguments\n");
        printf("%s: %lld %llu %d\n", name, -1234567890123LL, 18446744073709551615ULL, -5);
        printf("[%8d] [%-8d] [%08x] [%e] [%g]\n", 42, 42, 0xbeefu, 12345.678, 0.0001);
    }
}
