/* warpstep asm: an assembler file to a cubin. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/host_memory.h"
#include "base/output.h"
#include "cli/commands.h"
#include "config/presets.h"
#include "load/asm_source.h"

enum { OPT_OUTPUT = 'o', OPT_SCHEDULE = CLI_OPT_FIRST, OPT_PRESETS };
enum { SOURCE_LIMIT = 1 << 28 }; /* bytes */

static const struct cli_option options[] = {
  {OPT_OUTPUT, "output", "FILE", "the cubin to write (default: FILE.cubin)"},
  {OPT_SCHEDULE, "schedule", "GPU", "compute the control information for this GPU, instead of\n"
                                    "taking it from the text"},
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

/* The whole file in the arena; NULL with errno set. */
static char *read_source(struct arena *a, const char *path, size_t *bytes)
{
  struct stat st;
  bool device = stat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)); /* no end */
  FILE *f = device ? NULL : fopen(path, "rb");
  if (device) errno = EINVAL;
  if (!f) return NULL;
  char *text = NULL;
  size_t room = 0;
  *bytes = 0;
  for (size_t got = 1; got && *bytes < SOURCE_LIMIT; *bytes += got) {
    if (*bytes == room) {
      char *more = arena_alloc(a, room ? 2 * room : 1 << 16, 1);
      if (*bytes) memcpy(more, text, *bytes);
      text = more;
      room = room ? 2 * room : 1 << 16;
    }
    got = fread(text + *bytes, 1, room - *bytes, f);
  }
  bool failed = ferror(f);
  int saved = errno;
  fclose(f);
  errno = saved;
  return failed ? NULL : text;
}

static int write_file(const char *path, const uint8_t *image, size_t bytes)
{
  struct output out;
  struct err e = {""};
  FILE *f = output_open(&out, path, &e);
  if (f) fwrite(image, 1, bytes, f);
  return f && output_close(&out, true, &e) ? CLI_OK : cli_error("%s", e.msg);
}

/* FILE.sass becomes FILE.cubin. */
static char *default_output(struct arena *a, const char *source)
{
  size_t n = strlen(source), cut = n > 5 && !strcmp(source + n - 5, ".sass") ? n - 5 : n;
  char *path = arena_alloc(a, n + sizeof ".cubin", 1);
  memcpy(path, source, cut);
  strcpy(path + cut, ".cubin");
  return path;
}

/* The preset's distances as the scheduler wants them. */
static struct schedule_rules rules_of(const struct params *p)
{
  return (struct schedule_rules){
    .gap = {[ROLE_SAME] = p->gap_same, [ROLE_CROSS] = p->gap_cross, [ROLE_QUEUED] = p->gap_queued,
            [ROLE_ADDR] = p->gap_addr, [ROLE_GUARD] = p->gap_guard, [ROLE_PRED] = p->gap_pred},
    .depbar_cycles = p->issue_depbar_cycles,
    .big_stall_from = p->issue_big_stall_from,
  };
}

static int assemble(const char *source, const char *output, const struct schedule_rules *rules)
{
  struct arena a = {0};
  struct err e = {0};
  size_t bytes, image_bytes;
  const uint8_t *image = NULL;
  int status;
  char *text = read_source(&a, source, &bytes);
  if (text) image = asm_source_assemble(&a, text, bytes, source, rules, &image_bytes, &e);
  if (!text) status = cli_error("%s: cannot read: %s; check the path", source, host_error());
  else if (!image) status = cli_error("%s", e.msg);
  else status = write_file(output ? output : default_output(&a, source), image, image_bytes);
  arena_free(&a);
  return status;
}

static int run_asm(const struct cli_command *cmd, int argc, char **argv)
{
  const char *arg, *output = NULL, *gpu = NULL, *presets = NULL;
  struct params params;
  struct schedule_rules rules;
  char dir[4096];
  struct err e = {0};
  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    switch (id) {
    case CLI_OPT_HELP: return cli_help(cmd);
    case OPT_OUTPUT: output = arg; break;
    case OPT_SCHEDULE: gpu = arg; break;
    case OPT_PRESETS: presets = arg; break;
    default: return CLI_BAD_INPUT;
    }
  }
  if (optind + 1 != argc) return cli_usage_error(cmd, "give one assembler file");
  if (!gpu) return assemble(argv[optind], output, NULL);
  if (!presets_dir(presets, dir, sizeof dir, &e) || !params_load(gpu, dir, &params, &e))
    return cli_error("%s", e.msg);
  rules = rules_of(&params);
  return assemble(argv[optind], output, &rules);
}

const struct cli_command cmd_asm = {
  .name = "asm",
  .synopsis = "FILE.sass [-o FILE.cubin] [--schedule GPU]",
  .summary = "assemble hand-written or disassembled instructions to a cubin",
  .options = options,
  .notes = "docs/assembly.md describes the language. Errors name file, line and column, and what would\n"
           "be valid there.\n",
  .examples = "  # a microbenchmark\n"
              "  warpstep asm tests/asm/read_ports.sass -o read_ports.cubin\n"
              "  # change a compiled kernel\n"
              "  warpstep disasm kernels/vecadd/vecadd.sm_86.cubin --asm > vecadd.sass\n"
              "  warpstep asm vecadd.sass -o vecadd.sm_86.cubin\n"
              "  # compute stall counts, counters and reuse bits\n"
              "  warpstep asm vecadd.sass -o vecadd.sm_86.cubin --schedule rtx-3070\n",
  .run = run_asm,
};
