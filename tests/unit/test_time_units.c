/* Execution units and special cases of the core: shared FP64 pipe, halves of the FP32 datapath, fences, the
 * port behind IMAD.WIDE, and windows between two clock reads measured on an A100. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time_rig.h"

static struct inst on(enum pipe pipe, enum lat_class lat)
{
  struct inst in = mock_alu(1, false);
  in.pipe = (uint8_t)pipe;
  in.lat = (uint8_t)lat;
  return in;
}

/* Distances from the first instruction; the program starts with the first of `in`. */
static void run(const char *gpu, unsigned warps, const struct inst *in, unsigned n, struct mock **m)
{
  struct rig r;
  rig_build_for(&r, gpu);
  *m = mock_new(n, warps);
  for (unsigned i = 0; i < n; i++) mock_set(*m, i, in[i]);
  rig_run(&r, *m);
  rig_free(&r);
}

/* GA10x: one pipe of two lanes for the SM takes 16 cycles per warp instruction; a sub-core queues three
 * behind the one the pipe works on. 45 cycles from issue to result when nothing waits. */
static void shared_fp64(void **state)
{
  (void)state;
  struct inst in[8];
  for (unsigned i = 0; i < 7; i++) {
    in[i] = on(PIPE_FP64, LAT_FP64);
    in[i].ctrl.write_sb = (uint8_t)(i == 1 ? 1 : 0);
  }
  in[7] = mock_alu(1, false);
  in[7].ctrl.wait = 1 << 1; /* the second: taken 16 cycles behind the first */
  struct mock *m;
  run("rtx-3070", 1, in, 8, &m);
  static const unsigned want[] = {0, 1, 2, 3, 16, 32, 48, 16 + 45};
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(m->issued[0][i] - m->issued[0][0], want[i]);
  free(m);
  /* Four sub-cores share it. */
  run("rtx-3070", 4, in, 7, &m);
  uint64_t last = 0;
  for (unsigned w = 0; w < 4; w++)
    if (m->issued[w][6] > last) last = m->issued[w][6];
  /* The 28th is taken 27 x 16 cycles behind the first and found room when the one three places before it in
   * its sub-core was taken: 12 places in the SM. */
  assert_int_equal(last - m->issued[0][0], (27 - 12) * 16);
  free(m);
}

/* Eight lanes take four cycles for FP64; on a V100 a special function between two of them takes two more. */
static void fp64_beside_special_functions(void **state)
{
  (void)state;
  static const struct {
    const char *gpu;
    unsigned second;
  } row[] = {{"v100-pcie", 6}, {"a100", 4}};
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct inst in[3] = {on(PIPE_FP64, LAT_FP64), on(PIPE_SFU, LAT_SFU), on(PIPE_FP64, LAT_FP64)};
    in[1].ctrl.write_sb = 1;
    struct mock *m;
    run(row[i].gpu, 1, in, 3, &m);
    assert_int_equal(m->issued[0][1] - m->issued[0][0], 1);
    assert_int_equal(m->issued[0][2] - m->issued[0][0], row[i].second);
    free(m);
  }
}

/* Three conversions with a clock read behind them, on a TITAN V and a TITAN RTX (NMSU-PEARL/GPUs-ISA-Latencies): it
 * reads 12 to 14 cycles after the first one issued, less than two of their intervals of eight. The third one waits for
 * the unit with its operands, so its result comes when two intervals are over. */
static void special_functions_wait_in_a_latch(void **state)
{
  (void)state;
  static const char *const gpu[] = {"titan-v", "rtx-8000"};
  for (unsigned i = 0; i < 2; i++) {
    struct inst in[5];
    for (unsigned k = 0; k < 3; k++) {
      in[k] = on(PIPE_SFU, LAT_SFU);
      in[k].ctrl.write_sb = (uint8_t)k;
    }
    in[2].ctrl.stall = 2;
    in[3] = on(PIPE_ALU, LAT_ALU);
    in[4] = on(PIPE_ALU, LAT_ALU);
    in[4].ctrl.wait = 1 << 2;
    struct mock *m;
    run(gpu[i], 1, in, 5, &m);
    assert_in_range(m->issued[0][3] - m->issued[0][0], 12, 14);
    assert_int_equal(m->issued[0][4] - m->issued[0][0], 2 * 8 + 16);
    free(m);
  }
}

/* FP32 back to back: 16 lanes take two cycles; on GA10x the INT32 half takes every other one, but not when
 * integer instructions need it; IMAD never goes there. */
static void fp32_halves(void **state)
{
  (void)state;
  static const struct {
    const char *gpu;
    bool integer_between, imad;
    unsigned cycles; /* for two instructions */
  } row[] = {
      {"rtx-3070", false, false, 2},   {"rtx-2080ti", false, false, 4}, {"a100", false, false, 4},
      {"rtx-3070", true, false, 2},    {"rtx-2080ti", true, false, 2},  {"rtx-3070", false, true, 4},
      {"rtx-2080ti", false, true, 4},
  };
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct inst in[40];
    for (unsigned k = 0; k < 40; k++) {
      in[k] = on(PIPE_FMA, LAT_FMA);
      if (row[i].imad) in[k].flags = INST_HALF_RATE_PORT;
      if (row[i].integer_between && k % 2) in[k] = on(PIPE_ALU, LAT_ALU);
    }
    struct mock *m;
    run(row[i].gpu, 1, in, 40, &m);
    assert_int_equal(m->issued[0][38] - m->issued[0][18], 10 * row[i].cycles);
    free(m);
  }
}

/* RTX 3070 (mushihao/cuda): __threadfence_block 7 cycles, __threadfence 327, __threadfence_system 1700; the latter two
 * are MEMBAR, ERRBAR and CCTL.IVALL in nvcc's output. */
static void fences(void **state)
{
  (void)state;
  static const unsigned want[] = {[SCOPE_CTA] = 7, [SCOPE_GPU] = 327, [SCOPE_SYS] = 1700};
  for (unsigned scope = SCOPE_CTA; scope <= SCOPE_SYS; scope++) {
    struct inst in[4] = {mock_alu(6, false), mock_alu(0, true), mock_alu(5, false),
                         mock_alu(1, false)};
    for (unsigned i = 0; i < 3; i++) {
      in[i].pipe = PIPE_MISC;
      in[i].lat = LAT_FENCE;
    }
    in[0].flags = INST_MEMBAR;
    in[0].scope = (uint8_t)scope;
    if (scope == SCOPE_CTA) in[1] = mock_alu(1, false); /* nothing follows it */
    struct mock *m;
    run("rtx-3070", 1, in, 4, &m);
    assert_int_equal(m->issued[0][scope == SCOPE_CTA ? 1 : 3] - m->issued[0][0], want[scope]);
    free(m);
  }
}

/* IMAD.WIDE takes the issue port for another cycle on GA10x, IMAD does not. */
static void imad_port(void **state)
{
  (void)state;
  for (unsigned wide = 0; wide < 2; wide++) {
    struct inst in[3] = {on(PIPE_FMA, wide ? LAT_IMAD_WIDE : LAT_FMA), mock_alu(1, false),
                         mock_alu(1, false)};
    in[0].flags = INST_HALF_RATE_PORT;
    struct mock *m;
    run("rtx-3070", 1, in, 3, &m);
    assert_int_equal(m->issued[0][1] - m->issued[0][0], 1 + wide);
    free(m);
  }
}

/* --- A100 ------------------------------------------------------------------------------------- */

/* One instruction as the data write it: "FADD R8,R9,R10.reuse{S2 Y}". */
static struct inst parse(const char *text)
{
  struct inst in = mock_alu(1, false);
  const char *brace = strchr(text, '{'), *r = strchr(text, ' ');
  if (brace) {
    const char *stall = strchr(brace, 'S');
    if (stall) in.ctrl.stall = (uint8_t)atoi(stall + 1);
    in.ctrl.yield = strchr(brace, 'Y') != NULL;
  }
  if (!strncmp(text, "NOP", 3)) return in;
  bool fp = text[0] == 'F';
  in.pipe = fp ? PIPE_FMA : PIPE_ALU;
  in.lat = fp ? LAT_FMA : LAT_ALU;
  in.n_dst = 1;
  in.dst[0] = (struct operand){FILE_R, (uint8_t)atoi(r + 2), 1, 0, 0};
  unsigned slot = 0;
  while ((r = strchr(r, ',')) != NULL && (!brace || r < brace)) {
    r++;
    unsigned length = (unsigned)strcspn(r, ",{");
    bool reuse = length > 6 && !strncmp(r + length - 6, ".reuse", 6);
    if (r[1] != 'Z')
      in.src[in.n_src++] =
          (struct operand){FILE_R, (uint8_t)atoi(r + 1), 1, (uint8_t)slot, reuse};
    slot++;
  }
  return in;
}

/* Cycles between two clock reads around a few instructions: Strelizia-zerotwo/A100-modern-gpu-reproduction,
 * 01_control_bits, 02_register_file (101 samples each, all equal). */
static const struct window {
  const char *text;
  unsigned cycles;
} windows[] = {
    {"NOP | FADD R8,R9,R10 | FFMA R12,R8,R8,R8 | NOP", 6},
    {"NOP | FADD R8,R9,R10{S2} | FFMA R12,R8,R8,R8 | NOP", 6},
    {"NOP | FADD R8,R9,R10{S3} | FFMA R12,R8,R8,R8 | NOP", 7},
    {"NOP | FADD R8,R9,R10{S4} | FFMA R12,R8,R8,R8 | NOP", 8},
    {"NOP | FADD R8,R9,R10{S5} | FFMA R12,R8,R8,R8 | NOP", 9},
    {"NOP | FADD R8,R9,R10{S6} | FFMA R12,R8,R8,R8 | NOP", 10},
    {"NOP | FADD R8,R9,R10{S7} | FFMA R12,R8,R8,R8 | NOP", 11},
    {"NOP | FADD R8,R9,R10{S8} | FFMA R12,R8,R8,R8 | NOP", 12},
    {"NOP | NOP | NOP | NOP", 5},
    {"NOP | FADD R8,R9,R10 | NOP | NOP", 5},
    {"NOP | FADD R8,R9,R10 | FFMA R12,R9,R9,R9 | NOP", 6},
    {"NOP | NOP | FFMA R12,R9,R9,R9 | NOP", 5},
    {"NOP | FADD R8,R9,R10 | FADD R12,R9,R10 | NOP", 6},
    {"NOP | FADD R8,R9,R10 | IADD3 R12,R9,R10,RZ | NOP", 5},
    {"NOP | FADD R8,R9,R10 | MOV R12,R9 | NOP", 5},
    {"NOP | FADD R8,R9,R10{S11} | FFMA R12,R8,R8,R8 | NOP", 15},
    {"NOP | FADD R8,R9,R10{S12} | FFMA R12,R8,R8,R8 | NOP", 6},
    {"NOP | FADD R8,R9,R10{S13} | FFMA R12,R8,R8,R8 | NOP", 6},
    {"NOP | FADD R8,R9,R10{S14} | FFMA R12,R8,R8,R8 | NOP", 6},
    {"NOP | FADD R8,R9,R10{S15} | FFMA R12,R8,R8,R8 | NOP", 6},
    {"NOP | FADD R8,R9,R10{S11 Y} | FFMA R12,R8,R8,R8 | NOP", 15},
    {"NOP | FADD R8,R9,R10{S12 Y} | FFMA R12,R8,R8,R8 | NOP", 16},
    {"NOP | FADD R8,R9,R10{S13 Y} | FFMA R12,R8,R8,R8 | NOP", 17},
    {"NOP | FADD R8,R9,R10{S14 Y} | FFMA R12,R8,R8,R8 | NOP", 18},
    {"NOP | FADD R8,R9,R10{S15 Y} | FFMA R12,R8,R8,R8 | NOP", 19},
    {"NOP", 2},
    {"NOP{S0 Y}", 55},
    {"NOP | NOP | FFMA R12,R4,R5,R7 | NOP", 5},
    {"NOP | FFMA R9,R4,R6,R8 | FFMA R12,R10,R6,R8 | NOP", 7},
    {"NOP | FFMA R9,R4,R6,R8 | FFMA R12,R10,R6,R7 | NOP", 6},
    {"NOP | FFMA R9,R4,R6,R8 | FFMA R12,R10,R5,R7 | NOP", 6},
    {"NOP | IADD3 R9,R4,R6,R8 | FFMA R12,R10,R6,R8 | NOP", 7},
    {"NOP | IADD3 R9,R4,R6,R8 | FFMA R12,R10,R6,R7 | NOP", 6},
    {"NOP | IADD3 R9,R4,R6,R8 | FFMA R12,R10,R5,R7 | NOP", 5},
    {"NOP | IADD3 R9,R10.reuse,R5,R7 | FFMA R12,R6,R10,R8 | NOP", 7},
    {"NOP | IADD3 R9,R10,R5,R7 | FFMA R12,R10,R6,R8 | NOP", 7},
    {"NOP | IADD3 R9,R10.reuse,R5,R7 | FFMA R12,R10,R6,R8 | NOP", 6},
    {"NOP | IADD3 R9,R10.reuse,R5,R7 | FFMA R12,R10,R6,R8 | IADD3 R9,R10,R6,R8", 9},
    {"NOP | IADD3 R9,R10.reuse,R5,R7 | FFMA R12,R5,R6,R8 | IADD3 R9,R10,R6,R8", 8},
    {"NOP | IADD3 R9,R10.reuse,R5,R7 | FFMA R12,R5,R6,R8 | NOP", 6},
    {"NOP | IADD3 R9,R10.reuse,R5,R7 | FFMA R12,R10.reuse,R6,R8 | IADD3 R9,R10,R6,R8", 8},
    {"NOP | IADD3 R9,R10.reuse,R5,R7 | FFMA R12,R4,R6,R8 | IADD3 R9,R10,R6,R8", 10},
    {"NOP | IADD3 R9,R10.reuse,R5,R7 | FFMA R12,R4,R6,R8 | NOP", 7},
    {"NOP | NOP{S2} | NOP | NOP", 6},
    {"NOP | NOP{Y} | NOP | NOP", 6},
    {"NOP | NOP{S2 Y} | NOP | NOP", 6},
};

static void a100_windows(void **state)
{
  (void)state;
  unsigned wrong = 0;
  for (unsigned i = 0; i < sizeof windows / sizeof windows[0]; i++) {
    struct inst in[10] = {on(PIPE_ALU, LAT_ALU)};
    unsigned n = 1;
    in[0].flags = INST_CLOCK;
    char text[200], *next, *part = text;
    snprintf(text, sizeof text, "%s", windows[i].text);
    for (; part; part = next) {
      next = strstr(part, " | ");
      if (next) *next = 0, next += 3;
      in[n++] = parse(part);
    }
    in[n] = in[0];
    struct mock *m;
    run("a100", 1, in, n + 1, &m);
    uint64_t cycles = m->issued[0][n] - m->issued[0][0];
    if (cycles != windows[i].cycles) {
      print_error("%s: %u cycles, not %u\n", windows[i].text, (unsigned)cycles, windows[i].cycles);
      wrong++;
    }
    free(m);
  }
  assert_int_equal(wrong, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shared_fp64), cmocka_unit_test(fp64_beside_special_functions),
      cmocka_unit_test(special_functions_wait_in_a_latch),
      cmocka_unit_test(fp32_halves), cmocka_unit_test(fences),
      cmocka_unit_test(imad_port),   cmocka_unit_test(a100_windows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
