/* Reference of complex_half: complex arithmetic in double precision; all values are exact in the narrow formats. */
#include <complex.h>

#include "../common/ref.h"

enum { LANES = 32 };

static double complex number(uint64_t seed, int i)
{
    return (double)ref_uniform_int(seed, (uint64_t)(2 * i), -3, 3) +
           (double)ref_uniform_int(seed, (uint64_t)(2 * i + 1), -3, 3) * I;
}

static void put_half(uint16_t to[2], double complex v)
{
    to[0] = ref_f16((double)creal(v));
    to[1] = ref_f16((double)cimag(v));
}

int main(int argc, char **argv)
{
    static uint16_t a[LANES][2], b[LANES][2], out[LANES][2][2];
    static float c[LANES][2], wide[LANES][2];

    ref_init(argc, argv);
    for (int i = 0; i < LANES; i++) {
        double complex x = number(1, i), y = number(2, i), z = number(3, i);
        put_half(a[i], x), put_half(b[i], y);
        c[i][0] = (float)creal(z), c[i][1] = (float)cimag(z);
        double complex sum = x * y + number(2, LANES - 1 - i);
        put_half(out[i][0], sum);
        for (int k = 0; k < 2; k++)
            sum = sum * (0.5 - 0.5 * I) + x;
        put_half(out[i][1], sum);
        double complex w = z * number(3, LANES - 1 - i) + z;
        wide[i][0] = (float)creal(w), wide[i][1] = (float)cimag(w);
    }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("c.bin", c);
    REF_WRITE("out.bin", out);
    REF_WRITE("wide.bin", wide);
    return 0;
}
