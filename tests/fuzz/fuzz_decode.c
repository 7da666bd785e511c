/* Instruction words: the first byte chooses the target, then 16 bytes each. What decodes encodes to
 * the same word. */
#include <string.h>

#include "fuzz.h"
#include "base/bug.h"
#include "isa/sass/sass.h"

void fuzz_decode(const uint8_t *data, size_t size)
{
  static const unsigned targets[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
  if (size == 0) return;
  unsigned sm = targets[data[0] % (sizeof targets / sizeof targets[0])];
  for (size_t at = 1; size - at >= sizeof(struct word128); at += sizeof(struct word128)) {
    struct word128 w;
    struct sass_inst s;
    struct inst t;
    struct err e = {""};
    char text[300];
    memcpy(&w, data + at, sizeof w);
    bool ok = sass_decode(sm, w, 0x10000 + at - 1, &s, &t, &e);
    BUG_ON(!ok && e.msg[0] == '\0');
    if (!ok) continue;
    const struct inst_ctrl c = sass_ctrl(w);
    struct word128 again = sass_encode(&s, &c);
    BUG_ON(again.lo != w.lo || again.hi != w.hi);
    sass_print(&s, &t, true, text, sizeof text);
    sass_atom_type(&s);
  }
}
