/* Floating point: rounding modes, flags, fused multiply-add, NaNs, conversions; as bits. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t bits(double d)
{
  uint64_t u;
  memcpy(&u, &d, 8);
  return u;
}

static uint32_t bits_f(float f)
{
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}

static const double value[] = {0.0, -0.0, 1.0, -1.5, 1.0 / 3, DBL_MIN, DBL_MIN / 8, 5e-324, DBL_MAX, -DBL_MAX, 1e300,
                               1e-300, INFINITY, -INFINITY, NAN, 0x1.fffffffffffffp-1, 0x1.0000000000001p0, 2.5, 3.5,
                               -2.5, 4294967295.5, 9.3e18, -9.3e18, 1.9e19, 0x1p-1050, 1e39, 1e-46};
enum { N = sizeof value / sizeof *value };

static uint64_t hash = 1469598103934665603ull;
static void mix(uint64_t v)
{
  hash = (hash ^ v) * 1099511628211ull;
}

static void all(double a, double b, double c)
{
  volatile double x = a, y = b, z = c;
  feclearexcept(FE_ALL_EXCEPT);
  mix(bits(x + y)), mix(bits(x - y)), mix(bits(x * y)), mix(bits(x / y)), mix(bits(fma(x, y, z)));
  mix(bits(sqrt(x))), mix(bits_f((float)x)), mix((uint64_t)fetestexcept(FE_ALL_EXCEPT));
  feclearexcept(FE_ALL_EXCEPT);
  volatile float f = (float)x, g = (float)y, h = (float)z;
  mix(bits_f(f + g)), mix(bits_f(f - g)), mix(bits_f(f * g)), mix(bits_f(f / g)), mix(bits_f(fmaf(f, g, h)));
  mix(bits_f(sqrtf(f))), mix(bits(f)), mix((uint64_t)fetestexcept(FE_ALL_EXCEPT));
  feclearexcept(FE_ALL_EXCEPT);
  mix(x < y), mix(x <= y), mix(x == y), mix(bits(fmin(x, y))), mix(bits(fmax(x, y)));
  long l;
  int w;
  unsigned long ul;
  unsigned uw;
  __asm__ volatile("fcvt.l.d %0, %1" : "=r"(l) : "f"(x));
  __asm__ volatile("fcvt.w.d %0, %1, rtz" : "=r"(w) : "f"(x));
  __asm__ volatile("fcvt.lu.d %0, %1, rmm" : "=r"(ul) : "f"(x));
  __asm__ volatile("fcvt.wu.s %0, %1, rup" : "=r"(uw) : "f"(f));
  mix((uint64_t)l), mix((uint64_t)w), mix(ul), mix(uw), mix((uint64_t)fetestexcept(FE_ALL_EXCEPT));
  double d;
  __asm__ volatile("fadd.d %0, %1, %2, rmm" : "=f"(d) : "f"(x), "f"(y));
  mix(bits(d));
  __asm__ volatile("fmul.d %0, %1, %2, rmm" : "=f"(d) : "f"(x), "f"(y));
  mix(bits(d));
  __asm__ volatile("fmadd.d %0, %1, %2, %3, rmm" : "=f"(d) : "f"(x), "f"(y), "f"(z));
  mix(bits(d));
  float e;
  __asm__ volatile("fdiv.s %0, %1, %2, rmm" : "=f"(e) : "f"(f), "f"(g));
  mix(bits_f(e));
  __asm__ volatile("fcvt.s.d %0, %1, rmm" : "=f"(e) : "f"(x));
  mix(bits_f(e)), mix((uint64_t)fetestexcept(FE_ALL_EXCEPT));
}

int main(void)
{
  static const int mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, 4};
  for (int m = 0; m < 5; m++) {
    __asm__ volatile("fsrm %0" : : "r"(mode[m]));
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        for (int k = 0; k < N; k += 3) all(value[i], value[j], value[k]);
    printf("mode %d: %016lx\n", mode[m], (unsigned long)hash);
  }
  fesetround(FE_TONEAREST);
  printf("%a %a %.17g %g\n", 1.0 / 3, (double)(1.0f / 3), exp(1.5), sin(1e6));
  return 0;
}
