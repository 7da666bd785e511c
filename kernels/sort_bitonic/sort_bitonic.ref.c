/* Reference of sort_bitonic: qsort of pairs with distinct keys. */
#include "../common/ref.h"

enum { N = 512, BLOCKS = 2 };

struct pair {
    uint32_t key, value;
};

static int compare(const void *x, const void *y)
{
    const struct pair *p = x, *q = y;
    return (p->key > q->key) - (p->key < q->key);
}

int main(int argc, char **argv)
{
    static uint32_t key[BLOCKS * N], value[BLOCKS * N];
    static struct pair pair[BLOCKS * N];

    ref_init(argc, argv);
    for (uint32_t i = 0; i < BLOCKS * N; i++) {
        /* a multiplication by an odd number is a bijection: no key comes twice */
        key[i] = pair[i].key = (i + 1) * 0x9E3779B1u;
        value[i] = pair[i].value = i * 7;
    }
    REF_WRITE("key_in.bin", key);
    REF_WRITE("value_in.bin", value);
    for (int b = 0; b < BLOCKS; b++)
        qsort(pair + b * N, N, sizeof pair[0], compare);
    for (int i = 0; i < BLOCKS * N; i++) {
        key[i] = pair[i].key;
        value[i] = pair[i].value;
    }
    REF_WRITE("key.bin", key);
    REF_WRITE("value.bin", value);
    return 0;
}
