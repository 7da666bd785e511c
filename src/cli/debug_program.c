#include "cli/debug_program.h"

#include "cli/exec_program.h"

static const struct cli_option options[] = {
  {OPT_GPU, "gpu", "PRESET", "the GPU to simulate; by default one the program has code for"},
  {OPT_SET, "set", "KEY=VALUE", "change one parameter of the preset (repeatable)"},
  LIBS_ROW,
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

int debug_program(const struct cli_command *cmd, const struct debug_options *debug, int argc, char **argv)
{
  struct cli_command as_exec = *cmd;
  as_exec.options = options;
  return exec_program(&as_exec, (struct exec_run){ .debug = debug }, argc, argv);
}
