/* Arithmetic work of a run, counted as profilers count it: dynamic operations of threads. */
#ifndef WS_ISA_WORK_H
#define WS_ISA_WORK_H

#include <stdint.h>

enum work_kind { WORK_FP16, WORK_FP32, WORK_FP64, WORK_INTEGER, WORK__N };

struct work {
  uint64_t ops[WORK__N];
};

/* "fp16", "fp32", "fp64", "integer". */
const char *work_kind_name(enum work_kind);

#endif
