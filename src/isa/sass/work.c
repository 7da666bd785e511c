#include "isa/work.h"

#include <string.h>

#include "isa/sass/sass.h"
#include "isa/sass/sass_isa.h"

struct rule {
  const char *mnemonic;
  enum work_kind kind;
  unsigned count;
};

static const struct rule rules[] = {
#define WORK(mnemonic, kind, count) {mnemonic, WORK_##kind, count},
#include "isa/sass/work.def"
#undef WORK
};

const char *work_kind_name(enum work_kind k)
{
  static const char *const names[] = {
    [WORK_FP16] = "fp16", [WORK_FP32] = "fp32", [WORK_FP64] = "fp64", [WORK_INTEGER] = "integer"};
  return names[k];
}

static const struct rule *rule_of(const char *mnemonic)
{
  for (unsigned i = 0; i < sizeof rules / sizeof rules[0]; i++)
    if (!strcmp(rules[i].mnemonic, mnemonic)) return &rules[i];
  return NULL;
}

struct work sass_work(const uint64_t *threads)
{
  struct work w = {{0}};
  for (unsigned id = 0; id < sass_mnemonic_count(); id++) {
    const struct rule *r = threads[id] ? rule_of(sass_mnemonic(id)) : NULL;
    if (r) w.ops[r->kind] += threads[id] * r->count;
  }
  return w;
}
