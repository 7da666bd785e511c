/* warpstep exec: an unmodified CUDA program on the simulated GPU. */
#include "cli/commands.h"
#include "cli/exec_program.h"

static const struct cli_option options[] = {
  {OPT_GPU, "gpu", "PRESET", "the GPU to simulate; by default one the program has code for"},
  {OPT_MACHINE, "machine", "NAME", "a machine of several GPUs, or a file of one (docs/machines.md)"},
  {OPT_RANKS, "ranks", "N", "the machine's GPUs in N processes, each of which runs the program; or mpi: in\n"
                            "those that mpirun has started (docs/several-gpus.md)"},
  {OPT_SHARE, "share", "HOW", "processes that the program starts have one GPU: slices: in turns, time slices; mps:\n"
                              "at the same time, as clients of the Multi-Process Service; none: each has its own, the\n"
                              "default (docs/sharing.md)"},
  {OPT_SET, "set", "KEY=VALUE", "change one parameter of the preset (repeatable)"},
  {OPT_CLOCK, "clock", "MHZ", "lock the SM clock; L2 follows it, DRAM keeps its own"},
  {OPT_MIG, "mig", "PROFILE,...", "the GPU cut into instances, as 3g.20gb,1g.5gb of an a100, or GPUs of a\n"
                                  "machine, as 0:3g.20gb,1g.5gb,2:1g.5gb; the program has the first, or that\n"
                                  "of CUDA_VISIBLE_DEVICES (docs/sharing.md)"},
  {OPT_TIMED, "timed", NULL, "simulate the time of every launch (the default)"},
  {OPT_FUNCTIONAL, "functional", NULL, "compute results only; times are nominal (docs/exec-time.md)"},
  {OPT_TIME_KERNELS, "time-kernels", "WHICH", "time only launches N..M (from 1; several with commas), or those whose\n"
                                              "kernel's name or symbol matches a regular expression"},
  {OPT_STOP, "stop-after-timed", NULL, "end the program after the last launch of N..M"},
  {OPT_COLD, "cold", NULL, "empty all caches before each timed launch, as profilers do"},
  {OPT_INTERLEAVE, "interleave", "N", "launches without time: the warps of a CTA take turns after N\n"
                                      "instructions at most (4096), for programs that race"},
  {OPT_HOST_TIME, "host-time", "HOW", "how long the program computes between calls: calls (not at all, the\n"
                                      "default), measured[,SCALE], record=FILE, replay=FILE (docs/exec-time.md)"},
  {OPT_SPIN, "spin", "HOW", "a program that waits in its own code for what a kernel writes: evidence (the\n"
                            "default), or strict: each look takes simulated time (docs/exec-time.md)"},
  {OPT_THREADS, "threads", "N", "host threads (1)"},
  {OPT_REPORT, "report", "FILE", "write the table of launches there, not to stderr"},
  {OPT_JSON, "json", "FILE", "write the launches as JSON; - is stdout"},
  {OPT_HTML, "html", "FILE", "write a page for browsers: the launches, and all about the longest of\n"
                             "them (docs/html.md)"},
  {OPT_HTML_BASELINE, "html-baseline", "FILE", "with changes since that execution, of which --json wrote FILE"},
  {OPT_WHAT_IF, "what-if", "COST,...", "run the launches that --time-kernels names again alone, as they found the\n"
                                       "memory, without each of these costs (docs/limiter.md); or all. With\n"
                                       "--machine the whole program again; costs of links, too: link_rate,\n"
                                       "link_latency"},
  {OPT_TIMELINE, "timeline", "FILE", "write calls, streams, copies, kernels and CTAs with their times, for\n"
                                     "the viewer Perfetto (docs/timeline.md)"},
  {OPT_TIMELINE_SMS, "timeline-sms", "SMS", "CTAs of these SMs: 3 or 0-7 (all)"},
  {OPT_TIMELINE_WARPS, "timeline-warps", "WARPS", "and what these warps waited for: 3 (those of CTA 3), 0-7, 2.1, all"},
  {OPT_TIMELINE_US, "timeline-us", "FROM:TO", "what begins in these microseconds of the program"},
  {OPT_TRACE, "trace", "DIR", "write the launches that would be timed as traces there, time none"},
  {OPT_QUIET, "quiet", NULL, "no table of launches, no progress line"},
  {OPT_PROGRESS, "progress", NULL, "a progress line of long launches, also where stderr is no\n"
                                   "terminal"},
  {OPT_SAMPLE, "sample-launches", "N", "of launches alike (kernel, grid, block), time the first N, then\n"
                                       "ever fewer; estimate the others and print the error"},
  {OPT_SAMPLE_CTAS, "sample-ctas", "N", "time about N CTAs of a launch (at least three waves), run the others\n"
                                       "without time, estimate and print the error"},
  {OPT_MAX_CYCLES, "max-cycles", "N", "a timed launch fails after N cycles (as by a watchdog)"},
  {OPT_MAX_INSTRUCTIONS, "max-instructions", "N", "a launch fails after N warp instructions"},
  LIBS_ROW,
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {OPT_SYSROOT, "sysroot", "DIR", "RISC-V programs: where their interpreter and libraries are\n"
                                  "(/usr/riscv64-linux-gnu)"},
  {OPT_MEMORY, "memory", "MIB", "RISC-V programs: memory they may use (4096)"},
  {OPT_FUNCTIONAL_CPU, "functional-cpu", NULL, "RISC-V programs: the machine's GPUs in time, its CPU without"},
  {OPT_FAST_FORWARD, "fast-forward", "TO", "RISC-V programs: without time up to its first region of interest\n"
                                           "(region), or to so many instructions"},
  {OPT_MISSING_CALLS, "missing-calls", NULL, "RISC-V programs: name system calls that are not served, once each"},
  {OPT_CHECKPOINT, "checkpoint", "FILE", "RISC-V programs in time: save the run, to go on from there later\n"
                                         "(docs/checkpoints.md)"},
  {OPT_CHECKPOINT_AT, "checkpoint-at", "NS,...", "... at this time of the program; with several, to FILE.NS each. Or\n"
                                                 "region: when its next region of interest begins"},
  {OPT_RESTORE, "restore", "FILE", "go on from there; only --threads with it"},
  {0},
};

static int run_exec(const struct cli_command *cmd, int argc, char **argv)
{
  return exec_program(cmd, (struct exec_run){ .timed = true }, argc, argv);
}

const struct cli_command cmd_exec = {
  .name = "exec",
  .synopsis = "[options] PROGRAM [ARGUMENT...]",
  .summary = "run an unmodified CUDA program",
  .options = options,
  .program_follows = true,
  .notes =
    "The program uses the CUDA driver or runtime library as ever; both are replaced by ours, and its\n"
    "kernels run on the simulated GPU inside the program's own process. It must be linked with\n"
    "-cudart shared, or with the static runtime (nvcc's default) and not stripped.\n"
    "Events and the device's clocks tell simulated time. docs/exec.md lists what is served, docs/json.md\n"
    "every key of --json. The table at the end says where issue slots and warps of each kernel went.\n"
    "\n"
    "An executable of 64-bit RISC-V Linux runs on a simulated core, without time; with --machine on the cores\n"
    "of a machine that has some, in time (docs/rv64.md).\n"
    "\n"
    "The exit status is that of the program; 2 when it could not be started.\n",
  .examples =
    "  # time all launches of a program\n"
    "  warpstep exec ./saxpy 1000000\n"
    "  # results only, then only the tenth launch with time on another GPU\n"
    "  warpstep exec --functional ./train --epochs 1\n"
    "  warpstep exec --gpu a100 --time-kernels 10..10 --stop-after-timed ./train --epochs 1\n"
    "  # the launches of one kernel, as JSON\n"
    "  warpstep exec --time-kernels gemm --json launches.json ./app\n"
    "  # on eight GPUs\n"
    "  warpstep exec --machine dgx-a100 ./app\n"
    "  # what the third launch would gain without each of its costs\n"
    "  warpstep exec --what-if all --time-kernels 3..3 --stop-after-timed ./app\n",
  .run = run_exec,
};
