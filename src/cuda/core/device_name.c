#include "cuda/core/device_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool has_its_own(const char *product)
{
  static const char *const begin[] = {"NVIDIA ", "Tesla ", "Quadro ", "Orin", "Xavier"};
  for (unsigned i = 0; i < sizeof begin / sizeof *begin; i++)
    if (!strncmp(product, begin[i], strlen(begin[i]))) return true;
  return false;
}

const char *device_name(const char *product, char text[DEVICE_NAME_TEXT])
{
  snprintf(text, DEVICE_NAME_TEXT, "%s%s", has_its_own(product) ? "" : "NVIDIA ", product);
  return text;
}
