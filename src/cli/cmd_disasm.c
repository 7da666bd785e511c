/* warpstep disasm: the machine code of a cubin as text. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/regular.h"
#include "cli/commands.h"
#include "isa/sass/sass.h"
#include "load/asm_source.h"
#include "load/file.h"
#include "load/live_code.h"
#include "load/module.h"
#include "load/target.h"

enum { OPT_KERNEL = CLI_OPT_FIRST, OPT_SM, OPT_NO_CTRL, OPT_HEX, OPT_ASM, OPT_WORDS, OPT_LIVE, MAX_SM = 999 };

static const struct cli_option options[] = {
  {OPT_KERNEL, "kernel", "NAME", "only this kernel, with the functions in its section"},
  {OPT_SM, "sm", "NUMBER", "only the code for this target (86)"},
  {OPT_NO_CTRL, "no-ctrl", NULL, "leave out the control information"},
  {OPT_HEX, "hex", NULL, "add the instruction words"},
  {OPT_LIVE, "live", NULL, "add how many registers are live (docs/annotate.md)"},
  {OPT_ASM, "asm", NULL, "a complete file for 'warpstep asm', with directives"},
  {OPT_WORDS, "words", NULL, "FILE is nothing but instruction words, for the target of --sm"},
  {0},
};

struct disasm_options {
  const char *file, *kernel;
  unsigned long sm; /* 0: all */
  bool ctrl, hex, live, assembly, words;
};

/* "kernel+0x120" cut before the '+': which function a pc belongs to. */
static void function_of(const struct module *m, uint64_t pc, char *buf, size_t size)
{
  module_where(m, pc, buf, size);
  char *plus = strrchr(buf, '+');
  if (plus) *plus = '\0';
}

/* Addresses count from the start of the section, those of the line and those of branch targets: so the
 * assembler takes them, too. */
static void print_inst(const struct disasm_options *o, const struct sass_inst *s,
                       const struct inst *t, uint64_t section, const struct live_count *live)
{
  char text[256];
  struct inst here = *t;
  uint64_t offset = here.pc -= section;

  sass_print(s, &here, o->ctrl, text, sizeof text);
  printf("  %04" PRIx64 "  ", offset);
  if (live) printf("%3u %3u %2u %2u  ", live->of[LIVE_R], live->of[LIVE_UR], live->of[LIVE_P], live->of[LIVE_UP]);
  if (o->hex) printf("%016" PRIx64 "%016" PRIx64 "  ", s->word.hi, s->word.lo);
  printf("%s\n", text);
}

/* First and last pc of the section of the kernel named: sections start at multiples of 128 bytes and a
 * kernel's functions follow it until the next kernel. */
static uint64_t section_end(const struct module *m, const struct module_kernel *k, uint64_t end)
{
  for (unsigned i = 0; i < module_kernel_count(m); i++) {
    uint64_t pc = module_kernel_at(m, i)->entry_pc;
    if (pc > k->entry_pc && pc < end) end = pc;
  }
  return end;
}

static void print_code(const struct disasm_options *o, const struct module_instance *mi,
                       uint64_t from, uint64_t to)
{
  const struct module *m = module_of(mi);
  const struct code_view *code = module_code(mi);
  char name[512], last[512] = "";
  struct live_count *live = o->live ? mem_zeroed(code_count(code) + 1, sizeof *live) : NULL;

  if (live) module_live_registers(m, code, live);
  for (uint64_t pc = from; pc < to; pc = code_next(code, pc)) {
    size_t i = (size_t)code_index(code, pc);
    function_of(m, pc, name, sizeof name);
    if (strcmp(name, last) != 0) {
      printf("%s%s:\n", *last ? "\n" : "", name);
      if (live) printf("    at    R  UR  P UP\n");
      memcpy(last, name, sizeof last);
    }
    print_inst(o, &module_sass(mi)[i], &code->inst[i], module_section_start(m, pc), live ? &live[i] : NULL);
  }
  mem_free(live);
}

/* The code space opens with the runtime services, which are no part of the file. */
static uint64_t first_code(const struct module *m, const struct code_view *code)
{
  uint64_t first = code->end;

  for (unsigned i = 0; i < module_symbol_count(m); i++) {
    const struct module_symbol *s = module_symbol_at(m, i);
    if (s->space == MODULE_CODE && s->offset < first) first = s->offset;
  }
  for (unsigned i = 0; i < module_kernel_count(m); i++)
    if (module_kernel_at(m, i)->entry_pc < first) first = module_kernel_at(m, i)->entry_pc;
  return first;
}

static bool disasm(const struct disasm_options *o, const struct module *m, struct err *e)
{
  const struct module_kernel *k = NULL;
  struct module_instance *mi;

  if (o->assembly) return asm_source_write(m, stdout, e);
  if (o->kernel && !(k = module_kernel(m, o->kernel, e))) return false;
  if (!(mi = module_instantiate(m, NULL, e))) return false;

  const struct code_view *code = module_code(mi);
  printf("// %s: sm_%u\n", module_name(m), module_sm(m));
  if (k)
    print_code(o, mi, k->entry_pc, section_end(m, k, code->end));
  else
    print_code(o, mi, first_code(m, code), code->end);
  module_instance_free(mi);
  return true;
}

/* Every image that the options ask for. With --kernel, those that do not have it are passed over
 * unless none has it. */
static bool disasm_all(const struct disasm_options *o, const struct code_file *f, struct err *e)
{
  unsigned shown = 0;
  struct err first = {0};

  for (unsigned i = 0; i < code_file_count(f); i++) {
    const struct code_image *c = code_file_image(f, i);
    struct err why = {0};
    if (o->sm && o->sm != c->sm) continue;
    if (c->ptx) {
      if (!o->kernel && !o->assembly) printf("// %s: PTX for compute_%u, not machine code\n", o->file, c->sm);
      continue;
    }
    struct module *m = code_file_load_image(f, i, &why);
    bool empty = m && code_file_count(f) > 1 && !module_kernel_count(m);
    if (m && !empty && o->assembly && shown) {
      module_free(m);
      return err_set(e, "%s: holds several images and an assembler file has one; choose with --sm",
                     o->file);
    }
    if (m && !empty && disasm(o, m, &why)) shown++;
    module_free(m);
    if (why.msg[0] && !first.msg[0]) first = why;
    if (why.msg[0] && !o->kernel) break;
  }
  if (first.msg[0] && (shown == 0 || !o->kernel)) {
    *e = first;
    return false;
  }
  char targets[200];
  return shown || err_set(e, "%s: no such machine code; the file has %s", o->file,
                          code_file_targets(f, targets, sizeof targets));
}

/* Objects, linked; for the target of the first part of the first file, or --sm. */
static bool disasm_linked(const struct disasm_options *o, char **files, unsigned n, struct err *e)
{
  unsigned sm = (unsigned)o->sm;
  if (!sm) {
    struct code_file *f = code_file_open(files[0], e);
    if (!f) return false;
    sm = code_file_image(f, 0)->sm;
    code_file_free(f);
  }
  struct module *m = code_file_link_paths((const char *const *)files, n, sm, e);
  bool ok = m && disasm(o, m, e);
  module_free(m);
  return ok;
}

/* Words of 16 bytes without any container; pc counts from 0. */
static bool disasm_words(const struct disasm_options *o, struct err *e)
{
  struct word128 w;
  uint64_t pc = 0;
  TRY(file_is_regular(o->file, e));
  FILE *f = fopen(o->file, "rb");
  if (!f) return err_set(e, "%s: cannot read: %s; check the path", o->file, host_error());
  for (; fread(&w, sizeof w, 1, f) == 1; pc += sizeof w) {
    struct sass_inst s;
    struct inst t;
    struct err why = {0};
    sass_decode((unsigned)o->sm, w, pc, &s, &t, &why);
    print_inst(o, &s, &t, 0, NULL);
  }
  bool whole = !ferror(f) && ftell(f) == (long)pc;
  fclose(f);
  return whole || err_set(e, "%s: size is not a multiple of 16 bytes; give whole instruction words",
                          o->file);
}

static int run_disasm(const struct cli_command *cmd, int argc, char **argv)
{
  struct disasm_options o = {.ctrl = true};
  struct err e = {0};
  const char *arg;

  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    switch (id) {
    case CLI_OPT_HELP: return cli_help(cmd);
    case OPT_KERNEL: o.kernel = arg; break;
    case OPT_SM:
      if (!cli_number(arg, 1, MAX_SM, &o.sm))
        return cli_usage_error(cmd, "--sm %s: not a target's number", arg);
      break;
    case OPT_NO_CTRL: o.ctrl = false; break;
    case OPT_HEX: o.hex = true; break;
    case OPT_LIVE: o.live = true; break;
    case OPT_ASM: o.assembly = true; break;
    case OPT_WORDS: o.words = true; break;
    default: return CLI_BAD_INPUT;
    }
  }
  if (optind == argc || (o.words && optind + 1 < argc))
    return cli_usage_error(cmd, o.words ? "--words takes one file" : "no file given");
  if (o.assembly && (o.kernel || o.hex || o.live || !o.ctrl))
    return cli_usage_error(cmd, "--asm writes whole files; only --sm goes with it");
  if (o.words && (o.kernel || o.assembly || o.live || !target_find((unsigned)o.sm)))
    return cli_usage_error(cmd, "--words needs --sm, and --kernel, --asm and --live do not go with it");
  o.file = argv[optind];
  if (o.words) return disasm_words(&o, &e) ? CLI_OK : cli_error("%s", e.msg);

  if (optind + 1 < argc)
    return disasm_linked(&o, argv + optind, (unsigned)(argc - optind), &e) ? CLI_OK
                                                                           : cli_error("%s", e.msg);
  struct code_file *f = code_file_open(o.file, &e);
  if (!f) return cli_error("%s", e.msg);
  bool ok = disasm_all(&o, f, &e);
  code_file_free(f);
  return ok ? CLI_OK : cli_error("%s", e.msg);
}

const struct cli_command cmd_disasm = {
  .name = "disasm",
  .synopsis = "FILE... [options]",
  .summary = "print the instructions of a cubin or CUDA program",
  .options = options,
  .notes = "FILE is a cubin, or anything that holds some: a fat binary, an executable, shared object, object\n"
           "file or library made by nvcc. PTX in it is named, not printed.\n"
           "Several files are objects of nvcc -rdc=true (-dc), which are linked first.\n"
           "Control information is printed as [B------:R-:W0:-:S04]: counters waited for, counter\n"
           "that protects the sources, counter that protects the result, yield, stall cycles.\n"
           "Addresses and branch targets count from the start of the section, as 'warpstep asm' takes them.\n"
           "A word that does not decode is printed as such; its control information is still valid.\n",
  .examples = "  # everything in the file\n"
              "  warpstep disasm kernels/vecadd/vecadd.sm_86.cubin\n"
              "  # one kernel, with the instruction words\n"
              "  warpstep disasm kernels/scan/scan.sm_80.cubin --kernel scan --hex\n"
              "  # a file that can be edited and assembled again\n"
              "  warpstep disasm kernels/vecadd/vecadd.sm_86.cubin --asm > vecadd.sass\n",
  .run = run_disasm,
};
