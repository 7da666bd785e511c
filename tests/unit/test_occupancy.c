/* CTAs of an SM: every row of tests/data/occupancy.csv, against which the page's calculator is held, too (tests/html); a
 * few from NVIDIA's published tables; what one limit alone would allow (host/room.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/presets.h"
#include "time/gpu/occupancy.h"

static struct params params_of(const char *preset)
{
  struct err e = {0};
  struct params p;
  char dir[4096];
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load(preset, dir, &p, &e)) fail_msg("%s", e.msg);
  return p;
}

static struct occupancy occupancy_for(const struct params *p, unsigned registers, unsigned threads, unsigned shared)
{
  const struct step_source s = {.n_ctas = UINT64_C(1) << 40, .lanes = 32, .warps_per_cta = (threads + 31) / 32,
                                .regs_per_thread = registers, .shared_bytes = shared};
  struct occupancy o;
  occupancy_of(p, &s, &o, NULL); /* none fits: o.ctas is 0 */
  return o;
}

static void test_table(void **state)
{
  (void)state;
  FILE *f = fopen(WS_SOURCE_DIR "/tests/data/occupancy.csv", "r");
  char line[256], preset[64], limiter[64], loaded[64] = "";
  unsigned registers, threads, shared, ctas, n = 0;
  struct params p;
  assert_non_null(f);
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "%63[^,],%u,%u,%u,%u,%63[^\n]", preset, &registers, &threads, &shared, &ctas, limiter) != 6) continue;
    if (strcmp(preset, loaded) != 0) p = params_of(strcpy(loaded, preset));
    struct occupancy o = occupancy_for(&p, registers, threads, shared);
    if (o.ctas != ctas || strcmp(o.limiter, limiter) != 0) fail_msg("%s: %u, %s", line, o.ctas, o.limiter);
    n++;
  }
  fclose(f);
  assert_true(n > 200);
}

/* CUDA C++ Programming Guide, Technical Specifications per Compute Capability, and CUDA Occupancy Calculator. */
static void test_published(void **state)
{
  (void)state;
  static const struct {
    const char *preset;
    unsigned registers, threads, shared, ctas;
  } rows[] = {
      {"a100", 32, 256, 0, 8},       {"a100", 255, 256, 0, 1},       {"a100", 64, 128, 0, 8},
      {"rtx-3070", 32, 32, 0, 16},   {"rtx-3070", 40, 256, 0, 6},    {"rtx-3070", 32, 128, 49152, 2},
      {"rtx-2080ti", 32, 1024, 0, 1}, {"h200", 32, 64, 0, 32},       {"h200", 168, 384, 0, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct params p = params_of(rows[i].preset);
    assert_int_equal(occupancy_for(&p, rows[i].registers, rows[i].threads, rows[i].shared).ctas, rows[i].ctas);
  }
}

/* A small grid asks for few CTAs of an SM, but all of a cluster must find room in one GPC: here of two SMs. */
static void test_cluster_in_small_gpcs(void **state)
{
  (void)state;
  struct params p = params_of("h200");
  struct err e = {0};
  struct occupancy o;
  struct step_source s = {.n_ctas = 8, .lanes = 32, .warps_per_cta = 4, .regs_per_thread = 32, .shared_bytes = 40960,
                          .cluster = {4, 1, 1}};
  p.gpu_sms = 2 * p.gpu_gpcs;
  assert_true(occupancy_of(&p, &s, &o, &e));
  assert_int_equal(o.ctas, 2);
  assert_true(o.carveout >= 2 * s.shared_bytes);
  s.cluster[0] = s.n_ctas = 16; /* five CTAs of these fit in an SM */
  assert_false(occupancy_of(&p, &s, &o, &e));
}

/* NVIDIA's whitepapers: GPCs, and the SMs that one of the chip has at most; of an RTX 5090 eight of 16 and three of 14
 * were measured (lookup1980/microbench-blackwell). */
static void test_sms_of_gpcs(void **state)
{
  (void)state;
  static const struct {
    const char *preset;
    unsigned gpcs, most, have_most;
  } rows[] = {
      {"v100", 6, 14, 4},     {"rtx-2080ti", 6, 12, 4}, {"rtx-2080", 6, 8, 5}, {"rtx-2070", 3, 12, 3},
      {"a100", 7, 16, 5},     {"rtx-3080", 6, 12, 4},   {"rtx-3090", 7, 12, 6}, {"rtx-3070", 6, 8, 5},
      {"rtx-4090", 11, 12, 9}, {"l40", 12, 12, 11},     {"h200", 8, 18, 2},    {"rtx-5090", 11, 16, 8},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct params p = params_of(rows[i].preset);
    unsigned sms[64] = {0}, most = 0;
    for (unsigned k = 0; k < p.gpu_sms; k++) sms[params_gpc(&p, k)]++;
    for (unsigned k = 0; k < rows[i].gpcs; k++) most += sms[k] == rows[i].most;
    if (p.gpu_gpcs != rows[i].gpcs || most != rows[i].have_most)
      fail_msg("%s: %u GPCs, %u of them with %u SMs", rows[i].preset, p.gpu_gpcs, most, rows[i].most);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_published),
      cmocka_unit_test(test_cluster_in_small_gpcs),
      cmocka_unit_test(test_sms_of_gpcs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
