/* Floating point of RV64 (extensions F and D) on registers' bits: 64 of them, single precision NaN-boxed.
 *
 * Functions of operands alone round as the host's unit is set and leave exceptions in its flags. Source: The RISC-V
 * Instruction Set Manual, volume I, version 20191213, chapters 11 and 12.
 */
#ifndef WS_FUNC_RV64_RV64_FP_H
#define WS_FUNC_RV64_RV64_FP_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/rv64/rv64.h"

#define RV64_BOX 0xffffffff00000000ull

/* An operation with up to three operands. */
typedef uint64_t rv64_fp_fn(uint64_t a, uint64_t b, uint64_t c);

/* Those that round: arithmetic, square root, fused multiply-add, conversions to floating point. */
#define RV64_FP_ROUNDED(X) X(fadd) X(fsub) X(fmul) X(fdiv) X(fsqrt) X(fmadd) X(fmsub) X(fnmsub) X(fnmadd) \
                           X(fcvt_w) X(fcvt_wu) X(fcvt_l) X(fcvt_lu)
#define X(name) rv64_fp_fn rv64_##name##_s, rv64_##name##_d;
RV64_FP_ROUNDED(X)
#undef X
rv64_fp_fn rv64_fcvt_s_d, rv64_fcvt_d_s;

/* Those that do not. */
#define RV64_FP_EXACT(X) X(fsgnj) X(fsgnjn) X(fsgnjx) X(fmin) X(fmax) X(feq) X(flt) X(fle) X(fclass)
#define X(name) rv64_fp_fn rv64_##name##_s, rv64_##name##_d;
RV64_FP_EXACT(X)
#undef X

/* `fn`, which is what instruction `op` does, in a rounding mode other than RV64_RNE. */
uint64_t rv64_fp_rounded(rv64_fp_fn *fn, unsigned op, enum rv64_rounding, uint64_t a, uint64_t b, uint64_t c);
/* The same in RV64_RMM, which the host's unit has not: to nearest, ties away from zero. */
uint64_t rv64_fp_rmm(rv64_fp_fn *fn, unsigned op, uint64_t a, uint64_t b, uint64_t c);

/* A number as an integer of so many bits, 32 or 64, as FCVT gives it to a register; exceptions are added to *fflags.
 * value: of double precision. */
uint64_t rv64_fp_to_int(uint64_t value, unsigned bits, bool is_signed, enum rv64_rounding, uint8_t *fflags);
/* Single precision as double, for the above: exact, without exceptions. */
uint64_t rv64_fp_widen(uint64_t value);

/* fflags of the exceptions in the host's flags, which are cleared. */
uint8_t rv64_fp_collect(void);

#endif
