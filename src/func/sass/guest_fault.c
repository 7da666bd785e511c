#include "func/sass/guest_fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "func/sass/func_launch.h"

bool func_const(const struct func_launch *l, unsigned b, uint32_t off, void *buf, uint32_t bytes)
{
  enum { N_BANKS = 8 };
  if (b >= N_BANKS || !l->p.bank[b] || off > l->p.bank_bytes[b] ||
      bytes > l->p.bank_bytes[b] - off) {
    return false;
  }
  memcpy(buf, l->p.bank[b] + off, bytes);
  return true;
}

bool func_fault(const struct func_warp *w, const struct effect *e, struct fault *f,
                enum fault_kind kind, unsigned lane, uint64_t addr, const char *fmt, ...)
{
  const struct func_launch *l = w->launch;
  char raw[sizeof f->text];
  *f = (struct fault){.kind = (uint8_t)kind, .pc = e->pc, .addr = addr, .source = &l->source};
  for (unsigned i = 0; i < 3; i++) {
    f->cta[i] = w->cta->ctaid[i];
    f->thread[i] = w->tid[i][lane];
  }
  bool before = e->pc < l->p.entry_pc; /* a function that lies before the kernel, or anywhere */
  /* Names of templates have thousands of characters, and what happened is to be read behind them. */
  int n = snprintf(f->text, sizeof f->text, before ? "%.100s, pc 0x%llx: " : "%.100s+0x%llx: ",
                   l->p.kernel_name ? l->p.kernel_name : "kernel",
                   (unsigned long long)(before ? e->pc : e->pc - l->p.entry_pc));
  if (n < 0 || (size_t)n >= sizeof f->text) return false;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(f->text + n, sizeof f->text - (size_t)n, fmt, ap);
  va_end(ap);
  text_safe(memcpy(raw, f->text, sizeof raw), f->text, sizeof f->text); /* asserts have text of the guest */
  return false;
}
