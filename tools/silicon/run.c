/* silicon: runs a launch file on a real NVIDIA GPU.
 *
 * The launch is set up in the simulator's own device memory first (same checks, same fills), then its
 * buffers are copied to the GPU, the same cubin is launched there through the driver API, and the
 * results are copied back over the simulator's buffers: comparing and saving are the simulator's
 * own code, too. Elapsed time comes from driver events, the clocks from NVML.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>


#include "driver.h"
#include "host/case.h"
#include "view/json.h"

enum { EXIT_MISMATCH = 1, EXIT_BAD_INPUT = 2, EXIT_GUEST_FAULT = 3, EXIT_SKIPPED = 4, MAX_REPEATS = 10000 };

static const char usage[] =
  "usage: silicon FILE.launch [options]\n"
  "       silicon --info\n"
  "Runs a launch file on a real NVIDIA GPU: same cubin, same buffers, same checks.\n"
  "  --device N     GPU number (0)\n"
  "  --repeat N     timed launches after the checked one (10); inputs are copied again before each\n"
  "  --batch N      launches between two events, back to back, without copying inputs (1)\n"
  "  --json FILE    write the results as JSON; - is stdout\n"
  "  --out DIR      write every buffer of the first launch to DIR/NAME.bin\n"
  "  --no-check     do not compare with expected results\n"
  "  --info         say which GPU there is and leave\n"
  "Exit status: 0 all match, 1 mismatch, 2 bad input or no GPU, 3 the kernel faulted,\n"
  "4 not for this GPU or this tool (no cubin for its target, textures).\n";

struct options {
  const char *file, *json, *out;
  int device;
  unsigned repeat, batch;
  bool check, info;
};

/* One buffer or symbol: where it lies in the simulator and on the GPU. */
struct twin {
  const char *name;
  const struct module_symbol *symbol; /* NULL: a buffer */
  uint64_t bytes;
  uint8_t *initial; /* contents before the first launch */
  uint8_t *now;
  cu_ptr gpu;
};

struct session {
  struct driver d;
  struct board board;
  cu_device device;
  cu_ctx ctx;
  cu_module module;
  cu_function function;
  struct launch_case lc;
  struct case_run *run;
  const struct module_kernel *kernel;
  unsigned sm;        /* target of the cubin */
  struct twin *twin; /* buffers of lc, then its symbols */
  unsigned n_twins;
  uint8_t *params;
  double time_ns[MAX_REPEATS]; /* per launch, sorted */
  unsigned n_times;
};

static void *read_file(const char *path, size_t *bytes, struct err *e)
{
  FILE *f = fopen(path, "rb");
  char *buf = NULL;
  long n = -1;

  if (f && fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0 &&
      (buf = malloc((size_t)n + 1)) && fread(buf, 1, (size_t)n, f) == (size_t)n) {
    fclose(f);
    *bytes = (size_t)n;
    return buf;
  }
  err_set(e, "%s: %s", path, strerror(errno));
  if (f) fclose(f);
  free(buf);
  return NULL;
}

static bool open_gpu(struct session *s, int device, struct err *e)
{
  int count = 0;

  TRY(driver_load(&s->d, e));
  CU_TRY(&s->d, e, cuDeviceGetCount, &count);
  if (device >= count) return err_set(e, "there is no GPU %d: the driver sees %d", device, count);
  CU_TRY(&s->d, e, cuDeviceGet, &s->device, device);
  CU_TRY(&s->d, e, cuDevicePrimaryCtxRetain, &s->ctx, s->device);
  CU_TRY(&s->d, e, cuCtxSetCurrent, s->ctx);
  return board_read(&s->d, s->device, &s->board, e);
}

static bool read_case(struct session *s, const struct options *o, struct err *e)
{
  TRY(launchfile_read(&s->lc, o->file, e));
  s->lc.stdout_file = NULL; /* device printf goes to the terminal, past the comparison */
  if (s->lc.n_cubins == 1) return true;
  return err_set(e, "%s: %u cubins; this tool loads one", s->lc.origin, s->lc.n_cubins);
}

static void cubin_path(const struct session *s, unsigned sm, char *path, size_t bytes)
{
  const char *pattern = s->lc.cubin[0], *at = strstr(pattern, "%d");

  if (at) snprintf(path, bytes, "%.*s%u%s", (int)(at - pattern), pattern, sm, at + 2);
  else snprintf(path, bytes, "%s", pattern);
}

/* Whether the GPU and this tool can run the case; s->sm becomes the target of its code. Code for sm_XY runs on sm_XZ,
 * Z >= Y: where there is no cubin of the exact target, the highest older one of the same major is used. */
static bool runs_here(struct session *s, struct err *e)
{
  const unsigned major = (unsigned)s->board.cc_major * 10;
  char path[4096];

  if (s->lc.n_textures) return err_set(e, "%s: textures and surfaces are not set up on silicon", s->lc.origin);
  for (int minor = s->board.cc_minor; minor >= 0; minor--) {
    s->sm = major + (unsigned)minor;
    cubin_path(s, s->sm, path, sizeof path);
    if (access(path, R_OK) == 0) return true;
  }
  return err_set(e, "%s: no cubin for sm_%u", s->lc.origin, major + (unsigned)s->board.cc_minor);
}

/* Builds the case in the simulator. */
static bool set_up_case(struct session *s, struct err *e)
{
  struct device_config config = device_config_default(s->sm);
  if (!(s->run = case_setup(&s->lc, &config, e))) return false;
  const struct launch *l = case_launch(s->run);
  s->kernel = module_kernel(case_code(s->run)->module, l->params.kernel_name, e);
  return s->kernel != NULL;
}

static bool load_code(struct session *s, struct err *e)
{
  const uint32_t shmem = s->lc.shmem;
  char path[4096];
  size_t bytes;

  cubin_path(s, s->sm, path, sizeof path);
  void *image = read_file(path, &bytes, e);
  if (!image) return false;
  int result = s->d.cuModuleLoadData(&s->module, image);
  free(image);
  TRY(driver_ok(&s->d, result, "cuModuleLoadData", e));
  CU_TRY(&s->d, e, cuModuleGetFunction, &s->function, s->module, s->kernel->name);
  if (shmem > 48 * 1024)
    CU_TRY(&s->d, e, cuFuncSetAttribute, s->function, CU_FUNC_MAX_DYNAMIC_SHARED, (int)shmem);
  if (s->lc.stack) CU_TRY(&s->d, e, cuCtxSetLimit, CU_LIMIT_STACK_SIZE, s->lc.stack);
  return true;
}

static bool read_guest(struct session *s, const struct twin *t, void *to)
{
  if (t->symbol)
    return module_variable_read(case_code(s->run)->instance, t->symbol, to, t->bytes);
  return gmem_read(case_device(s->run)->mem, case_buffer_address(s->run, t->name), to, t->bytes);
}

static bool write_guest(struct session *s, const struct twin *t, const void *from)
{
  if (t->symbol)
    return module_variable_write(case_code(s->run)->instance, t->symbol, from, t->bytes);
  return gmem_write(case_device(s->run)->mem, case_buffer_address(s->run, t->name), from, t->bytes);
}

static bool make_twin(struct session *s, const struct case_buffer *b, bool is_symbol,
                      struct twin *t, struct err *e)
{
  size_t have = 0;

  t->name = b->name;
  t->bytes = b->count * value_bytes(b->type);
  if (is_symbol) t->symbol = module_variable(case_code(s->run)->module, b->name);
  t->initial = malloc(t->bytes);
  t->now = malloc(t->bytes);
  if (!t->initial || !t->now) return err_set(e, "out of memory for '%s'", t->name);
  if (!read_guest(s, t, t->initial)) return err_set(e, "'%s' cannot be read", t->name);
  if (!t->symbol) {
    CU_TRY(&s->d, e, cuMemAlloc_v2, &t->gpu, t->bytes);
    return true;
  }
  CU_TRY(&s->d, e, cuModuleGetGlobal_v2, &t->gpu, &have, s->module, t->symbol->name);
  return have >= t->bytes ? true : err_set(e, "variable '%s' has %zu bytes only", t->name, have);
}

static bool make_twins(struct session *s, struct err *e)
{
  const struct launch_case *c = &s->lc;

  s->twin = calloc(c->n_buffers + c->n_symbols + 1, sizeof *s->twin);
  if (!s->twin) return err_set(e, "out of memory");
  for (unsigned i = 0; i < c->n_buffers; i++)
    TRY(make_twin(s, &c->buffer[i], false, &s->twin[s->n_twins++], e));
  for (unsigned i = 0; i < c->n_symbols; i++)
    TRY(make_twin(s, &c->symbol[i], true, &s->twin[s->n_twins++], e));
  return true;
}

/* The simulator's parameter block with the GPU's buffer addresses. */
static bool make_params(struct session *s, struct err *e)
{
  const struct module_kernel *k = s->kernel;

  s->params = calloc(1, k->param_bytes + 1);
  if (!s->params) return err_set(e, "out of memory");
  memcpy(s->params, case_launch(s->run)->bank0 + k->param_base, k->param_bytes);
  for (unsigned i = 0; i < s->lc.n_args; i++) {
    if (s->lc.arg[i].kind != ARG_BUFFER) continue;
    for (unsigned b = 0; b < s->lc.n_buffers; b++)
      if (!strcmp(s->twin[b].name, s->lc.arg[i].buffer))
        memcpy(s->params + k->param[i].offset, &s->twin[b].gpu, sizeof s->twin[b].gpu);
  }
  return true;
}

static bool upload(struct session *s, struct err *e)
{
  for (unsigned i = 0; i < s->n_twins; i++)
    CU_TRY(&s->d, e, cuMemcpyHtoD_v2, s->twin[i].gpu, s->twin[i].initial, s->twin[i].bytes);
  return true;
}

static bool launch(struct session *s, struct err *e)
{
  const struct launch_case *c = &s->lc;
  size_t bytes = s->kernel->param_bytes;
  void *extra[] = {CU_LAUNCH_BUFFER_POINTER, s->params, CU_LAUNCH_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_END};

  CU_TRY(&s->d, e, cuLaunchKernel, s->function, c->grid[0], c->grid[1], c->grid[2], c->block[0],
         c->block[1], c->block[2], c->shmem, NULL, NULL, extra);
  return true;
}

/* Brings the results back into the simulator's memory, where the checks look for them. */
static bool download(struct session *s, struct err *e)
{
  for (unsigned i = 0; i < s->n_twins; i++) {
    struct twin *t = &s->twin[i];
    CU_TRY(&s->d, e, cuMemcpyDtoH_v2, t->now, t->gpu, t->bytes);
    if (!write_guest(s, t, t->now)) return err_set(e, "'%s' cannot be written", t->name);
  }
  return true;
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool time_launches(struct session *s, const struct options *o, struct err *e)
{
  cu_event start, end;

  CU_TRY(&s->d, e, cuEventCreate, &start, 0);
  CU_TRY(&s->d, e, cuEventCreate, &end, 0);
  for (unsigned i = 0; i < o->repeat; i++) {
    float ms = 0;
    TRY(upload(s, e));
    CU_TRY(&s->d, e, cuCtxSynchronize);
    CU_TRY(&s->d, e, cuEventRecord, start, NULL);
    for (unsigned k = 0; k < o->batch; k++) TRY(launch(s, e));
    CU_TRY(&s->d, e, cuEventRecord, end, NULL);
    CU_TRY(&s->d, e, cuEventSynchronize, end);
    CU_TRY(&s->d, e, cuEventElapsedTime, &ms, start, end);
    s->time_ns[s->n_times++] = (double)ms * 1e6 / o->batch;
  }
  board_clocks(&s->board);
  qsort(s->time_ns, s->n_times, sizeof s->time_ns[0], by_value);
  CU_TRY(&s->d, e, cuEventDestroy_v2, start);
  CU_TRY(&s->d, e, cuEventDestroy_v2, end);
  return true;
}

static void put_board(struct json_out *j, const struct board *b)
{
  char date[32], cc[16];
  time_t t = time(NULL);
  struct tm tm;

  strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&t, &tm));
  snprintf(cc, sizeof cc, "sm_%d%d", b->cc_major, b->cc_minor);
  json_out_object(j, "gpu");
  json_out_text(j, "name", b->name);
  json_out_text(j, "target", cc);
  json_out_text(j, "driver", b->driver_version);
  json_out_text(j, "date", date);
  json_out_u64(j, "cuda", (unsigned)b->cuda_version);
  json_out_u64(j, "sm_count", (unsigned)b->sm_count);
  json_out_u64(j, "peak_sm_mhz", (unsigned)b->clock_khz / 1000);
  json_out_u64(j, "peak_memory_mhz", (unsigned)b->mem_clock_khz / 1000);
  json_out_u64(j, "sm_mhz", b->sm_mhz);
  json_out_u64(j, "memory_mhz", b->mem_mhz);
  json_out_u64(j, "memory_bus_bits", (unsigned)b->bus_bits);
  json_out_u64(j, "l2_bytes", (unsigned)b->l2_bytes);
  json_out_u64(j, "memory_bytes", b->mem_bytes);
  json_out_bool(j, "ecc", b->ecc);
  json_out_end(j);
}

static void put_stats(struct json_out *j, const struct session *s, const struct options *o)
{
  json_out_object(j, "stats");
  json_out_u64(j, "repeats", s->n_times);
  json_out_u64(j, "batch", o->batch);
  if (s->n_times) {
    json_out_u64(j, "time_ns_min", (uint64_t)s->time_ns[0]);
    json_out_u64(j, "time_ns_median", (uint64_t)s->time_ns[s->n_times / 2]);
    json_out_u64(j, "time_ns_max", (uint64_t)s->time_ns[s->n_times - 1]);
  }
  json_out_end(j);
}

static void put_document(struct json_out *j, const struct session *s, const struct options *o,
                         const struct case_result *list, unsigned n, bool ok)
{
  json_out_object(j, NULL);
  json_out_text(j, "schema", VIEW_JSON_SCHEMA);
  json_out_text(j, "kernel", s->kernel->name);
  json_out_text(j, "mode", "silicon");
  view_json_launch(j, &s->lc, case_launch(s->run), s->kernel);
  put_board(j, &s->board);
  json_out_object(j, "result");
  json_out_text(j, "status", ok ? "ok" : "mismatch");
  view_json_checks(j, list, n);
  json_out_end(j);
  put_stats(j, s, o);
  json_out_end(j);
}

static bool write_json(const struct session *s, const struct options *o,
                       const struct case_result *list, unsigned n, bool ok, struct err *e)
{
  struct text_out text;
  struct json_out j;
  bool to_stdout = !strcmp(o->json, "-");
  FILE *f = to_stdout ? stdout : fopen(o->json, "w");
  if (!f) return err_set(e, "%s: cannot write: %s", o->json, strerror(errno));
  text_out_open(&text, f);
  json_out_open(&j, &text, (struct json_form){.indent = 2});
  put_document(&j, s, o, list, n, ok);
  text_out_char(&text, '\n');
  text_out_close(&text);
  bool bad = to_stdout ? fflush(f) || ferror(f) : ferror(f) | fclose(f);
  return bad ? err_set(e, "%s: cannot write: %s", o->json, strerror(errno)) : true;
}

static void print_summary(const struct session *s, const struct options *o,
                          const struct case_result *list, unsigned n)
{
  fprintf(stderr, "%s on %s (driver %s, SM clock %u MHz)\n", s->kernel->name, s->board.name,
          s->board.driver_version[0] ? s->board.driver_version : "unknown", s->board.sm_mhz);
  if (s->n_times)
    fprintf(stderr, "  time    %.3f us least, %.3f us median of %u (events, %u launches each)\n",
            s->time_ns[0] / 1e3, s->time_ns[s->n_times / 2] / 1e3, s->n_times, o->batch);
  for (unsigned i = 0; i < n; i++)
    fprintf(stderr, "  %-7s %s\n", list[i].ok ? "match" : "DIFFER", list[i].text);
}

static bool compare(struct session *s, const struct options *o, const struct case_result **list,
                    unsigned *n, bool *ok, struct err *e)
{
  *n = 0;
  *ok = true;
  if (o->out) TRY(case_save(s->run, o->out, e));
  if (!o->check) return true;
  TRY(case_check(s->run, list, n, e));
  for (unsigned i = 0; i < *n; i++) *ok &= (*list)[i].ok;
  return true;
}

/* Everything up to and including the first launch: what fails after the launch is a guest fault. */
static int measure(struct session *s, const struct options *o, struct err *e)
{
  const struct case_result *list = NULL;
  unsigned n;
  bool ok;

  if (!read_case(s, o, e)) return EXIT_BAD_INPUT;
  if (!runs_here(s, e)) return EXIT_SKIPPED;
  if (!set_up_case(s, e) || !load_code(s, e) || !make_twins(s, e) || !make_params(s, e) ||
      !upload(s, e))
    return EXIT_BAD_INPUT;
  if (!launch(s, e)) return EXIT_BAD_INPUT;
  if (!driver_ok(&s->d, s->d.cuCtxSynchronize(), "cuCtxSynchronize", e)) return EXIT_GUEST_FAULT;
  if (!download(s, e) || !compare(s, o, &list, &n, &ok, e)) return EXIT_BAD_INPUT;
  if (!time_launches(s, o, e)) return EXIT_GUEST_FAULT;
  if (o->json && !write_json(s, o, list, n, ok, e)) return EXIT_BAD_INPUT;
  print_summary(s, o, list, n);
  return ok ? EXIT_SUCCESS : EXIT_MISMATCH;
}

static void close_session(struct session *s)
{
  for (unsigned i = 0; i < s->n_twins; i++) {
    if (s->twin[i].gpu && !s->twin[i].symbol) s->d.cuMemFree_v2(s->twin[i].gpu);
    free(s->twin[i].initial);
    free(s->twin[i].now);
  }
  free(s->twin);
  free(s->params);
  if (s->module) s->d.cuModuleUnload(s->module);
  if (s->run) case_free(s->run);
  launch_case_free(&s->lc);
  if (s->ctx) s->d.cuDevicePrimaryCtxRelease_v2(s->device);
  driver_unload(&s->d);
}

static unsigned count_of(const char *s, unsigned max)
{
  char *end;
  unsigned long n = strtoul(s, &end, 10);

  if (*s < '0' || *s > '9' || *end || n > max) {
    fprintf(stderr, "silicon: '%s' is not a number up to %u\n", s, max);
    exit(EXIT_BAD_INPUT);
  }
  return (unsigned)n;
}

static bool parse(int argc, char **argv, struct options *o)
{
  static const struct option longs[] = {
    {"device", 1, NULL, 'd'}, {"repeat", 1, NULL, 'r'}, {"batch", 1, NULL, 'b'},
    {"json", 1, NULL, 'j'},   {"out", 1, NULL, 'o'},    {"no-check", 0, NULL, 'n'},
    {"info", 0, NULL, 'i'},   {"help", 0, NULL, 'h'},   {0},
  };

  *o = (struct options){.repeat = 10, .batch = 1, .check = true};
  for (int id; (id = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
    switch (id) {
    case 'd': o->device = (int)count_of(optarg, 1024); break;
    case 'r': o->repeat = count_of(optarg, MAX_REPEATS); break;
    case 'b': o->batch = count_of(optarg, 1000000); break;
    case 'j': o->json = optarg; break;
    case 'o': o->out = optarg; break;
    case 'n': o->check = false; break;
    case 'i': o->info = true; break;
    case 'h': fputs(usage, stdout); exit(EXIT_SUCCESS);
    default: return false;
    }
  }
  if (optind < argc) o->file = argv[optind++];
  return optind == argc && o->batch > 0 && (o->info != (o->file != NULL));
}

int main(int argc, char **argv)
{
  struct options o;
  struct err e = {0};
  int status = EXIT_BAD_INPUT;

  if (!parse(argc, argv, &o)) {
    fputs(usage, stderr);
    return EXIT_BAD_INPUT;
  }
  struct session *s = calloc(1, sizeof *s);
  if (!s) return EXIT_BAD_INPUT;
  if (open_gpu(s, o.device, &e)) {
    status = o.info ? EXIT_SUCCESS : measure(s, &o, &e);
    if (o.info)
      printf("%s sm_%d%d, %d SMs, driver %s\n", s->board.name, s->board.cc_major,
             s->board.cc_minor, s->board.sm_count,
             s->board.driver_version[0] ? s->board.driver_version : "unknown");
  }
  if (e.msg[0] && status >= EXIT_BAD_INPUT) fprintf(stderr, "silicon: %s\n", e.msg);
  close_session(s);
  free(s);
  return status;
}
