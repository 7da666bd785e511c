/* A cubin: parsed, questioned, instantiated. */
#include <string.h>

#include "base/host_memory.h"
#include "fuzz.h"
#include "base/bug.h"
#include "load/debug_info.h"
#include "load/module.h"

static void use_kernels(const struct module *m, const struct module_instance *in)
{
  char text[200];
  uint32_t bytes;
  for (unsigned i = 0; i < module_kernel_count(m); i++) {
    const struct module_kernel *k = module_kernel_at(m, i);
    module_where(m, k->entry_pc, text, sizeof text);
    for (unsigned b = 0; in && b < MODULE_BANKS; b++) {
      const uint8_t *bank = module_bank(in, k, b, &bytes);
      BUG_ON((bank == NULL) != (bytes == 0) && bank == NULL);
    }
    if (in && i < 4) module_moves_stack(in, k);
    if (in && i < 4) module_names_bank0(in, true, k->param_base);
  }
}

static void use_symbols(const struct module *m, struct module_instance *in)
{
  for (unsigned i = 0; i < module_symbol_count(m); i++) {
    uint8_t value[8] = {0};
    const struct module_symbol *s = module_symbol_at(m, i);
    if (module_variable_read(in, s, value, s->bytes < 8 ? s->bytes : 8))
      module_variable_write(in, s, value, s->bytes < 8 ? s->bytes : 8);
  }
}

/* What the compiler says of variables: places of all of them at some offsets. */
static void use_variables(const struct module *m)
{
  struct debug_info d;
  debug_info_read(m, &d);
  for (uint32_t i = 0; i < d.n_variables && i < 64; i++)
    for (uint64_t at = 0; at < 256; at += 16) {
      const struct debug_variable *v = debug_info_find(&d, d.variable[i].function, at, d.variable[i].name);
      const struct debug_place *p = v ? debug_variable_place(v, at) : NULL;
      if (p) debug_info_register(&d, v->function, at, p->at, 0);
    }
  debug_info_free(&d);
}

void fuzz_cubin(const uint8_t *data, size_t size)
{
  struct err e = {""};
  struct module *m = module_load_memory(data, size, "fuzz", &e);
  BUG_ON(!m && e.msg[0] == '\0');
  if (!m) return;
  struct gmem *mem = gmem_new(16);
  struct module_instance *in = module_instantiate(m, mem, &e);
  BUG_ON(!in && e.msg[0] == '\0');
  use_kernels(m, in); /* decodes some … */
  if (in) module_code(in); /* … and the rest */
  use_variables(m);
  if (in) use_symbols(m, in);
  module_kernel(m, "k", &e);
  module_instance_free(in);
  gmem_free(mem);
  module_free(m);
}
