/* Questions all reports ask of a run; see report.h. */
#include "view/report.h"

#include <string.h>

bool report_matched(const struct report *r)
{
  for (unsigned i = 0; i < r->n_checks; i++)
    if (!r->check[i].ok) return false;
  return true;
}

const char *fault_kind_name(unsigned kind)
{
  static const char *const names[] = {
    [FAULT_NONE] = "no fault",
    [FAULT_ILLEGAL_ADDRESS] = "illegal address",
    [FAULT_MISALIGNED] = "misaligned address",
    [FAULT_SHARED_RANGE] = "address outside shared memory",
    [FAULT_LOCAL_RANGE] = "address outside local memory",
    [FAULT_ILLEGAL_INST] = "illegal instruction",
    [FAULT_ILLEGAL_PC] = "illegal program counter",
    [FAULT_TRAP] = "trap",
    [FAULT_DEADLOCK] = "deadlock",
    [FAULT_UNSUPPORTED] = "unsupported feature",
  };

  return kind < sizeof names / sizeof names[0] && names[kind] ? names[kind] : "unknown fault";
}

void report_inst_text(const struct report *r, uint64_t pc, char *buf, size_t size)
{
  const struct code_view *code = &r->launch->params.code;
  const struct inst *in = code_at(code, pc);

  buf[0] = '\0';
  if (in) sass_print(&r->launch->params.sass[in - code->inst], in, false, buf, size);
}

struct report_stat report_find(const struct report *r, const char *name)
{
  for (unsigned i = 0; i < r->n_groups; i++) {
    const struct stat_desc *d = stat_find(r->group[i], name);
    if (d) return (struct report_stat){d, r->group[i].data};
  }
  return (struct report_stat){0};
}

bool report_has(const struct report *r, const char *name)
{
  return report_find(r, name).desc != NULL;
}

uint64_t report_at(struct report_stat s, unsigned i)
{
  uint64_t v;

  if (!s.desc || i >= s.desc->count) return 0;
  memcpy(&v, (const char *)s.data + s.desc->offset + i * sizeof v, sizeof v);
  return v;
}

uint64_t report_u64(const struct report *r, const char *name)
{
  struct report_stat s = report_find(r, name);
  uint64_t sum = 0;

  for (unsigned i = 0; s.desc && i < s.desc->count; i++) sum += report_at(s, i);
  return sum;
}
