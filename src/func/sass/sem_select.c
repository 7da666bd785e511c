/* Tables of ALU handlers, and the choice among them. The level changes speed only. SEM_ONE_LEVEL: there is but the
 * lowest (mk/flags.mk). */
#include "func/sass/uop.h"

#define SEM_TABLE(level)                                                                           \
  &sem_lane_ops_##level,                                                                         \
  {                                                                                                \
    sem_int_handler_##level, sem_uniform_handler_##level, sem_fp_handler_##level,                  \
        sem_fp64_handler_##level, sem_conv_handler_##level, sem_mma_handler_##level,               \
        sem_across_handler_##level                                                                 \
  }

static const struct sem_table sem_v1 = {"x86-64", SEM_TABLE(v1)};
#ifndef SEM_ONE_LEVEL
static const struct sem_table sem_v3 = {"x86-64-v3", SEM_TABLE(v3)};
static const struct sem_table sem_v4 = {"x86-64-v4", SEM_TABLE(v4)};
#endif

const struct sem_table *sem_select(unsigned level)
{
#ifdef SEM_ONE_LEVEL
  return level <= 1 ? &sem_v1 : NULL;
#else
  /* Feature by feature, not by level name: older compilers know only the features. */
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
            __builtin_cpu_supports("popcnt");
  bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl");
  switch (level) {
  case 0: return v4 ? &sem_v4 : v3 ? &sem_v3 : &sem_v1;
  case 1: return &sem_v1;
  case 3: return v3 ? &sem_v3 : NULL;
  case 4: return v4 ? &sem_v4 : NULL;
  default: return NULL;
  }
#endif
}
