/* Reference of atomic operations (ref_atom.c). */
#ifndef WS_TESTS_SEMANTICS_REF_ATOM_H
#define WS_TESTS_SEMANTICS_REF_ATOM_H

#include "sem.h"

enum atom_code { /* the first nine in the order of the operation field */
                 ATOM_ADD,
                 ATOM_MIN,
                 ATOM_MAX,
                 ATOM_INC,
                 ATOM_DEC,
                 ATOM_AND,
                 ATOM_OR,
                 ATOM_XOR,
                 ATOM_EXCH,
                 ATOM_CAS,
                 ATOM_CAST,
                 ATOM_BAD
};

bool ref_atom_is_float(enum sass_atom_type type);
unsigned ref_atom_words(enum sass_atom_type type);

/* r = the new value, ret = what the instruction returns (the old one; CAST: 1 where swapped). */
void ref_atom(enum atom_code op, enum sass_atom_type type, const uint32_t old[4],
              const uint32_t v[4], const uint32_t cmp[4], uint32_t r[4], uint32_t ret[4]);

#endif
