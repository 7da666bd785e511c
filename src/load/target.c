#include "load/target.h"

#include <stdio.h>

static const struct target targets[] = {
    {70, 0, 0, true},       {72, 0, 0, true},       {75, 0, 0, true},       {80, 0, 0x400, true},
    {86, 0, 0x400, true},   {87, 0, 0x400, true},   {88, 0, 0x400, true},   {89, 0, 0x400, true},
    {90, 0x400, 0, false},  {100, 0x400, 0, false}, {101, 0x400, 0, false}, {103, 0x400, 0, false},
    {110, 0x400, 0, false}, {120, 0x400, 0, false}, {121, 0x400, 0, false},
};

const struct target *target_find(unsigned sm)
{
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
    if (targets[i].sm == sm) return &targets[i];
  return NULL;
}

char *target_list(char *buf, size_t size)
{
  size_t used = 0;
  buf[0] = '\0';
  for (size_t i = 0; i < sizeof targets / sizeof targets[0] && used < size; i++)
    used += (size_t)snprintf(buf + used, size - used, "%ssm_%u", i ? ", " : "", targets[i].sm);
  return buf;
}

const char *target_suffix(enum target_form form)
{
  static const char *const suffix[] = {
    [TARGET_PLAIN] = "", [TARGET_ARCH_SPECIFIC] = "a", [TARGET_FAMILY_SPECIFIC] = "f",
  };
  return suffix[form];
}

bool target_runs_on(unsigned code_sm, enum target_form form, unsigned device_sm)
{
  if (form == TARGET_ARCH_SPECIFIC) return code_sm == device_sm;
  return code_sm / 10 == device_sm / 10 && code_sm <= device_sm;
}

bool target_closer(unsigned sm, enum target_form form, unsigned other_sm, enum target_form other)
{
  if (sm != other_sm) return sm > other_sm;
  return form == TARGET_ARCH_SPECIFIC && other != TARGET_ARCH_SPECIFIC;
}
