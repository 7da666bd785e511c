#include "isa/sass/sass_isa.h"

#include "isa/sass/asm.h"
#include "isa/sass/sass.h"
#include "isa/sass/sass_flow.h"

static const struct sass_inst *at_index(const void *decoded, uint64_t i)
{
  return &((const struct sass_inst *)decoded)[i];
}

static int print(const void *decoded, uint64_t i, const struct inst *at, char *buf, size_t size)
{
  return sass_print(at_index(decoded, i), at, false, buf, size);
}

static int form(const void *decoded, uint64_t i, char *buf, size_t size)
{
  return sass_print_mnemonic(at_index(decoded, i), buf, size);
}

static uint64_t immediate(const void *decoded, uint64_t i)
{
  const struct sass_inst *s = at_index(decoded, i);
  uint64_t v = 0;
  for (unsigned k = 0; k < 3; k++)
    if (s->src[k].kind == SRC_IMM) v = s->src[k].imm;
  return v;
}

static struct isa_barrier barrier(const void *decoded, uint64_t i)
{
  enum { ARRIVE = 1 };
  const struct sass_inst *s = at_index(decoded, i);
  struct isa_barrier b = {.waits = sass_get(s, FLD_BAR_OP) != ARRIVE, .known = s->src[0].kind == SRC_IMM};
  if (b.known) b.id = s->src[0].imm;
  if (s->src[1].kind == SRC_IMM) b.threads = s->src[1].imm;
  return b;
}

static struct code_flow flow(const void *decoded, uint64_t i, const struct inst *at)
{
  return sass_flow(at_index(decoded, i), at);
}

/* R1 is the stack pointer, R4 to R15 are parameters, R20 and R21 hold the address that RET goes to (compiler output,
 * CUDA 13.0, -rdc=true). */
static const struct isa_abi abi = {
  .reserved = {.file = FILE_R, .index = 1, .width = 1},
  .parameters = {.file = FILE_R, .index = 4, .width = 12},
  .link = {.file = FILE_R, .index = 20, .width = 2},
};

const struct isa sass_isa = {
  .name = "SASS", .n_mnemonics = sass_mnemonic_count, .mnemonic = sass_mnemonic, .print = print, .form = form,
  .immediate = immediate, .barrier = barrier, .like = sass_like, .flow = flow, .abi = &abi, .work = sass_work,
};
