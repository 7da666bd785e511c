/* The commands, one cmd_*.c each. */
#ifndef WS_CLI_COMMANDS_H
#define WS_CLI_COMMANDS_H

#include "cli/cli.h"

extern const struct cli_command cmd_run, cmd_exec, cmd_ncu, cmd_sanitize, cmd_debug, cmd_capture, cmd_trace,
  cmd_disasm, cmd_asm, cmd_isa, cmd_gpus, cmd_machines, cmd_probe, cmd_validate, cmd_area, cmd_diff, cmd_sweep,
  cmd_help;

#endif
