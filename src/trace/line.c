#include "trace/line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

enum { LANES = 32, PREFIX_OLD = 4 /* block and warp before each line, versions 1 and 2 */ };

/* What is left of the line. Numbers that are missing or damaged set `bad`. */
struct cursor {
  const char *p;
  bool bad;
};

static void blanks(struct cursor *c)
{
  while (*c->p == ' ' || *c->p == '\t' || *c->p == '\r') c->p++;
}

static uint64_t number(struct cursor *c, int base)
{
  char *end;
  blanks(c);
  uint64_t v = strtoull(c->p, &end, base); /* a minus wraps, as two's complement */
  if (end == c->p) c->bad = true;
  c->p = end;
  return v;
}

static size_t word(struct cursor *c, const char **at)
{
  blanks(c);
  *at = c->p;
  while (*c->p && !isspace((unsigned char)*c->p)) c->p++;
  if (c->p == *at) c->bad = true;
  return (size_t)(c->p - *at);
}

/* A list of registers; uniform and predicate registers (2.0) tell nothing that the timing model needs without
 * their instruction's operands. */
static uint8_t registers(struct cursor *c, uint8_t list[TRACE_MAX_REGS])
{
  const char *at;
  uint64_t n = number(c, 10);
  uint8_t kept = 0;
  for (uint64_t i = 0; i < n && !c->bad; i++) {
    size_t size = word(c, &at);
    unsigned long r = size > 1 && at[0] == 'R' ? strtoul(at + 1, NULL, 10) : 255;
    if (r < 255 && kept < TRACE_MAX_REGS) list[kept++] = (uint8_t)r;
  }
  return kept;
}

static void list_addresses(struct cursor *c, struct trace_line *l)
{
  for (uint32_t m = l->lanes; m; m &= m - 1) l->address[bits_first(m)] = number(c, 16);
}

static void delta_addresses(struct cursor *c, struct trace_line *l)
{
  uint64_t last = number(c, 16);
  if (!l->lanes) return;
  l->address[bits_first(l->lanes)] = last;
  for (uint32_t m = l->lanes & (l->lanes - 1); m; m &= m - 1)
    l->address[bits_first(m)] = last += number(c, 10);
}

static bool addresses(struct cursor *c, struct trace_line *l, struct err *e)
{
  l->form = (unsigned)number(c, 10);
  switch (l->form) {
  case TRACE_LIST: list_addresses(c, l); break;
  case TRACE_STRIDE:
    l->base = number(c, 16);
    l->stride = (int64_t)number(c, 10);
    break;
  case TRACE_DELTAS: delta_addresses(c, l); break;
  default: return err_set(e, "%s: addresses in form %u are not read", l->opcode, l->form);
  }
  return true;
}

static bool is_bulk_copy(const char *opcode)
{
  return !strncmp(opcode, "UTMA", 4) || !strncmp(opcode, "UBLK", 4);
}

bool trace_line_parse(const char *text, const struct trace_header *h, struct trace_line *l,
                      struct err *e)
{
  struct cursor c = {.p = text};
  const char *at;
  for (unsigned i = 0; h->version < TRACE_VERSION_MIN && i < PREFIX_OLD; i++) number(&c, 10);
  if (h->lineinfo) number(&c, 10);
  const uint64_t pc = number(&c, 16), lanes = number(&c, 16);
  if ((pc | lanes) > UINT32_MAX) return err_set(e, "a program counter or mask of more than 32 bits");
  l->inst = (struct trace_inst){.pc = (uint32_t)pc, .opcode = l->opcode};
  l->lanes = (uint32_t)lanes;
  l->inst.n_dst = registers(&c, l->inst.dst);
  size_t n = word(&c, &at);
  if (c.bad || n >= TRACE_OPCODE)
    return err_set(e, "not an instruction (pc, lanes, destinations, opcode, sources, width)");
  memcpy(l->opcode, at, n);
  l->opcode[n] = '\0';
  l->skip = !strncmp(l->opcode, "REPLAY_", 7);
  if (l->skip) return true;
  if (is_bulk_copy(l->opcode)) return err_set(e, "%s: bulk copies cannot be timed yet", l->opcode);
  l->inst.n_src = registers(&c, l->inst.src);
  if (strstr(l->opcode, "GMMA")) number(&c, 10); /* commit */
  l->bytes = (unsigned)number(&c, 10);
  if (l->bytes && !addresses(&c, l, e)) return false;
  if (c.bad) return err_set(e, "%s: a number is missing", l->opcode);
  blanks(&c);
  if (*c.p >= '0' && *c.p <= '9') l->inst.immediate = number(&c, 10);
  return true;
}
