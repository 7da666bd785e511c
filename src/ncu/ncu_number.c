#include "ncu/ncu_number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Units that are scaled, and their steps of 1000. */
static const struct {
  const char *unit, *step[5];
} scales[] = {{"ns", {"ns", "us", "ms", "s"}},
              {"hz", {"hz", "Khz", "Mhz", "Ghz"}},
              {"byte", {"byte", "Kbyte", "Mbyte", "Gbyte", "Tbyte"}}};

/* The unit, and what is behind it as in byte/second, in steps of 1000. */
static double scaled(double v, const char *unit, char *out, size_t size)
{
  for (unsigned i = 0; i < sizeof scales / sizeof *scales; i++) {
    const size_t n = strlen(scales[i].unit);
    unsigned step = 0;
    if (strncmp(unit, scales[i].unit, n) != 0 || (unit[n] && unit[n] != '/')) continue;
    while (fabs(v) >= 1000 && step + 1 < 5 && scales[i].step[step + 1]) v /= 1000, step++;
    snprintf(out, size, "%s%s", scales[i].step[step], unit + n);
    return v;
  }
  snprintf(out, size, "%s", unit);
  return v;
}

struct ncu_number ncu_number(double value, const char *unit, bool whole, bool scale, bool fp)
{
  struct ncu_number n;
  const double v = scale ? scaled(value, unit, n.unit, sizeof n.unit) : value;
  if (!scale) snprintf(n.unit, sizeof n.unit, "%s", unit);
  const bool same = v == value; /* what was scaled is no count any more */
  if (!isfinite(value))
    snprintf(n.value, sizeof n.value, "n/a");
  else if (fp)
    snprintf(n.value, sizeof n.value, fabs(v) < 1e15 ? "%.6f" : "%.16g", v);
  else if (whole && same && v == floor(v))
    snprintf(n.value, sizeof n.value, fabs(v) < 1e18 ? "%.0f" : "%.16g", v);
  else
    snprintf(n.value, sizeof n.value, fabs(v) < 1e15 ? "%.2f" : "%.16g", v);
  return n;
}
