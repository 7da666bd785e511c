#include "cuda/core/errors.h"

struct error_row {
  int code;
  const char *driver, *runtime, *text;
};

static const struct error_row rows[] = {
#define ERROR(code, driver, runtime, text) { code, #driver, #runtime, text },
#include "cuda/core/errors.def"
#undef ERROR
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };

static const struct error_row *find(int code)
{
  for (unsigned i = 0; i < N_ROWS; i++)
    if (rows[i].code == code) return &rows[i];
  return NULL;
}

/* A code that only one of the interfaces has goes by the other's name. */
static const char *name(const char *own, const char *other)
{
  return own[0] == 'N' ? other : own; /* NONE; all names start with C or c */
}

const char *error_driver_name(int code)
{
  const struct error_row *r = find(code);
  return r ? name(r->driver, r->runtime) : NULL;
}

const char *error_runtime_name(int code)
{
  const struct error_row *r = find(code);
  return r ? name(r->runtime, r->driver) : NULL;
}

const char *error_text(int code)
{
  const struct error_row *r = find(code);
  if (!r) return NULL;
  return r->text[0] ? r->text : name(r->runtime, r->driver);
}
