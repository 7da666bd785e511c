/* Members of the objects that requests bring. */
#include "debug/dap_private.h"

int64_t dap_number(const json_t *o, const char *key)
{
  return json_integer_value(json_object_get(o, key));
}

const char *dap_text(const json_t *o, const char *key)
{
  const char *s = json_string_value(json_object_get(o, key));
  return s ? s : "";
}
