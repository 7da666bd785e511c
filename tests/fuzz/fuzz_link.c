/* Two objects, linked: u32 bytes of the first, both objects. */
#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "fuzz.h"
#include "load/module.h"

void fuzz_link(const uint8_t *data, size_t size)
{
  struct err e = {""};
  uint32_t first;
  if (size < sizeof first) return;
  memcpy(&first, data, sizeof first);
  data += sizeof first;
  size -= sizeof first;
  if (first > size) first = (uint32_t)size;
  struct module_file file[] = {{"first", data, first}, {"second", data + first, size - first}};
  struct module *m = module_link(file, 2, &e);
  BUG_ON(!m && e.msg[0] == '\0');
  if (!m) return;
  struct gmem *mem = gmem_new(16);
  struct module_instance *in = module_instantiate(m, mem, &e);
  BUG_ON(!in && e.msg[0] == '\0');
  module_instance_free(in);
  gmem_free(mem);
  module_free(m);
}
