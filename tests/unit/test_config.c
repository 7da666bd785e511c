/* Presets: published arithmetic of the boards, inheritance, provenance, and every error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/host_memory.h"
#include "base/settings.h"
#include "config/params.h"
#include "config/presets.h"

#define DIR WS_SOURCE_DIR "/presets"

static struct params board(const char *name)
{
  struct params p;
  struct err e = {0};
  if (!params_load(name, DIR, &p, &e)) fail_msg("%s", e.msg);
  return p;
}

/* ---- Published figures ---- */

struct figures {
  const char *name;
  unsigned sms, sm, gb_per_s, fp32_lanes, tensor_fma, warps, ctas, shared_kib, l2_kib;
};

/* Whitepapers and data sheets: SMs, compute capability, DRAM bandwidth, FP32 lanes of the GPU, FP16
 * tensor FMA per SM and clock (FP16 accumulation), warps and CTAs per SM, shared memory, L2. */
static const struct figures published[] = {
    {"rtx-3070", 46, 86, 448, 5888, 512, 48, 16, 100, 4096},
    {"rtx-3080", 68, 86, 760, 8704, 512, 48, 16, 100, 5120},
    {"rtx-a6000", 84, 86, 768, 10752, 512, 48, 16, 100, 6144},
    {"a100", 108, 80, 1555, 6912, 1024, 64, 32, 164, 40960},
    {"h200", 132, 90, 4800, 16896, 2048, 64, 32, 228, 61440},
};

static void test_published_figures(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
    const struct figures *f = &published[i];
    struct params p = board(f->name);
    assert_int_equal(p.gpu_sms, f->sms);
    assert_int_equal(p.arch_sm, f->sm);
    assert_int_equal(params_dram_bytes_per_second(&p) / 1000000000, f->gb_per_s);
    /* A pipe that takes a warp every n cycles has 32 / n lanes. */
    unsigned lanes = 32 / p.pipe_interval[PIPE_FMA];
    if (p.issue_fp32_on_alu) lanes += 32 / p.pipe_interval[PIPE_ALU];
    assert_int_equal(p.gpu_sms * p.sm_sub_cores * lanes, f->fp32_lanes);
    unsigned fma = 16 * 8 * 16 / p.mma_interval[LAT_MMA_16816_F16 - MMA_FIRST];
    assert_int_equal(fma * p.sm_sub_cores, f->tensor_fma);
    assert_int_equal(p.sm_max_warps, f->warps);
    assert_int_equal(p.sm_max_ctas, f->ctas);
    assert_int_equal(p.sm_shared_bytes, f->shared_kib * 1024);
    assert_int_equal(p.sm_shared_per_cta_max, f->shared_kib * 1024 - 1024);
    assert_int_equal(p.l2_bytes, f->l2_kib * 1024);
  }
}

static void test_sums_of_one_board(void **state)
{
  (void)state;
  struct params a = board("a100");
  assert_int_equal(a.gpu_sms * 4, 432);          /* tensor cores */
  assert_int_equal(a.dram_channels, 5 * 8 * 2);  /* stacks x channels x pseudo-channels */
  assert_int_equal(a.l2_bytes / a.l2_slices, 512 * 1024);
  struct params g = board("rtx-3070");
  assert_int_equal(g.l2_bytes / g.l2_slices, 128 * 1024);
  assert_int_equal(g.l2_slices, 2 * g.dram_channels);
  assert_int_equal(g.dram_bus_bits, 16 * g.dram_channels);
  assert_int_equal(params_clock_ps(&g), 580); /* 1725 MHz: 579.7 ps */
  assert_int_equal(g.sm_registers / g.sm_register_granule, 256);
}

/* A channel of the DRAM model is what has banks and activation windows of its own: a pseudo-channel, of 64 bits in HBM2
 * (JESD235), of 32 in HBM3 (JESD238). */
static void test_pseudo_channels(void **state)
{
  static const char *const hbm2[] = {"v100", "v100-pcie", "titan-v", "quadro-gv100", "a100", "a100-sxm4-80gb", "a30", "h100-pcie"};
  static const char *const hbm3[] = {"h100", "h100-nvl", "h200", "h20", "gh200", "b200", "gb200", "b300"};
  (void)state;
  for (size_t i = 0; i < sizeof hbm2 / sizeof *hbm2; i++) {
    const struct params p = board(hbm2[i]);
    assert_int_equal(p.dram_bus_bits, 64 * p.dram_channels);
  }
  for (size_t i = 0; i < sizeof hbm3 / sizeof *hbm3; i++) {
    const struct params p = board(hbm3[i]);
    assert_int_equal(p.dram_bus_bits, 32 * p.dram_channels);
  }
}

static void test_dependent_latencies(void **state)
{
  (void)state;
  struct params p = board("rtx-3070");
  assert_int_equal(params_l1_hit_cycles(&p), 31); /* Huerta et al., MICRO 2025, Figure 2 */
  assert_int_equal(p.lat[LAT_FMA], 4);
  assert_int_equal(p.issue_policy, ISSUE_POLICY_CGGTY);
}

static void test_every_listed_preset_loads(void **state)
{
  (void)state;
  struct arena a = {0};
  struct preset_names names;
  struct err e = {0};
  assert_true(presets_list(DIR, &a, &names, &e));
  assert_true(names.n >= 8);
  for (unsigned i = 1; i < names.n; i++)
    assert_true(strcmp(names.name[i - 1], names.name[i]) < 0); /* sorted */
  for (unsigned i = 0; i < names.n; i++) (void)board(names.name[i]);
  arena_free(&a);
}

/* ---- Provenance ---- */

static int find(const char *name)
{
  struct param_key k;
  return param_key_find(name, &k);
}

static void test_origins(void **state)
{
  (void)state;
  struct preset p;
  struct err e = {0};
  assert_true(preset_load("rtx-3070", DIR, &p, &e));
  for (unsigned i = 0; i < PARAM_N_KEYS; i++) {
    assert_non_null(p.origin[i].source);
    assert_true(p.origin[i].line > 0);
  }
  assert_string_equal(p.origin[find("gpu.sms")].file, "rtx-3070.cfg");
  assert_string_equal(p.origin[find("sm.max_warps")].file, "sm86.cfg");
  assert_string_equal(p.origin[find("lat.alu")].file, "common.cfg");
  /* A child's value wins over its parent's. */
  assert_string_equal(p.origin[find("membar.gpu_cycles")].file, "sm86.cfg");
  /* A fence of 327 cycles, less the ERRBAR and CCTL in it. */
  assert_int_equal(p.params.membar_gpu_cycles, 327 - 45 - 5);

  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  preset_write_resolved(f, &p);
  fclose(f);
  unsigned lines = 0;
  for (const char *c = text; *c; c++) lines += *c == '\n';
  assert_int_equal(lines, PARAM_N_KEYS);
  assert_non_null(strstr(text, "issue.policy                     cggty "));
  assert_non_null(strstr(text, "[0, 8, 16, 32, 64, 100]"));
  free(text);
  preset_free(&p);
}

static void test_keys(void **state)
{
  (void)state;
  for (unsigned i = 0; i < PARAM_N_KEYS; i++) {
    struct param_key found;
    char key[128];
    param_key_name(param_key_at(i), key, sizeof key);
    assert_int_equal(param_key_find(key, &found), i); /* no key twice */
    assert_ptr_equal(found.desc, param_key_at(i).desc);
    assert_int_equal(found.element, param_key_at(i).element);
  }
  assert_int_equal(find("lat"), -1);
  assert_int_equal(find("lat.nothing"), -1);
  assert_int_equal(find("sm.max_warp"), -1);
  char key[128];
  param_key_name(param_key_at((unsigned)find("mma.interval.mma_f64")), key, sizeof key);
  assert_string_equal(key, "mma.interval.mma_f64");
}

static void test_override(void **state)
{
  (void)state;
  struct preset p;
  struct err e = {0};
  assert_true(preset_load("rtx-3070", DIR, &p, &e));
  assert_true(preset_override(&p, "issue.policy=gto", &e));
  assert_int_equal(p.params.issue_policy, ISSUE_POLICY_GTO);
  assert_true(preset_override(&p, "l1.perfect=true", &e));
  assert_true(p.params.l1_perfect);
  assert_true(preset_override(&p, "lat.alu=0x6", &e));
  assert_int_equal(p.params.lat[LAT_ALU], 6);
  assert_true(preset_override(&p, "sm.shared_carveouts_kib=0,100", &e));
  assert_int_equal(p.params.sm_shared_carveouts_kib.n, 2);
  assert_string_equal(p.origin[find("lat.alu")].file, "command line");

  assert_false(preset_override(&p, "lat.alu", &e));
  assert_false(preset_override(&p, "lat.add=4", &e));
  assert_false(preset_override(&p, "lat.alu=4x", &e));
  assert_false(preset_override(&p, "lat.alu=5000", &e));
  assert_non_null(strstr(e.msg, "out of range 0..4095 cycle"));
  assert_false(preset_override(&p, "issue.policy=fifo", &e));
  assert_non_null(strstr(e.msg, "cggty, gto, lrr"));
  /* Rules between keys are checked when all are set. */
  assert_true(preset_override(&p, "sm.max_warps=52", &e));
  assert_false(params_check(&p.params, &e));
  assert_true(preset_override(&p, "sm.max_threads=1664", &e));
  assert_true(params_check(&p.params, &e));
  preset_free(&p);
}

/* ---- Errors ---- */

/* A preset "t.cfg" in a directory of its own, which inherits nothing but other given files. */
struct bad {
  const char *text;  /* of t.cfg; the whole of rtx-3070 is inherited as "base" */
  const char *error; /* part of the message */
};

static const struct bad bad_presets[] = {
    {"inherit = \"base\";\nsm = { max_warp = (48, \"guess\"); };", "t.cfg:2: sm.max_warp: unknown key"},
    {"inherit = \"base\";\nnovel = 3;", "t.cfg:2: novel: unknown key"},
    {"inherit = \"base\";\nsm = { max_warps = (4800, \"guess\"); };",
     "t.cfg:2: sm.max_warps: 4800 is out of range 1..64 warp"},
    {"inherit = \"base\";\nsm = { max_warps = (-1, \"guess\"); };", "-1 is out of range"},
    {"inherit = \"base\";\n\nsm = { max_warps = 48; };", "t.cfg:3: sm.max_warps: must be (value,"},
    {"inherit = \"base\";\nsm = { max_warps = (48); };", "sm.max_warps: must be (value,"},
    {"inherit = \"base\";\nsm = { max_warps = (48, \"\"); };", "its source must start with"},
    {"inherit = \"base\";\nsm = { max_warps = (48, \"doc:\"); };", "its source must start with"},
    {"inherit = \"base\";\nsm = { max_warps = (48, \"doc:x\"); };", "its source must start with"},
    {"inherit = \"base\";\nsm = { max_warps = (48, \"hearsay: x\"); };", "its source must start with"},
    {"inherit = \"base\";\nsm = { max_warps = (48, \"guesswork\"); };", "its source must start with"},
    {"inherit = \"base\";\nsm = { max_warps = (\"many\", \"guess\"); };", "must be an integer"},
    {"inherit = \"base\";\nsm = { max_warps = (48.5, \"guess\"); };", "must be an integer"},
    {"inherit = \"base\";\nicache = { perfect = (1, \"guess\"); };", "must be true or false"},
    {"inherit = \"base\";\nissue = { policy = (\"fifo\", \"guess\"); };",
     "issue.policy: 'fifo' is not one of cggty, gto, lrr"},
    {"inherit = \"base\";\nsm = { shared_carveouts_kib = ([8, 0, 100], \"guess\"); };",
     "elements must ascend"},
    {"inherit = \"base\";\nsm = { shared_carveouts_kib = ([\"0\", \"100\"], \"guess\"); };",
     "must be a list"},
    {"inherit = \"base\";\nsm = { shared_carveouts_kib = ([], \"guess\"); };", "1 to 16 elements"},
    {"inherit = \"base\";\nsn = { };", "t.cfg:2: sn: empty group"},
    {"inherit = \"base\";\nsm = { shared_carveouts_kib = (100, \"guess\"); };", "must be a list"},
    {"inherit = \"base\";\nsm = { max_warps = (46, \"guess\"); };",
     "t.cfg: sm.max_warps is not a multiple of sm.sub_cores"},
    {"inherit = \"none\";", "t.cfg:1: inherit: no preset 'none'"},
    {"inherit = \"t\";", "t.cfg:1: inherit: presets inherit in a loop"},
    {"inherit = \"loop\";", "loop.cfg:2: inherit: presets inherit in a loop"},
    {"inherit = \"../presets/base\";", "inherit: must name a preset"},
    {"inherit = 3;", "inherit: must name a preset"},
    {"gpu = { sms = (1, \"guess\"); };", "keys: missing, here and in what it inherits"},
    {"", "missing, here"},
    {"sm = { max_warps = ", "t.cfg:1: syntax error"},
};

static void write_file(const char *dir, const char *name, const char *text)
{
  char path[256];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

/* Copies the shipped rtx-3070 chain so that it can be inherited as "base". */
static void copy_chain(const char *dir)
{
  static const char *const files[][2] = {
      {"rtx-3070.cfg", "base.cfg"}, {"sm86.cfg", "sm86.cfg"}, {"common.cfg", "common.cfg"}};
  for (size_t i = 0; i < 3; i++) {
    char from[512], text[65536];
    snprintf(from, sizeof from, "%s/%s", DIR, files[i][0]);
    FILE *f = fopen(from, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    write_file(dir, files[i][1], text);
  }
}

static void remove_dir(const char *dir)
{
  static const char *const files[] = {"t.cfg", "loop.cfg", "base.cfg", "sm86.cfg", "common.cfg"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, files[i]);
    unlink(path);
  }
  rmdir(dir);
}

static void test_errors(void **state)
{
  (void)state;
  char dir[] = "/tmp/warpstep-presets-XXXXXX";
  assert_non_null(mkdtemp(dir));
  copy_chain(dir);
  write_file(dir, "loop.cfg", "# and back\ninherit = \"t\";\n");
  for (size_t i = 0; i < sizeof bad_presets / sizeof bad_presets[0]; i++) {
    write_file(dir, "t.cfg", bad_presets[i].text);
    struct params p;
    struct err e = {0};
    if (params_load("t", dir, &p, &e)) fail_msg("accepted: %s", bad_presets[i].text);
    if (!strstr(e.msg, bad_presets[i].error))
      fail_msg("for %s\n  wanted: %s\n  got: %s", bad_presets[i].text, bad_presets[i].error, e.msg);
  }
  remove_dir(dir);
}

static void test_file_by_path(void **state)
{
  (void)state;
  char dir[] = "/tmp/warpstep-presets-XXXXXX", path[64];
  assert_non_null(mkdtemp(dir));
  write_file(dir, "t.cfg", "inherit = \"rtx-3070\";\ngpu = { sms = (7, \"guess: a cut-down die\"); };");
  snprintf(path, sizeof path, "%s/t.cfg", dir);
  struct params p = board(path);
  assert_int_equal(p.gpu_sms, 7);
  assert_int_equal(p.l2_bytes, 4194304);
  remove_dir(dir);
}

static void test_directory(void **state)
{
  (void)state;
  char dir[512];
  struct err e = {0};
  assert_int_equal(unsetenv("WARPSTEP_PRESETS"), 0);
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  assert_string_equal(dir, DIR);
  assert_int_equal(setenv("WARPSTEP_PRESETS", "/tmp", 1), 0);
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  assert_string_equal(dir, "/tmp");
  assert_true(presets_dir("/", dir, sizeof dir, &e)); /* the option wins */
  assert_string_equal(dir, "/");
  assert_false(presets_dir("/no/such/directory", dir, sizeof dir, &e));
  assert_int_equal(unsetenv("WARPSTEP_PRESETS"), 0);
  struct params p;
  assert_false(params_load("rtx-9999", DIR, &p, &e));
  assert_non_null(strstr(e.msg, "no preset 'rtx-9999'"));
}

/* The time of DRAM behind L2 does not change; L2 keeps its ratio to the SM. */
static void test_lock_clock(void **state)
{
  (void)state;
  struct preset p;
  struct err e = {0};
  assert_true(preset_load("a40", DIR, &p, &e));
  const struct params before = p.params;
  assert_true(preset_override(&p, "clock=870", &e)); /* half of 1740 */
  assert_int_equal(before.gpu_clock_khz, 1740000);
  assert_int_equal(p.params.gpu_clock_khz, 870000);
  assert_int_equal(p.params.l2_latency, before.l2_latency);
  uint32_t behind = before.dram_latency - before.l2_latency;
  assert_int_equal(p.params.dram_latency, before.l2_latency + (behind + 1) / 2);
  assert_true(params_check(&p.params, &e));

  assert_true(preset_override(&p, "l2.clock_khz=435000", &e));
  assert_true(preset_override(&p, "clock=1305.5", &e));
  assert_int_equal(p.params.gpu_clock_khz, 1305500);
  assert_int_equal(p.params.l2_clock_khz, 652750);
  assert_string_equal(p.origin[find("gpu.clock_khz")].file, "command line");

  assert_false(preset_override(&p, "clock=fast", &e));
  assert_false(preset_override(&p, "clock=-1", &e));
  assert_false(preset_override(&p, "clock=1440MHz", &e));
  assert_false(preset_override(&p, "clock=99999999", &e));
  assert_non_null(strstr(e.msg, "gpu.clock_khz"));
  preset_free(&p);
}

/* Lengths around those at which the buffer of a file grows; the most, and one more. */
static void test_text_lengths(void **state)
{
  (void)state;
  static const size_t lengths[] = {0, 1, 8191, 8192, 8193, 16383, 16384, 100000, SETTINGS_MAX_BYTES - 1, SETTINGS_MAX_BYTES};
  for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    char path[] = "/tmp/test_config.XXXXXX";
    const size_t n = lengths[i];
    int fd = mkstemp(path);
    struct err e = {""};
    size_t bytes;
    char *full = malloc(n + 1);
    assert_true(fd >= 0 && full);
    for (size_t k = 0; k < n; k++) full[k] = (char)('a' + k % 23);
    assert_int_equal(write(fd, full, n), (ssize_t)n);
    close(fd);
    char *text = settings_text(path, &bytes, &e);
    unlink(path);
    assert_true(!text == (n == SETTINGS_MAX_BYTES));
    if (!text) assert_non_null(strstr(e.msg, "too long"));
    if (text) assert_true(bytes == n && memcmp(text, full, n) == 0 && text[n] == '\0');
    mem_free(text);
    free(full);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_published_figures),
      cmocka_unit_test(test_sums_of_one_board),
      cmocka_unit_test(test_dependent_latencies),
      cmocka_unit_test(test_pseudo_channels),
      cmocka_unit_test(test_every_listed_preset_loads),
      cmocka_unit_test(test_origins),
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_override),
      cmocka_unit_test(test_lock_clock),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_file_by_path),
      cmocka_unit_test(test_directory),
      cmocka_unit_test(test_text_lengths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
