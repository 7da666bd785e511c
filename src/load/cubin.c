/* Lists of a cubin to be written. */
#include "load/cubin.h"

#include <string.h>

int32_t cubin_add_section(struct cubin *c, const char *name, uint32_t align)
{
  c->section = arena_more(c->arena, c->section, c->n_sections, &c->section_room, sizeof *c->section);
  c->section[c->n_sections] =
      (struct cubin_section){.name = name, .align = align, .kernel = CUBIN_NONE};
  return (int32_t)c->n_sections++;
}

int32_t cubin_add_symbol(struct cubin *c, const char *name, int32_t section, uint64_t value)
{
  c->symbol = arena_more(c->arena, c->symbol, c->n_symbols, &c->symbol_room, sizeof *c->symbol);
  c->symbol[c->n_symbols] = (struct cubin_symbol){
      .name = name, .section = section, .value = value, .bind = CUBIN_GLOBAL,
      .regs = CUBIN_NONE, .frame = CUBIN_NONE, .stack = CUBIN_NONE};
  return (int32_t)c->n_symbols++;
}

int32_t cubin_add_kernel(struct cubin *c, const char *name)
{
  c->kernel = arena_more(c->arena, c->kernel, c->n_kernels, &c->kernel_room, sizeof *c->kernel);
  c->kernel[c->n_kernels] = (struct cubin_kernel){ .name = name };
  return (int32_t)c->n_kernels++;
}

void cubin_add_param(struct cubin *c, struct cubin_kernel *k, struct cubin_param p)
{
  k->param = arena_more(c->arena, k->param, k->n_params, &k->param_room, sizeof *k->param);
  k->param[k->n_params++] = p;
}

void cubin_add_reloc(struct cubin *c, struct cubin_reloc r)
{
  c->reloc = arena_more(c->arena, c->reloc, c->n_relocs, &c->reloc_room, sizeof *c->reloc);
  c->reloc[c->n_relocs++] = r;
}

void cubin_append(struct cubin *c, int32_t section, const void *bytes, size_t n)
{
  struct cubin_section *s = &c->section[section];
  if (!s->nobits && s->size + n > s->room) {
    uint64_t room = 2 * (s->size + n) + 256;
    uint8_t *bigger = arena_alloc(c->arena, room, 16);
    if (s->size) memcpy(bigger, s->data, s->size);
    memset(bigger + s->size, 0, room - s->size);
    s->data = bigger;
    s->room = room;
  }
  if (!s->nobits && n && bytes) memcpy(s->data + s->size, bytes, n);
  s->size += n;
}

static bool named(const char *name, const char *want, size_t n)
{
  return strlen(name) == n && memcmp(name, want, n) == 0;
}

int32_t cubin_find_section(const struct cubin *c, const char *name, size_t n)
{
  for (uint32_t i = 0; i < c->n_sections; i++)
    if (named(c->section[i].name, name, n)) return (int32_t)i;
  return CUBIN_NONE;
}

int32_t cubin_find_symbol(const struct cubin *c, const char *name, size_t n)
{
  for (uint32_t i = 0; i < c->n_symbols; i++)
    if (named(c->symbol[i].name, name, n)) return (int32_t)i;
  return CUBIN_NONE;
}
