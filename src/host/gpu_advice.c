#include "host/gpu_advice.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "config/presets.h"

enum { MAX_NAMED = 6, MAX_LISTED = 128, MAX_SMS = 256 };

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

struct runners {
  const char *name[MAX_LISTED];
  bool own[MAX_LISTED]; /* of the very target of the code */
  bool have[MAX_SMS];   /* there is a preset of this SM */
  unsigned n;
};

static void find_runners(const char *dir, const struct preset_names *names, unsigned sm, enum target_form form,
                         struct runners *r)
{
  struct params p;
  for (unsigned i = 0; i < names->n; i++) {
    if (!params_load(names->name[i], dir, &p, NULL)) continue;
    r->have[p.arch_sm % MAX_SMS] = true;
    if (!target_runs_on(sm, form, p.arch_sm) || r->n == MAX_LISTED) continue;
    r->name[r->n] = names->name[i];
    r->own[r->n++] = p.arch_sm == sm;
  }
}

/* Those of the code's own target first. */
static void say_choose(struct words *w, const struct runners *r)
{
  unsigned said = 0;
  for (unsigned pass = 0; pass < 2; pass++) {
    for (unsigned i = 0; i < r->n && said < MAX_NAMED; i++) {
      if (r->own[i] != (pass == 0)) continue;
      add(w, said++ ? ", " : "choose --gpu ");
      add(w, r->name[i]);
    }
  }
  if (said < r->n) add(w, " … (warpstep gpus)");
}

char *gpu_advice(const char *dir, unsigned sm, enum target_form form, char *buf, size_t size)
{
  struct arena a = {0};
  struct preset_names names = {0};
  struct words w = {buf, size, 0};
  struct runners r = {.n = 0};
  char found[PATH_MAX];
  buf[0] = '\0';
  if (!dir && presets_dir(NULL, found, sizeof found, NULL)) dir = found;
  if (!dir || !presets_list(dir, &a, &names, NULL)) names.n = 0;
  find_runners(dir, &names, sm, form, &r);
  if (r.n) say_choose(&w, &r);
  else say_compile(&w, r.have);
  arena_free(&a);
  return buf;
}
