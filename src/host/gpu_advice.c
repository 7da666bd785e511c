#include "host/gpu_advice.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "config/presets.h"

enum { MAX_NAMED = 6, MAX_SMS = 256 };

struct words {
  char *buf;
  size_t size, used;
};

static void add(struct words *w, const char *text)
{
  int n = snprintf(w->buf + w->used, w->size - w->used, "%s", text);
  w->used = n < 0 || (size_t)n >= w->size - w->used ? w->size - 1 : w->used + (size_t)n;
}

static void say_compile(struct words *w, const bool have[MAX_SMS])
{
  char one[80];
  unsigned n = 0, usual = 0;
  add(w, "no GPU that can be simulated runs it; compile for ");
  for (unsigned sm = 0; sm < MAX_SMS; sm++) {
    if (!have[sm]) continue;
    snprintf(one, sizeof one, "%ssm_%u", n++ ? ", " : "", sm);
    add(w, one);
    if (!usual || sm == 86) usual = sm;
  }
  snprintf(one, sizeof one, ": nvcc -gencode arch=compute_%u,code=sm_%u", usual, usual);
  add(w, one);
}

char *gpu_advice(const char *dir, unsigned sm, enum target_form form, char *buf, size_t size)
{
  struct arena a = {0};
  struct preset_names names = {0};
  struct words w = {buf, size, 0};
  struct params p;
  char found[PATH_MAX];
  bool have[MAX_SMS] = {false};
  unsigned n = 0;
  buf[0] = '\0';
  if (!dir && presets_dir(NULL, found, sizeof found, NULL)) dir = found;
  if (!dir || !presets_list(dir, &a, &names, NULL)) names.n = 0;
  for (unsigned i = 0; i < names.n; i++) {
    if (!params_load(names.name[i], dir, &p, NULL)) continue;
    have[p.arch_sm % MAX_SMS] = true;
    if (!target_runs_on(sm, form, p.arch_sm) || n >= MAX_NAMED) continue;
    add(&w, n++ ? ", " : "choose --gpu ");
    add(&w, names.name[i]);
  }
  if (n == 0) say_compile(&w, have);
  arena_free(&a);
  return buf;
}
