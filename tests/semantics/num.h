/* Small binary formats through MPFR: exact values in, one rounding out.
 *
 * An operation is done in MPFR's own wide exponent range at the format's precision; num_to then
 * restricts the range, with MPFR's knowledge of the direction it rounded in, so that overflow and
 * subnormal results are those of a single rounding.
 */
#ifndef WS_TESTS_SEMANTICS_NUM_H
#define WS_TESTS_SEMANTICS_NUM_H

#include <stdbool.h>
#include <stdint.h>

#include <mpfr.h>

struct fmt {
  unsigned prec, ebits; /* significand with its hidden bit, exponent field */
};

extern const struct fmt NUM_F16, NUM_BF16, NUM_TF32, NUM_F32, NUM_F64;

/* Variables of one operation: initialised once, 64 bits wide unless a result sets its precision. */
struct num {
  mpfr_t x, y, z, r;
};

void num_init(struct num *n);
void num_free(struct num *n);

/* Modes of the RND field: nearest even, down, up, toward zero. */
mpfr_rnd_t num_mode(uint64_t rnd);

/* x = the number with these bits (NaN and infinities included). */
void num_from(mpfr_t x, uint64_t bits, struct fmt f);
/* Bits of y, which was rounded to f.prec bits with ternary value t in mode m. NaN: all ones but the
 * sign. */
uint64_t num_to(mpfr_t y, int t, struct fmt f, mpfr_rnd_t m);

bool num_is_nan(uint64_t bits, struct fmt f);
bool num_is_subnormal(uint64_t bits, struct fmt f);
uint64_t num_sign(struct fmt f);
uint64_t num_inf(struct fmt f);
uint64_t num_nan(struct fmt f); /* canonical: all ones but the sign */
uint64_t num_one(struct fmt f);

#endif
