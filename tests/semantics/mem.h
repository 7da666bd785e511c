/* Memory instructions: state with memory, addresses, reference (ref_mem.c, mem_rig.c). */
#ifndef WS_TESTS_SEMANTICS_MEM_H
#define WS_TESTS_SEMANTICS_MEM_H

#include "sem.h"

enum { GLOBAL_BYTES = 1024, SHARED_BYTES = 1024, LOCAL_BYTES = 64 };
#define SHARED_WINDOW 0x7f0000000000ull
#define LOCAL_WINDOW  0x7e0000000000ull

struct mem_state {
  struct state s;
  uint8_t global[GLOBAL_BYTES], shared[SHARED_BYTES], local[SEM_LANES][LOCAL_BYTES];
};

/* The address is Ra times `stride`, plus the uniform register unless it is a descriptor, plus the
 * offset; `wide`: Ra and UR are 64 bits. */
struct mem_form {
  bool wide_a, wide, ur;
  unsigned stride;
  int64_t offset;
};

/* One instruction before it executes. */
struct mem_in {
  const struct sass_inst *s;
  uint32_t active, exec, pp; /* lanes of the path; those that execute; a predicate source */
  uint64_t global_base;
  const uint8_t (*bank)[CONST_BYTES];
  struct mem_form form;
};

/* Semantics ids these tests run. */
bool mem_wanted(unsigned sem);

/* Bytes of one lane's access; 0: no rule for this word. */
unsigned mem_bytes(const struct sass_inst *s);

struct mem_form mem_form(const struct sass_inst *s);
uint64_t mem_address(const struct sass_inst *s, const struct mem_form *f, const struct state *st,
                     unsigned lane);

/* LDGSTS's address in shared memory, but for its register of each lane. */
uint32_t ldgsts_base(const struct sass_inst *, const struct state *);

/* Applies the instruction to *st. False: no rule. */
bool ref_mem(const struct mem_in *in, struct mem_state *st);

#endif
