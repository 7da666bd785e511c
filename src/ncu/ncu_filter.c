#include "ncu/ncu_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "load/plain_name.h"
#include "ncu/demangle.h"

/* --- options ------------------------------------------------------------------------------------ */

static bool parse_count(const char *option, const char *text, uint64_t *n, struct err *e)
{
  char *end;
  if (*text >= '0' && *text <= '9') {
    *n = strtoull(text, &end, 10);
    if (!*end) return true;
  }
  return err_set(e, "--%s %.200s: not a number", option, text);
}

static bool parse_name(const char *option, const char *text, struct ncu_name_test *t, struct err *e)
{
  char why[120];
  if (t->by_regex) regfree(&t->re);
  free(t->exact);
  *t = (struct ncu_name_test){0};
  if (!strncmp(text, "regex:", 6)) {
    const int r = regcomp(&t->re, text + 6, REG_EXTENDED | REG_NOSUB);
    if (r == 0) return t->by_regex = true;
    regerror(r, &t->re, why, sizeof why);
    return err_set(e, "--%s %.200s: not a regular expression: %s", option, text, why);
  }
  NO_MEMORY_IF(!(t->exact = strdup(text)));
  return true;
}

static bool ncu_name_base_parse(const char *text, enum ncu_name_base *base)
{
  static const char *const names[] = {"function", "demangled", "mangled"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(names[i], text)) {
      *base = (enum ncu_name_base)i;
      return true;
    }
  return false;
}

/* "1", or nothing: any. */
static bool parse_id_number(const char *text, size_t n, uint64_t *to)
{
  char *end;
  *to = 0;
  if (!n) return true;
  if (*text < '0' || *text > '9') return false;
  *to = strtoull(text, &end, 10);
  return end == text + n;
}

/* context:stream:name:nth; the name may be regex:…, which may hold colons. */
static bool parse_id(struct ncu_filter *f, const char *text, struct err *e)
{
  const char *stream = strchr(text, ':'), *name = stream ? strchr(stream + 1, ':') : NULL;
  const char *nth = name ? strrchr(name, ':') : NULL;
  if (!nth || nth == name || !parse_id_number(text, (size_t)(stream - text), &f->id_context) ||
      !parse_id_number(stream + 1, (size_t)(name - stream - 1), &f->id_stream) ||
      !parse_id_number(nth + 1, strlen(nth + 1), &f->id_nth))
    return err_set(e,
                   "--kernel-id %.200s: not CONTEXT:STREAM:NAME:NTH, each part a number (NAME: a name or "
                   "regex:…) or nothing",
                   text);
  char *copy = strndup(name + 1, (size_t)(nth - name - 1));
  NO_MEMORY_IF(!copy);
  const bool ok = !*copy || parse_name("kernel-id", copy, &f->id_name, e);
  free(copy);
  return ok;
}

static const char *const options[] = {"kernel-name", "kernel-name-base", "kernel-id",
                                      "launch-skip", "launch-count",     "launch-skip-before-match"};

bool ncu_filter_has(const char *option)
{
  for (unsigned i = 0; i < sizeof options / sizeof *options; i++)
    if (!strcmp(options[i], option)) return true;
  return false;
}

bool ncu_filter_take(struct ncu_filter *f, const char *option, const char *value, struct err *e)
{
  if (!strcmp(option, "kernel-name")) return parse_name(option, value, &f->name, e);
  if (!strcmp(option, "kernel-id")) return parse_id(f, value, e);
  if (!strcmp(option, "kernel-name-base"))
    return ncu_name_base_parse(value, &f->base) ||
           err_set(e, "--kernel-name-base %.200s: not function, demangled or mangled", value);
  if (!strcmp(option, "launch-count"))
    return parse_count(option, value, &f->count, e) && (f->count || err_set(e, "--launch-count 0: no launch would be "
                                                                               "profiled"));
  f->skip_before_match = !strcmp(option, "launch-skip-before-match");
  return parse_count(option, value, &f->skip, e);
}

void ncu_filter_free(struct ncu_filter *f)
{
  if (f->name.by_regex) regfree(&f->name.re);
  if (f->id_name.by_regex) regfree(&f->id_name.re);
  free(f->name.exact);
  free(f->id_name.exact);
  *f = (struct ncu_filter){0};
}

/* --- launches ----------------------------------------------------------------------------------- */

char *ncu_kernel_name(const char *symbol, enum ncu_name_base base)
{
  char *name;
  size_t n;
  if (base == NCU_NAME_DEMANGLED) return demangle(symbol);
  const char *plain = base == NCU_NAME_MANGLED ? (n = strlen(symbol), symbol) : plain_name(symbol, &n);
  NO_MEMORY_IF(!(name = strndup(plain, n)));
  return name;
}

static bool passes(const struct ncu_name_test *t, const char *name)
{
  if (t->by_regex) return regexec(&t->re, name, 0, NULL, 0) == 0;
  return !t->exact || !strcmp(t->exact, name);
}

static bool matches(struct ncu_filter *f, const char *symbol, uint64_t context, uint64_t stream)
{
  if ((f->id_context && f->id_context != context) || (f->id_stream && f->id_stream != stream)) return false;
  char *name = ncu_kernel_name(symbol, f->base);
  const bool is = passes(&f->name, name) && passes(&f->id_name, name);
  free(name);
  return is && (!f->id_nth || ++f->nth == f->id_nth);
}

bool ncu_filter_next(struct ncu_filter *f, const char *symbol, uint64_t context, uint64_t stream)
{
  if (f->count && f->taken == f->count) return false;
  if (f->skip_before_match && f->seen++ < f->skip) return false;
  if (!matches(f, symbol, context, stream)) return false;
  if (!f->skip_before_match && f->seen++ < f->skip) return false;
  f->taken++;
  return true;
}
