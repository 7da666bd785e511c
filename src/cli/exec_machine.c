#include "cli/exec_machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/settings.h"
#include "config/machine_preset.h"

bool exec_machine_check(const char **name, const char *dir, struct err *e)
{
  struct machine_preset m;
  TRY(machine_load(*name, dir, &m, e));
  machine_preset_free(&m);
  if (!settings_is_path(*name)) return true;
  char *absolute = realpath(*name, NULL); /* until the program takes this one's place */
  if (!absolute) return err_set(e, "%s: %s", *name, host_error());
  if (strchr(absolute, '\n')) return err_set(e, "--machine: the name of the file has a line break");
  *name = absolute;
  return true;
}
