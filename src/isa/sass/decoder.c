/* Words of one target, many of them: opcodes are looked up once, and so is what all words of a row have in common. */
#include "isa/sass/constant_fields.h"
#include "isa/sass/row.h"

/* A row that has an opcode; the first that has the word is its row. */
struct candidate {
  struct row_plan plan;
  uint16_t next; /* number of the next one; 0: there is none */
};

struct sass_decoder {
  unsigned sm;
  uint16_t n;                     /* candidates, from number 1 on */
  struct candidate *candidate;
  uint16_t first[SASS_OPCODES];   /* number, where the opcode was looked up; 0: there is none */
  uint64_t seen[SASS_OPCODES / 64]; /* opcodes that were */
};

struct sass_decoder *sass_decoder_new(struct arena *a, unsigned sm)
{
  struct sass_decoder *d = ARENA_NEW(a, struct sass_decoder);
  unsigned room = 1;
  for (unsigned i = 0; i < sass_n_rows; i++) room += bits_count(row_forms(&sass_rows[i], sm));
  d->sm = sm;
  d->candidate = ARENA_ARRAY(a, struct candidate, room);
  return d;
}

static void look_up(struct sass_decoder *d, unsigned opcode)
{
  uint16_t *link = &d->first[opcode];
  for (unsigned i = 0; i < sass_n_rows; i++) {
    if (!row_has_opcode(&sass_rows[i], d->sm, opcode)) continue;
    struct candidate *c = &d->candidate[++d->n];
    row_plan(&sass_rows[i], opcode_form(opcode), &c->plan);
    *link = d->n;
    link = &c->next;
  }
  d->seen[opcode / 64] |= UINT64_C(1) << opcode % 64;
}

bool sass_decoder_decode(struct sass_decoder *d, struct word128 w, uint64_t pc, struct sass_inst *s, struct inst *t,
                         struct err *e)
{
  const unsigned opcode = sass_opcode(w);
  if (!(d->seen[opcode / 64] >> opcode % 64 & 1)) look_up(d, opcode);
  unsigned k = d->first[opcode];
  while (k && !row_has_word(d->candidate[k].plan.row, w)) k = d->candidate[k].next;
  return row_decode(k ? &d->candidate[k].plan : NULL, d->sm, w, pc, s, t, e);
}
