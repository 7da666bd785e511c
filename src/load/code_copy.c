#include "load/code_copy.h"

#include <string.h>

#include "base/host_memory.h"
#include "isa/sass/row.h"
#include "isa/sass/sass_isa.h"

struct code_copy {
  struct code_view view;
  struct inst *inst;
  struct sass_inst *decoded;
};

struct head {
  uint64_t n;
  struct code_view view;
};

uint64_t code_copy_build(void)
{
  return (uint64_t)sizeof(struct inst) << 32 | sizeof(struct sass_inst) << 16 | sizeof(struct code_view);
}

size_t code_copy_bytes(const struct code_view *c)
{
  return sizeof(struct head) + code_count(c) * (sizeof(struct inst) + sizeof(struct sass_inst));
}

/* Rows are numbers, from 1; 0: none. */
void code_copy_put(const struct code_view *c, uint8_t *to)
{
  const struct head h = {code_count(c), *c};
  code_want_all(c);
  const struct sass_inst *decoded = c->decoded;
  memcpy(to, &h, sizeof h);
  memcpy(to + sizeof h, c->inst, h.n * sizeof *c->inst);
  to += sizeof h + h.n * sizeof *c->inst;
  for (uint64_t i = 0; i < h.n; i++, to += sizeof *decoded) {
    struct sass_inst s = decoded[i];
    if (s.row) s.row = (const struct sass_row *)(uintptr_t)(s.row - sass_rows + 1);
    memcpy(to, &s, sizeof s);
  }
}

static bool is_code(const struct head *h, size_t bytes)
{
  const size_t each = sizeof(struct inst) + sizeof(struct sass_inst);
  return !h->view.number && h->view.shift < 32 && h->view.end >= h->view.base &&
         (h->view.end - h->view.base) >> h->view.shift == h->n && h->n == bytes / each && bytes % each == 0;
}

static void name_rows(struct code_copy *c, uint64_t n)
{
  for (uint64_t i = 0; i < n; i++) {
    const uintptr_t row = (uintptr_t)c->decoded[i].row;
    c->decoded[i].row = row ? &sass_rows[row - 1] : NULL;
  }
}

struct code_copy *code_copy_take(const uint8_t *from, size_t bytes)
{
  struct head h;
  if (bytes < sizeof h) return NULL;
  memcpy(&h, from, sizeof h);
  if (!is_code(&h, bytes - sizeof h)) return NULL;
  struct code_copy *c = mem_zeroed(1, sizeof *c);
  c->inst = mem_alloc(h.n * sizeof *c->inst);
  c->decoded = mem_alloc(h.n * sizeof *c->decoded);
  memcpy(c->inst, from + sizeof h, h.n * sizeof *c->inst);
  memcpy(c->decoded, from + sizeof h + h.n * sizeof *c->inst, h.n * sizeof *c->decoded);
  name_rows(c, h.n);
  c->view = h.view;
  c->view.inst = c->inst;
  c->view.decoded = c->decoded;
  c->view.isa = &sass_isa;
  c->view.rest = NULL;
  return c;
}

void code_copy_free(struct code_copy *c)
{
  mem_free(c->inst);
  mem_free(c->decoded);
  mem_free(c);
}

const struct code_view *code_copy_view(const struct code_copy *c)
{
  return &c->view;
}
