#include "cli/exec_machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/settings.h"
#include "cli/program_settings.h"
#include "config/machine_preset.h"
#include "config/mig.h"

/* Each of its GPUs, which may be different ones, takes all that is set. */
static bool settings_fit(const struct machine_preset *m, const char *dir, FILE *out, char *const *text, struct err *e)
{
  for (unsigned i = 0; i < m->n_gpus; i++)
    if (!i || strcmp(m->gpu[i], m->gpu[i - 1]) != 0)
      TRY(program_settings_check(out, text, m->gpu[i], dir, e));
  return true;
}

static bool instances_fit(const struct machine_preset *m, const char *mig, struct err *e)
{
  struct mig_instance instance[MIG_MAX_INSTANCES];
  for (unsigned i = 0, n; mig && i < m->n_gpus; i++)
    TRY(mig_cut(&m->params[i], (struct mig_list){mig, m->n_gpus}, i, instance, &n, e));
  return true;
}

bool exec_machine_check(const char **name, const char *mig, const char *dir, FILE *out, char *const *text,
                        unsigned *sms, struct err *e)
{
  struct machine_preset m;
  TRY(machine_load(*name, dir, &m, e));
  *sms = 0;
  for (unsigned i = 0; i < m.n_gpus; i++)
    if (m.params[i].gpu_sms > *sms) *sms = m.params[i].gpu_sms;
  const bool fit = instances_fit(&m, mig, e) && settings_fit(&m, dir, out, text, e);
  machine_preset_free(&m);
  if (!fit) return false;
  if (!settings_is_path(*name)) return true;
  char *absolute = realpath(*name, NULL); /* until the program takes this one's place */
  if (!absolute) return err_set(e, "%s: %s", *name, host_error());
  if (strchr(absolute, '\n')) return err_set(e, "--machine: the name of the file has a line break");
  *name = absolute;
  return true;
}
