/* warpstep sanitize: defects of a program's kernels. */
#include "cli/commands.h"
#include "cli/exec_program.h"

static const struct cli_option options[] = {
  {OPT_TOOL, "tool", "TOOLS", "memcheck, racecheck, initcheck, synccheck (several with commas) or\nall (the default)"},
  {OPT_LEAK_CHECK, "leak-check", "MODE", "full: report device memory that is not freed; no (the default)"},
  {OPT_PRINT_LEVEL, "print-level", "LEVEL", "error: what is surely a defect (the default); warn: and what may be\n"
                                            "meant; info: and races that do not change what is there"},
  {OPT_PRINT_LIMIT, "print-limit", "N", "print the first N findings (100), count the others"},
  {OPT_ERROR_EXITCODE, "error-exitcode", "N", "exit status when the program succeeds and has defects (1; 0: as if\n"
                                              "it had none)"},
  {OPT_LOG_FILE, "log-file", "FILE", "write the reports there, not to stdout"},
  {OPT_GPU, "gpu", "PRESET", "the GPU to simulate; by default one the program has code for"},
  {OPT_SET, "set", "KEY=VALUE", "change one parameter of the preset (repeatable)"},
  {OPT_INTERLEAVE, "interleave", "N", "the warps of a CTA take turns after N instructions at most (4096)"},
  {OPT_MAX_INSTRUCTIONS, "max-instructions", "N", "a launch fails after N warp instructions"},
  LIBS_ROW,
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

static int run_sanitize(const struct cli_command *cmd, int argc, char **argv)
{
  return exec_program(cmd, (struct exec_run){ .tools = "all", .error_exitcode = "1" }, argc, argv);
}

const struct cli_command cmd_sanitize = {
  .name = "sanitize",
  .synopsis = "[options] PROGRAM [ARGUMENT...]",
  .summary = "find defects of the kernels of a CUDA program",
  .options = options,
  .program_follows = true,
  .notes =
    "The program runs as with 'warpstep exec --functional', and its kernels are watched: for addresses\n"
    "outside of allocations (memcheck), accesses to one place that nothing orders (racecheck), reads of\n"
    "what nobody wrote (initcheck), and barriers that not all threads reach (synccheck). Reports have\n"
    "the form of NVIDIA's compute-sanitizer; with nvcc -lineinfo they name source lines. An access that is\n"
    "invalid does not happen, and a kernel that faults ends alone: the program goes on. docs/sanitize.md says\n"
    "what is found and what is not; 'warpstep run --check' does the same for one launch.\n"
    "\n"
    "All processes of the program count, however they end; warpstep waits for the first one. The exit status is\n"
    "that of the program; 1, or --error-exitcode, when that is 0 and there are defects; 2 when it could not be\n"
    "started. When no kernel ran, a line on stderr says so.\n",
  .examples =
    "  # everything\n"
    "  warpstep sanitize ./app\n"
    "  # only races, in a log\n"
    "  warpstep sanitize --tool racecheck --log-file races.log ./app\n",
  .run = run_sanitize,
};
