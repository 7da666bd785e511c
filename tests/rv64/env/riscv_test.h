/* Environment of the official riscv-tests for a program of user mode on Linux: a test begins at _start and ends by the
 * system call exit, with 0, or with the number of the test that failed.
 */
#ifndef WS_RISCV_TEST_H
#define WS_RISCV_TEST_H

#define TESTNUM gp

#define RVTEST_RV64U
#define RVTEST_RV64UF

#define RVTEST_CODE_BEGIN \
  .section .text.init;    \
  .globl _start;          \
  _start:                 \
  li TESTNUM, 0;

#define RVTEST_CODE_END unimp

#define RVTEST_PASS \
  li a0, 0;         \
  li a7, 93;        \
  ecall;

#define RVTEST_FAIL   \
  mv a0, TESTNUM;     \
  bnez a0, 1f;        \
  li a0, 255;         \
  1: li a7, 93;       \
  ecall;

#define EXTRA_DATA
#define RVTEST_DATA_BEGIN .align 4; .global begin_signature; begin_signature:
#define RVTEST_DATA_END   .align 4; .global end_signature; end_signature:

#endif
