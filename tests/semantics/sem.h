/* Random differential tests of instruction semantics: shared types.
 *
 * gen.c builds legal instruction words from the rows of isa/sass and fills registers with
 * adversarial values; rig.c lets func/ prepare and step them as a launch does, on every x86-64
 * level the host has; ref_*.c say what must come out. The references share no code with src/func:
 * integer C, MPFR for floating point, bit-by-bit loops for what moves bits. They are written from
 * the PTX ISA, the CUDA programming guide and Mesa NAK; each rule that these leave open is stated
 * where it is used.
 */
#ifndef WS_TESTS_SEMANTICS_SEM_H
#define WS_TESTS_SEMANTICS_SEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "isa/sass/row.h"
#include "isa/sass/sass.h"

enum { SEM_LANES = 32, REF_ROWS = 16, N_REGS = 64, N_UREG = 60, CONST_BYTES = 256, N_BANK = 3 };

/* ---- random numbers: xorshift64*, one stream, seeded once ------------------------------------ */

struct rng {
  uint64_t x;
};

static inline uint64_t rnd64(struct rng *r)
{
  r->x ^= r->x << 13;
  r->x ^= r->x >> 7;
  r->x ^= r->x << 17;
  return r->x * 0x2545f4914f6cdd1du;
}

static inline uint32_t rnd(struct rng *r)
{
  return (uint32_t)(rnd64(r) >> 32);
}

static inline uint32_t below(struct rng *r, uint32_t n)
{
  return (uint32_t)((uint64_t)rnd(r) * n >> 32);
}

/* ---- state and references -------------------------------------------------------------------- */

/* Everything an instruction of these tests can read or write. Uniform registers and predicates are alike in the lanes of
 * the path that executes; in the others is what another path has there, which must stay. */
struct state {
  uint32_t reg[N_REGS][SEM_LANES], ureg[N_UREG][SEM_LANES];
  uint32_t pred[16]; /* 0..6 P, 8..14 UP, 7 and 15 true */
};

/* One instruction and the values its operands have in every lane. */
struct ref_in {
  const struct sass_inst *s;
  unsigned sem; /* of the vector twin for the uniform datapath */
  unsigned sm;
  const struct state *before;
  uint32_t src[3][REF_ROWS][SEM_LANES]; /* a, b, c as stored, row by row */
  uint32_t pp, pq, pr;                  /* predicate sources after negation, by lane */
  uint32_t active, exec;                /* lanes of the path; those that execute */
};

/* What must come out. Rows of d beyond `rows` stay as they are. */
struct ref_out {
  uint32_t d[REF_ROWS][SEM_LANES];
  unsigned rows;
  uint32_t exec;   /* lanes written; the reference may take some away */
  uint32_t pu, pv; /* values by lane; only written where the instruction names one */
  bool no_pv;      /* Pv stays */
  uint32_t pred_write[7], pred_value[7]; /* R2P: lanes and values of each predicate */
  uint32_t pu_any;                       /* lanes whose Pu may be either */
  bool bounded; /* d[0] is a number in [lo, hi] of the format, or has exactly the bits of
                                d[0] where lo > hi */
  double lo[SEM_LANES], hi[SEM_LANES];
  enum { AS_F32, AS_F16, AS_BF16, AS_F64_HIGH } bound_format;
  bool any_nan64; /* an FP64 result that is NaN matches any quiet NaN */
};

typedef bool ref_fn(const struct ref_in *, struct ref_out *); /* false: no rule for this word */

ref_fn ref_int, ref_int64, ref_f32, ref_half, ref_f64, ref_cvt, ref_mufu, ref_mma, ref_warp;

/* The vector instruction of the same meaning, or sem itself. */
unsigned ref_vector_sem(unsigned sem);
/* The reference of a semantics id, NULL where these tests have none. */
ref_fn *ref_of(unsigned sem);

static inline uint64_t get(const struct ref_in *in, enum sass_field_id id)
{
  return sass_get(in->s, id);
}

static inline uint64_t pair(const struct ref_in *in, unsigned src, unsigned row, unsigned lane)
{
  return in->src[src][row][lane] | (uint64_t)in->src[src][row + 1][lane] << 32;
}

static inline uint32_t lane_of(uint32_t mask, unsigned lane)
{
  return mask >> lane & 1;
}

/* ---- generator ------------------------------------------------------------------------------- */

/* Kinds of numbers an operand is filled with. */
enum value_kind { VAL_INT, VAL_F32, VAL_F16, VAL_BF16, VAL_F64, VAL_F64_HIGH, VAL_F8, VAL_NARROW };

/* A value of the kind; FP64: its high word when high, else the low one. */
uint32_t gen_value(struct rng *r, enum value_kind k);
uint64_t gen_f64(struct rng *r);
/* The kind a source of s is read as. */
enum value_kind gen_kind(const struct sass_inst *s, unsigned sem, unsigned src);
/* Fills the registers s reads, with all rows of wide operands. */
/* Uniform registers and predicates outside the path: what another one has written. */
void other_paths(struct rng *r, struct state *st, uint32_t active);
void gen_sources(struct rng *r, const struct sass_inst *s, unsigned sem, struct state *st);
/* Number of combinations of the row's modifiers (a cap applies); word number `combo` of them, with
 * random operands. False: this one has no instruction (nothing decodes it back to this row). */
unsigned gen_combinations(const struct sass_row *row);
bool gen_word(struct rng *r, const struct sass_row *row, unsigned form, unsigned sm, unsigned combo,
              struct word128 *w);

/* ---- rig ------------------------------------------------------------------------------------- */

struct tally {
  unsigned rows, forms; /* instruction rows and operand forms that were executed */
  unsigned words;       /* different instruction words */
  uint64_t sets;        /* operand sets: lanes that executed, counted once for all levels */
  unsigned refused;     /* forms of which no word executes */
  unsigned failures;
};

/* Runs every row whose semantics id `wanted` accepts; each (row, form, target) gets `sets` operand
 * sets. Prints failures to stderr. */
void rig_all(bool (*wanted)(unsigned sem), unsigned long sets, struct tally *t);

#endif
