/*
 * Reference of fp64_math: C's own division and square root, which IEEE 754
 * fixes, and libm's long double functions rounded to double.
 */
#include <float.h>

#include "../common/ref.h"

enum { N = 256 };

static const double special[] = {
    0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN,
    0x1p-1074, -0x1p-1074, 0x1.8p-1030, DBL_MIN, DBL_MAX, -DBL_MAX,
    1.0 - 0x1p-53, 1.0 + 0x1p-52, 0x1.fffffffffffffp-2, 0x1p53, 0x1p-54,
    709.78, 709.79, -708.4, -745.13, -745.14, 1e-10, /* exp: near overflow and underflow */
    3.141592653589793, 1.5707963267948966, 6.283185307179586, -3.141592653589793,
    1e5, 105615.0, 1e22, 1e300, 0x1.6ac5b262ca1ffp+849, /* sin: near multiples of pi/2 */
};
enum { SPECIAL = sizeof special / sizeof special[0] };

int main(int argc, char **argv)
{
    static double a[N], b[N], quot[N], root[N], e[N], l[N], s[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        if (i < SPECIAL) {
            a[i] = special[i];
            b[i] = special[(i * 5 + 3) % SPECIAL];
        } else if (i < 160) {
            a[i] = ref_uniform(20, i, -40.0, 40.0);
            b[i] = ref_uniform(21, i, -4.0, 4.0);
        } else {
            /* any sign and exponent */
            a[i] = ldexp(ref_uniform(22, i, -1.0, 1.0), (int)ref_uniform_int(23, i, -1073, 1023));
            b[i] = ldexp(ref_uniform(24, i, -1.0, 1.0), (int)ref_uniform_int(25, i, -1073, 1023));
        }
        quot[i] = a[i] / b[i];
        root[i] = sqrt(fabs(a[i]));
        e[i] = (double)expl((long double)a[i]);
        l[i] = (double)logl(fabsl((long double)a[i]));
        s[i] = (double)sinl((long double)a[i]);
    }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("quot.bin", quot);
    REF_WRITE("root.bin", root);
    REF_WRITE("e.bin", e);
    REF_WRITE("l.bin", l);
    REF_WRITE("s.bin", s);
    return 0;
}
