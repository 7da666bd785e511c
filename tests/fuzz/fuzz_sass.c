/* An assembler file: directives and instructions with fields that are wrong here and there. What assembles is a cubin
 * that loads. */
#include <string.h>

#include "base/bug.h"
#include "draw.h"
#include "fuzz.h"
#include "load/asm_source.h"

enum { MAX_LINES = 24 };

static const char *const targets[] = {"sm_86", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "sm_89", "sm_1", ""};

/* %n: a number, %r: a register, %p: a predicate, %l: a label. */
static const char *const directives[] = {
  ".target sm_86", ".kernel k%n", ".kernel k", ".param %n", ".param %n, %n", ".regs %n", ".stack %n", ".frame %n", ".shared %n",
  ".barriers %n", ".maxntid %n, %n, %n", ".reqntid %n", ".cluster %n, %n, %n", ".explicit_cluster", ".tile", ".section .nv.constant3",
  ".section .nv.global%n", ".section .nv.constant2.k", ".section .text.%n", ".section x%n, nobits", ".function f%n",
  ".function f%n, local", ".object o%n, %n", ".object o%n, %n, global", ".byte %n, %n", ".half %n", ".word %n", ".quad %n, %n",
  ".float %n", ".double 1e%n", ".zero %n", ".align %n", ".ascii \"%n\\%n\"", ".reloc %n, o%n", ".reloc R_CUDA_32, o%n, %n",
  ".reloc R_CUDA_ABS32_LO_20, k, %n", "%l:", "%l: %l:", "// %n", "/* %n */", "/* %n", ".%n",
};
static const char *const instructions[] = {
  "MOV %r, %n ;", "IADD3 %r, %r, %r, %r ;", "@%p IADD3 %r, %p, %p, %r, -%r, %n, %p, %p ;", "FFMA %r, %r, %r, c[0x0][%n] ;",
  "LDG.E %r, [%r.64+%n] ;", "STG.E.128 [%r.64+-%n], %r ;", "LDS.U.%n %r, [%r+UR%n] ;", "BRA `(%l) ;", "BRA %n ;", "EXIT ;", "NOP ;",
  "S2R %r, SR_TID.X ;", "ISETP.GE.U32.AND %p, PT, %r, c[0x0][%n], PT ;", "BSSY B%n, `(%l) ;", "BSYNC B%n ;",
  "LDC.64 %r, c[%n][%r+%n] ;", "HMMA.16816.F32 %r, %r, %r, %r ;", "DEPBAR.LE SB%n, %n ;", "DEPBAR {%n,%n,%n} ;",
  "BAR.SYNC.DEFER_BLOCKING %n, %n ;", "LOP3.LUT %r, %r, %r, %r, %n, !PT ;", "SHF.R.S32.HI %r, %r, %n, %r ;", "DADD %r, %r, %n ;",
  "FADD %r, |%r|, -%n ;", "FMUL %r, %r, 1.5e%n ;", "MUFU.RCP %r, %r ;", "ATOMG.E.CAS.STRONG.GPU PT, %r, [%r], %r, %r ;",
  "CALL.REL.NOINC `(%l) ;", "RET.REL.NODEC %r `(%l) ;", "UMOV UR%n, %n ;", "R2UR UR%n, %r ;", "TEX.SCR.LL %r, %r, %r, %r, %n, 2D ;",
  "MOV R1, 32@lo(%l) ;", "MOV R1, fun@lo(g%n) ;", "FADD %r, %r, %r ?PRED=%n ;", "MOV %r, %n ?REUSE=%n ;", "%n ;", "VOTE.ANY %r, %p, !%p ;", "PRMT %r, %r, 0x%n, %r ;", "P2R %r, PR, %r, %n ;",
  "LEA.HI.X %r, %r, %r, %r, %n, %p ;", "IMAD.WIDE %r, %r.reuse, %n, %r ;", "HADD2.F32 %r, -RZ, %r.H%n_H0 ;", ".%n 0x%n ;", "%r",
};

static void add_line(struct fuzz_text *t, const char *format, struct draw *f)
{
  char n[40];
  for (const char *c = format; *c; c++) {
    if (*c != '%') fuzz_add(t, "%c", *c);
    else if (*++c == 'n') fuzz_add(t, "%s", field_numeral(f, n));
    else if (*c == 'r') fuzz_add(t, "R%u", field_byte(f));
    else if (*c == 'p') fuzz_add(t, "P%u", field_pick(f, 9));
    else fuzz_add(t, ".L_%u", field_pick(f, 3));
  }
  fuzz_add(t, "\n");
}

static void add_control(struct fuzz_text *t, struct draw *f)
{
  unsigned how = field_byte(f);
  char n[40];
  if (how < 8) fuzz_add(t, "  [%s] ", field_numeral(f, n));
  else if (how < 64) fuzz_add(t, "  [B%02x:R%u:W%u:Y:S%02u] ", how, field_pick(f, 9), field_pick(f, 9), field_pick(f, 18));
  else fuzz_add(t, "  [S%02u] ", how % 16);
}

void fuzz_sass(const uint8_t *data, size_t size)
{
  struct draw f = {data, size};
  struct fuzz_text t = {.n = 0};
  struct arena a = {0};
  struct err e = {""};
  size_t bytes;
  unsigned target = field_pick(&f, 32);
  fuzz_add(&t, ".target %s\n.kernel k\n", targets[target < 9 ? target : 0]);
  for (unsigned i = 0; i < MAX_LINES && f.left; i++) {
    if (field_byte(&f) < 64) {
      add_line(&t, directives[field_pick(&f, sizeof directives / sizeof directives[0])], &f);
      continue;
    }
    add_control(&t, &f);
    add_line(&t, instructions[field_pick(&f, sizeof instructions / sizeof instructions[0])], &f);
  }
  const uint8_t *image = asm_source_assemble(&a, t.at, t.n, "fuzz", NULL, &bytes, &e);
  BUG_ON(!image && e.msg[0] == '\0');
  if (image) {
    struct module *m = module_load_memory(image, bytes, "fuzz", &e);
    BUG_ON(!m && e.msg[0] == '\0');
    module_free(m);
  }
  arena_free(&a);
}
