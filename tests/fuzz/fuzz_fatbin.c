/* Any file with code in it: listed, every image loaded, a choice made for some GPUs. */
#include "fuzz.h"
#include "base/bug.h"
#include "load/file.h"

enum { MAX_IMAGES = 8 }; /* of one input: the same code again and again finds nothing new */

void fuzz_fatbin(const uint8_t *data, size_t size)
{
  static const unsigned gpus[] = {75, 86, 90, 120};
  char targets[64];
  struct err e = {""};
  struct code_file *f = code_file_open_memory(data, size, "fuzz", &e);
  BUG_ON(!f && e.msg[0] == '\0');
  if (!f) return;
  code_file_targets(f, targets, sizeof targets);
  for (unsigned i = 0; i < code_file_count(f) && i < MAX_IMAGES; i++) {
    struct module *m = code_file_load_image(f, i, &e);
    BUG_ON(!m && e.msg[0] == '\0');
    module_free(m);
  }
  for (unsigned i = 0; code_file_count(f) <= MAX_IMAGES && i < 4; i++) {
    struct module *m = code_file_load(f, gpus[i], i & 1 ? "k" : NULL, &e);
    BUG_ON(!m && e.msg[0] == '\0');
    module_free(m);
  }
  code_file_free(f);
}
