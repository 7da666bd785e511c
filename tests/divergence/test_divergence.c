/* Generated programs about divergence and convergence (tools/divergence/generate.py), compiled for five targets, on the
 * simulator: results against those of the generator's interpreter. Needs no compiler.
 *
 * NAME.fatbin has the kernels of NAME.expect, in which a line "kernel block uni hash" tells how to launch one and the
 * FNV-1a hash of all that it leaves behind, `out` and then `acc`. Its first line has the GPUs. input.bin is what they read.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpstep/warpstep.h>

#include "base/redzone.h"

enum { GRID = 2, VARIABLES = 6, ACC = 32, INPUT = GRID * 96 * VARIABLES, LOCKS = 4, STACK = 16384, TIMED_EVERY = 20 };
/* Sanitizers get those that are timed, and few others: the code that they watch is the same. */
enum { EACH = REDZONE_BYTES ? 4 : 1 };
#define DIR_NAME "tests/divergence/"

struct bench {
  ws_device *gpu;
  ws_module *module;
  ws_address in, out, acc, lock;
  unsigned runs; /* of kernels, every TIMED_EVERY'th is timed */
};

static ws_error error = WS_ERROR_INIT;

static void must(int status, const char *what)
{
  if (status == WS_OK) return;
  printf("not ok divergence %s: %s\n", what, error.message);
  exit(EXIT_FAILURE);
}

static uint64_t fnv(uint64_t hash, const uint32_t *word, size_t n)
{
  for (size_t i = 0; i < n; i++)
    for (unsigned b = 0; b < 32; b += 8) hash = (hash ^ (word[i] >> b & 0xff)) * 0x100000001b3u;
  return hash;
}

static void read_input(uint32_t word[INPUT])
{
  FILE *f = fopen(DIR_NAME "input.bin", "rb");
  if (f && fread(word, sizeof *word, INPUT, f) == INPUT && !fclose(f)) return;
  printf("not ok divergence: cannot read " DIR_NAME "input.bin\n");
  exit(EXIT_FAILURE);
}

static void bench_open(struct bench *b, const char *preset, const char *name)
{
  static uint32_t input[INPUT];
  char path[512];
  struct ws_device_options o = WS_DEVICE_OPTIONS_INIT;
  o.preset = preset;
  o.preset_dir = "presets";
  snprintf(path, sizeof path, DIR_NAME "%s.fatbin", name);
  must(ws_device_create(&o, &b->gpu, &error), preset);
  must(ws_module_load(b->gpu, path, &b->module, &error), path);
  read_input(input);
  must(ws_alloc(b->gpu, sizeof input, &b->in, &error), name);
  must(ws_alloc(b->gpu, sizeof input, &b->out, &error), name);
  must(ws_alloc(b->gpu, ACC * 4, &b->acc, &error), name);
  must(ws_alloc(b->gpu, LOCKS * 4, &b->lock, &error), name);
  must(ws_copy_in(b->gpu, b->in, input, sizeof input, &error), name);
}

/* Hash of what the kernel left; false when it faulted, or did not end. */
static bool run(struct bench *b, const char *kernel, uint32_t block, uint32_t uni, bool timed, uint64_t *hash)
{
  static uint32_t word[INPUT + ACC];
  const uint32_t zero = 0, untouched = 0xdeadbeef;
  const size_t words = (size_t)GRID * block * VARIABLES;
  void *arguments[] = {&b->in, &b->out, &b->acc, &b->lock, &uni};
  struct ws_launch l = WS_LAUNCH_INIT;
  const ws_kernel *k;
  ws_result *result;
  must(ws_fill(b->gpu, b->out, &untouched, 4, words, &error), kernel);
  must(ws_fill(b->gpu, b->acc, &zero, 4, ACC, &error), kernel);
  must(ws_fill(b->gpu, b->lock, &zero, 4, LOCKS, &error), kernel);
  must(ws_module_kernel(b->module, kernel, &k, &error), kernel);
  l.grid[0] = GRID;
  l.block[0] = block;
  l.stack_bytes = STACK;
  l.arguments = arguments;
  l.mode = timed ? WS_TIMED : WS_FUNCTIONAL;
  l.max_instructions = 50000000; /* a lock that nobody gives back */
  must(ws_launch(k, &l, &result, &error), kernel);
  const bool ended = ws_result_end(result) == WS_ENDED;
  ws_result_destroy(result);
  must(ws_copy_out(b->gpu, word, b->out, words * 4, &error), kernel);
  must(ws_copy_out(b->gpu, word + words, b->acc, ACC * 4, &error), kernel);
  *hash = fnv(0xcbf29ce484222325u, word, words + ACC);
  return ended;
}

/* A line that is neither a comment nor a kernel is one that would not be run. */
static bool is_comment(const char *line)
{
  return line[0] == '#' || line[strspn(line, " \n")] == '\0';
}

/* Returns the number of kernels that failed, and 1 where there is none. */
static unsigned run_file(struct bench *b, const char *name, const char *gpu, FILE *expect)
{
  char line[128], kernel[32];
  uint32_t block, uni;
  uint64_t want, got;
  unsigned bad = 0, kernels = 0;
  while (fgets(line, sizeof line, expect)) {
    if (is_comment(line)) continue;
    kernels++;
    if (sscanf(line, "%31s %" SCNu32 " %" SCNu32 " %" SCNx64, kernel, &block, &uni, &want) != 4) {
      printf("not ok divergence %s: not a kernel: %s", name, line);
      bad++;
      continue;
    }
    if (++b->runs % EACH) continue;
    const bool timed = b->runs % TIMED_EVERY == 0;
    const bool ended = run(b, kernel, block, uni, timed, &got), ok = ended && got == want;
    printf("%sok divergence %s %s %s%s%s\n", ok ? "" : "not ", name, kernel, gpu, timed ? " timed" : "",
           ok ? "" : ended ? ": wrong results" : ": did not end");
    bad += !ok;
  }
  if (!kernels) printf("not ok divergence %s: no kernel\n", name);
  return bad + !kernels;
}

static unsigned run_name(const char *name, unsigned *runs)
{
  char path[512], gpus[256], *at = gpus, *gpu;
  unsigned bad = 0;
  snprintf(path, sizeof path, DIR_NAME "%s.expect", name);
  FILE *f = fopen(path, "r");
  if (!f || !fgets(gpus, sizeof gpus, f)) {
    printf("not ok divergence: cannot read %s\n", path);
    exit(EXIT_FAILURE);
  }
  const long body = ftell(f);
  if (!gpus[strspn(gpus, " \n")]) bad += (unsigned)printf("not ok divergence %s: no GPU\n", name) > 0;
  while ((gpu = strtok_r(at, " \n", &at))) {
    struct bench b = {.runs = *runs};
    bench_open(&b, gpu, name);
    fseek(f, body, SEEK_SET);
    bad += run_file(&b, name, gpu, f);
    *runs = b.runs;
    ws_module_unload(b.module);
    ws_device_destroy(b.gpu);
  }
  fclose(f);
  return bad;
}

static int is_expect(const struct dirent *d)
{
  const char *dot = strrchr(d->d_name, '.');
  return dot && !strcmp(dot, ".expect");
}

int main(int argc, char **argv)
{
  struct dirent **entry;
  unsigned bad = 0, runs = 0;
  if (argc > 1) { /* one file */
    bad = run_name(argv[1], &runs);
    return bad != 0;
  }
  int n = scandir(DIR_NAME, &entry, is_expect, alphasort);
  for (int i = 0; i < n; i++) {
    *strrchr(entry[i]->d_name, '.') = 0;
    bad += run_name(entry[i]->d_name, &runs);
    free(entry[i]);
  }
  if (n >= 0) free(entry);
  return bad || n <= 0;
}
