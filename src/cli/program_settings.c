#include "cli/program_settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

#define SETTING "set="

bool program_settings_apply(FILE *out, char *const *text, struct preset *p, struct err *e)
{
  bool ok = true;
  char *save = NULL;
  fflush(out);
  char *copy = strdup(*text);
  NO_MEMORY_IF(!copy);
  for (char *line = strtok_r(copy, "\n", &save); line && ok; line = strtok_r(NULL, "\n", &save))
    if (strncmp(line, SETTING, strlen(SETTING)) == 0) ok = preset_override(p, line + strlen(SETTING), e);
  free(copy);
  return ok && params_check(&p->params, e);
}

bool program_settings_check(FILE *out, char *const *text, const char *gpu, const char *dir, struct err *e)
{
  struct preset p;
  TRY(preset_load(gpu, dir, &p, e));
  const bool ok = program_settings_apply(out, text, &p, e);
  preset_free(&p);
  return ok;
}
