/* A preset file: keys of params.def with values of every kind, inherited files, sources; then options --set. */
#include <string.h>

#include "base/bug.h"
#include "config/presets.h"
#include "draw.h"
#include "fuzz.h"

enum { MAX_KEYS = 12 };

static void add_value(struct fuzz_text *t, struct draw *f)
{
  static const char *const words[] = {"true", "false", "\"gto\"", "\"x\"", "[]", "[1, 2]", "[\"a\"]", "(1)", "{ a = 1; }",
                                      "\"\"", "1.5", "[0, 8, 16, 100]", "\"ipoly\"", "0x7fffffffffffffffL"};
  char n[40];
  unsigned how = field_byte(f);
  if (how < 32) fuzz_add(t, "%s", words[how % (sizeof words / sizeof words[0])]);
  else fuzz_add(t, "%s%s", field_numeral(f, n), how & 1 ? "L" : "");
}

/* Dots become groups. */
static void add_key(struct fuzz_text *t, struct draw *f)
{
  static const char *const sources[] = {"\"guess\"", "\"doc: x\"", "\"\"", "\"guess:\"", "1", "\"rumour: x\""};
  char name[64];
  param_key_name(param_key_at(field_pick(f, PARAM_N_KEYS)), name, sizeof name);
  unsigned depth = 0, how = field_byte(f);
  if (how == 1) name[strlen(name) / 2] = '_';
  char *part = name;
  for (char *dot; (dot = strchr(part, '.')); part = dot + 1, depth++) fuzz_add(t, "%.*s = { ", (int)(dot - part), part);
  fuzz_add(t, "%s = (", part);
  add_value(t, f);
  fuzz_add(t, ", %s)", sources[how < 16 ? how % 6 : 0]);
  if (how == 2) fuzz_add(t, ", 3");
  while (depth--) fuzz_add(t, "; }");
  fuzz_add(t, ";\n");
}

static void set_options(struct preset *p, struct draw *f)
{
  for (unsigned i = 0; i < MAX_KEYS && f->left; i++) {
    struct fuzz_text t = {.n = 0};
    struct err e = {""};
    char name[64], n[40];
    param_key_name(param_key_at(field_pick(f, PARAM_N_KEYS)), name, sizeof name);
    if (field_byte(f) < 8) strcpy(name, "clock");
    fuzz_add(&t, "%s%s%s", name, field_byte(f) < 4 ? "" : "=", field_numeral(f, n));
    bool ok = preset_override(p, t.at, &e);
    BUG_ON(!ok && e.msg[0] == '\0');
  }
}

void fuzz_preset(const uint8_t *data, size_t size)
{
  static const char *const parents[] = {"rtx-3070", "a100", "h200", "rtx-2080ti", "sm86", "", "none", "../x"};
  struct draw f = {data, size};
  struct fuzz_text t = {.n = 0};
  struct fuzz_file file;
  struct preset p;
  struct err e = {""};
  unsigned parent = field_pick(&f, 64);
  fuzz_add(&t, "inherit = \"%s\";\n", parents[parent < 8 ? parent : 0]);
  for (unsigned i = field_pick(&f, MAX_KEYS); i; i--) add_key(&t, &f);
  fuzz_file_open(&file, "", t.at, t.n);
  bool ok = preset_load(file.path, WS_SOURCE_DIR "/presets", &p, &e);
  fuzz_file_close(&file);
  BUG_ON(!ok && e.msg[0] == '\0');
  if (!ok) return;
  set_options(&p, &f);
  ok = params_check(&p.params, &e);
  BUG_ON(!ok && e.msg[0] == '\0');
  if (ok) {
    params_l1_hit_cycles(&p.params);
    BUG_ON(!params_clock_ps(&p.params) || !params_l2_clock_ps(&p.params));
  }
  preset_free(&p);
}
