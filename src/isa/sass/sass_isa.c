#include "isa/sass/sass_isa.h"

#include "isa/sass/sass.h"

static int print(const void *decoded, uint64_t i, const struct inst *at, char *buf, size_t size)
{
  return sass_print(&((const struct sass_inst *)decoded)[i], at, false, buf, size);
}

const struct isa sass_isa = {
  .name = "SASS", .n_mnemonics = sass_mnemonic_count, .mnemonic = sass_mnemonic, .print = print, .work = sass_work,
};
