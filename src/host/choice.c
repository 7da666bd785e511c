#include "host/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "load/plain_name.h"

static bool parse_number(const char **s, uint64_t *v)
{
  char *stop;
  if (**s < '0' || **s > '9') return false;
  *v = strtoull(*s, &stop, 10);
  *s = stop;
  return true;
}

static bool parse_range(const char **s, struct choice_range *r)
{
  if (!parse_number(s, &r->first)) return false;
  r->last = r->first;
  if (strncmp(*s, "..", 2) == 0) {
    *s += 2;
    r->last = UINT64_MAX;
    if (**s && **s != ',' && !parse_number(s, &r->last)) return false;
  }
  return r->first > 0 && r->last >= r->first;
}

static bool parse_ranges(struct choice *c, const char *s)
{
  c->last = 0;
  NO_MEMORY_IF(!(c->range = malloc((strlen(s) + 1) * sizeof c->range[0])));
  for (;; s++) {
    struct choice_range *r = &c->range[c->n_ranges];
    if (!parse_range(&s, r)) return false;
    c->n_ranges++;
    if (r->last > c->last) c->last = r->last;
    if (!*s) return true;
    if (*s != ',') return false;
  }
}

bool choice_parse(struct choice *c, const char *option, const char *text, struct err *e)
{
  char why[120];
  *c = (struct choice){ .last = UINT64_MAX };
  if (text[strspn(text, "0123456789.,")] == '\0')
    return parse_ranges(c, text) ||
           err_set(e, "%s %.200s: not launches N, N..M or N.. (from 1, the first not behind the last; several "
                   "with commas)", option, text);
  int r = regcomp(&c->name, text, REG_EXTENDED | REG_NOSUB);
  if (r == 0) return c->by_name = true;
  regerror(r, &c->name, why, sizeof why);
  return err_set(e, "%s %.200s: neither a range N..M nor a regular expression: %s", option, text, why);
}

void choice_free(struct choice *c)
{
  if (c->by_name) regfree(&c->name);
  free(c->range);
  *c = (struct choice){0};
}

static bool name_matches(const struct choice *c, const char *kernel)
{
  size_t n;
  const char *plain = plain_name(kernel, &n);
  char *copy = strndup(plain, n);
  NO_MEMORY_IF(!copy);
  bool found = regexec(&c->name, kernel, 0, NULL, 0) == 0 || regexec(&c->name, copy, 0, NULL, 0) == 0;
  free(copy);
  return found;
}

bool choice_has(const struct choice *c, uint64_t number, const char *kernel)
{
  if (c->by_name) return name_matches(c, kernel);
  for (unsigned i = 0; i < c->n_ranges; i++)
    if (number >= c->range[i].first && number <= c->range[i].last) return true;
  return c->n_ranges == 0;
}
