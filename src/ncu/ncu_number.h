/* Numbers and units as Nsight Compute prints them: counts without decimals, all else with two; scaled units are
 * decimal. */
#ifndef WS_NCU_NUMBER_H
#define WS_NCU_NUMBER_H

#include <stdbool.h>

enum { NCU_NUMBER = 40, NCU_UNIT = 32 };

struct ncu_number {
  char value[NCU_NUMBER]; /* "n/a": not known */
  char unit[NCU_UNIT];
};

/* whole: a count. scale: "Kbyte" for byte where that reads better. fp: all decimals. */
struct ncu_number ncu_number(double value, const char *unit, bool whole, bool scale, bool fp);

#endif
