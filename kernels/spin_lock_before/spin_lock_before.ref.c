/* Reference of spin_lock_before: no update may be lost and the lock must be free. */
#include "../common/ref.h"

enum { THREADS = 64 };

int main(int argc, char **argv)
{
    /* sum of squares below THREADS in closed form */
    const uint32_t squares = (THREADS - 1) * THREADS * (2 * THREADS - 1) / 6;
    const uint32_t counter[2] = {THREADS, squares}, sum[1] = {THREADS};
    const int32_t lock[1] = {0};

    ref_init(argc, argv);
    REF_WRITE("lock.bin", lock);
    REF_WRITE("counter.bin", counter);
    REF_WRITE("sum.bin", sum);
    return 0;
}
