/* Reference of printf_demo: the host's printf. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static const char name[8] = "warp";
    static char text[4096];
    size_t n = 0;

#define PRINT(...) (n += (size_t)snprintf(text + n, sizeof text - n, __VA_ARGS__))

    ref_init(argc, argv);
    PRINT("no arguments\n");
    PRINT("%s: %lld %llu %d\n", name, -1234567890123LL, 18446744073709551615ULL, -5);
    PRINT("[%8d] [%-8d] [%08x] [%e] [%g]\n", 42, 42, 0xbeefu, 12345.678, 0.0001);
    for (int block = 0; block < 2; block++)
        for (unsigned t = 7; t < 64; t += 20) {
            PRINT("thread %u of block %d: %x\n", t, block, t * 0x1111u);
            PRINT("%s %c %f %5.2f%%\n", t < 32 ? "low" : "high", (char)('a' + (int)(t % 26)),
                  t * 0.125, (double)t / 4);
        }
    ref_write("printf.txt", text, n);
    REF_WRITE("name.bin", name);
    return 0;
}
