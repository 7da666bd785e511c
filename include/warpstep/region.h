/* Where a program of a simulated CPU (RISC-V) says what part of it is of interest: `warpstep exec --fast-forward region` runs what comes before
 * without time, and reports tell how long regions took (docs/rv64.md). Elsewhere these do nothing. */
#ifndef WARPSTEP_REGION_H
#define WARPSTEP_REGION_H

#if defined(__riscv) && __riscv_xlen == 64
/* A system call whose number no system has: others than warpstep answer ENOSYS. */
static inline void warpstep_region_call(unsigned long number)
{
  register unsigned long a7 __asm__("a7") = number;
  register long a0 __asm__("a0") = 0;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7) : "memory");
}
#else
static inline void warpstep_region_call(unsigned long number)
{
  (void)number;
}
#endif

static inline void warpstep_region_begin(void)
{
  warpstep_region_call(0x57540001ul);
}

static inline void warpstep_region_end(void)
{
  warpstep_region_call(0x57540002ul);
}

#endif
