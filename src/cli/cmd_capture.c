/* warpstep capture: launches of a program as files. */
#include "cli/commands.h"
#include "cli/exec_program.h"

static const struct cli_option options[] = {
  {OPT_OUTPUT, "output", "DIR", "folder for the cases; made when it is not there"},
  {OPT_TIME_KERNELS, "launches", "WHICH", "capture only launches N..M (from 1), or those whose\n"
                                          "kernel's name or symbol matches a regular expression"},
  {OPT_STOP, "stop-after-captured", NULL, "end the program after the last launch of N..M"},
  {OPT_GPU, "gpu", "PRESET", "the GPU to simulate; by default one the program has code for"},
  {OPT_SET, "set", "KEY=VALUE", "change one parameter of the preset (repeatable)"},
  {OPT_TIMED, "timed", NULL, "run the launches on the timing model, for programs whose way\n"
                             "depends on time"},
  {OPT_INTERLEAVE, "interleave", "N", "launches without time: the warps of a CTA take turns after N\n"
                                      "instructions at most (4096), for programs that race"},
  {OPT_THREADS, "threads", "N", "host threads (1)"},
  LIBS_ROW,
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

static int run_capture(const struct cli_command *cmd, int argc, char **argv)
{
  return exec_program(cmd, (struct exec_run){0}, argc, argv);
}

const struct cli_command cmd_capture = {
  .name = "capture",
  .synopsis = "-o DIR [options] PROGRAM [ARGUMENT...]",
  .summary = "save launches of a CUDA program, to run them alone",
  .options = options,
  .program_follows = true,
  .notes =
    "The program runs as with 'warpstep exec --functional'. Each launch becomes a file DIR/NUMBER-KERNEL.case\n"
    "that holds its machine code, arguments, all device memory before, and what of it had changed after;\n"
    "DIR/manifest.txt lists them with their checksums. 'warpstep run FILE.case' runs one again, on the\n"
    "same or on another GPU, and compares memory and printed text.\n"
    "\n"
    "The exit status is that of the program; 2 when it could not be started.\n",
  .examples =
    "  # every launch\n"
    "  warpstep capture -o cases ./saxpy 1000000\n"
    "  # the third launch, and not more of the program than it takes to get there\n"
    "  warpstep capture -o third --launches 3..3 --stop-after-captured ./train\n"
    "  warpstep run third/0003-*.case --gpu rtx-3090\n",
  .run = run_capture,
};
