/* Traces: lines as the formats of Accel-Sim's tracer versions have them, the three forms of files, and damaged ones. The
 * lines are written by hand from the format's description. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/line.h"
#include "trace/reader.h"
#include "trace/writer.h"

static struct trace_line parse(const char *text, unsigned version, bool lineinfo)
{
  struct trace_header h = {.version = version, .lineinfo = lineinfo};
  struct trace_line l = {0};
  struct err e = {""};
  if (!trace_line_parse(text, &h, &l, &e)) fail_msg("%s: %s", text, e.msg);
  return l;
}

static void refuse(const char *text, unsigned version)
{
  struct trace_header h = {.version = version};
  struct trace_line l = {0};
  struct err e = {""};
  assert_false(trace_line_parse(text, &h, &l, &e));
  assert_true(*e.msg);
}

static void test_lines(void **state)
{
  (void)state;
  struct trace_line l = parse("00a0 0000ffff 1 R4 LDG.E.64 1 R2 8 1 0x700800000 -8 0 ", 5, false);
  assert_int_equal(l.inst.pc, 0xa0);
  assert_int_equal(l.lanes, 0xffff);
  assert_int_equal(l.inst.n_dst, 1);
  assert_int_equal(l.inst.dst[0], 4);
  assert_string_equal(l.opcode, "LDG.E.64");
  assert_int_equal(l.inst.src[0], 2);
  assert_int_equal(l.bytes, 8);
  assert_int_equal(l.form, TRACE_STRIDE);
  assert_true(l.base == 0x700800000 && l.stride == -8);

  l = parse("0010 00000005 0 STS 2 R1 R2 4 0 0x0000000000000010 0x00000000000000ff ", 3, false);
  assert_true(l.address[0] == 0x10 && l.address[2] == 0xff);
  l = parse("0010 00000015 0 STS 2 R1 R2 4 2 0x0000000000000010 16 -4 7", 4, false);
  assert_true(l.address[0] == 0x10 && l.address[2] == 0x20 && l.address[4] == 0x1c);
  assert_int_equal(l.inst.immediate, 7);
  l = parse("0010 00000000 0 STS 2 R1 R2 4 1 0x0 0 0", 5, false);
  assert_int_equal(l.lanes, 0);
  /* versions before 3 repeat the block and the warp; a source line comes first when the header says so */
  l = parse("7 1 0 3 0100 ffffffff 1 R0 MOV 0 0", 2, false);
  assert_int_equal(l.inst.pc, 0x100);
  l = parse("42 0100 ffffffff 0 DEPBAR.LE 0 0 1", 5, true);
  assert_int_equal(l.inst.pc, 0x100);
  assert_int_equal(l.inst.immediate, 1);
  /* 2.0: other register files, a commit, register values, marks of loops */
  l = parse("0100 ffffffff 2 R3 P0 IADD3 4 R255 UR4 R8 P1 0 0 NoVal", 6, false);
  assert_int_equal(l.inst.n_dst, 1);
  assert_int_equal(l.inst.n_src, 1);
  assert_int_equal(l.inst.src[0], 8);
  l = parse("0100 ffffffff 0 HGMMA.64x64x16.F32 1 R24 1 0 0", 6, false);
  assert_int_equal(l.bytes, 0);
  l = parse("0100 ffffffff 0 REPLAY_START 0 0", 6, false);
  assert_true(l.skip);
}

static void test_damaged_lines(void **state)
{
  (void)state;
  refuse("", 5);
  refuse("0010 ffffffff 1", 5);
  refuse("0010 ffffffff 1 R4 LDG.E 1 R2 4", 5);
  refuse("0010 ffffffff 1 R4 LDG.E 1 R2 4 0 0x10", 5); /* 32 lanes, one address */
  refuse("0010 ffffffff 1 R4 LDG.E 1 R2 4 9 0x10", 5);
  refuse("0010 00000001 0 UTMALDG.2D 0 4 3", 6);
  refuse("wxyz ffffffff 0 NOP 0 0", 5);
  refuse("100000010 ffffffff 0 NOP 0 0", 5);
  refuse("0010 1ffffffff 0 NOP 0 0", 5);
}

/* ---- files ---- */

struct scratch {
  char dir[64], path[128];
};

static void scratch_new(struct scratch *s)
{
  strcpy(s->dir, "/tmp/test_trace.XXXXXX");
  assert_non_null(mkdtemp(s->dir));
}

static void scratch_free(struct scratch *s)
{
  unlink(s->path);
  rmdir(s->dir);
}

static void add_line(struct trace_block *b, unsigned warp, const char *text)
{
  size_t n = strlen(text);
  memcpy(trace_warp_room(&b->warp[warp], n), text, n);
  b->warp[warp].bytes += n;
  b->warp[warp].n++;
}

/* Two blocks of two warps; the second warp of block 1 has more lines than a frame of the container holds. */
static void write_sample(struct scratch *s, enum trace_form form)
{
  static char name[] = "_Z4kernPf";
  struct trace_header h = {.name = name, .id = 3, .grid = {2, 1, 1}, .block = {48, 1, 1},
                           .shared = 512, .regs = 20, .sm = 86, .version = 5};
  struct err e = {""};
  struct trace_writer *w = trace_writer_new(s->dir, &h, form, &e);
  assert_non_null(w);
  snprintf(s->path, sizeof s->path, "%s/%s", s->dir, trace_writer_name(w));
  for (unsigned i = 0; i < 2; i++) {
    struct trace_block *b = trace_block_new(i, 2);
    add_line(b, 0, "0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x0000000000001000 4 0 \n");
    for (unsigned n = 0; n < (i ? 3 * TRACE_CHUNK : 1); n++)
      add_line(b, 1, "0010 0000ffff 0 STG.E 2 R2 R4 4 2 0x0000000000002000 4 4 4 4 4 4 4 4 4 4 4 4 4 4 -4 0 \n");
    trace_writer_block(w, b);
    trace_block_free(b);
  }
  struct output file;
  unlink(s->path); /* of the last sample */
  assert_true(trace_writer_finish(w, &file, &e));
  assert_int_not_equal(access(s->path, F_OK), 0); /* not before it is put there */
  assert_true(output_place(&file, &e));
}

static void check_sample(const struct trace_kernel *k)
{
  uint64_t addr[32];
  assert_string_equal(k->header.name, "_Z4kernPf");
  assert_int_equal(k->header.id, 3);
  assert_int_equal(k->header.sm, 86);
  assert_int_equal(k->header.shared, 512);
  assert_int_equal(k->n_ctas, 2);
  assert_int_equal(k->warps_per_cta, 2);
  assert_int_equal(k->n_insts, 2);
  assert_int_equal(k->warp[0].n, 1);
  assert_int_equal(k->warp[1].n, 1);
  assert_int_equal(k->warp[3].n, 3 * TRACE_CHUNK);
  trace_step_addresses(k, &k->step[k->warp[2].first], addr);
  assert_true(addr[0] == 0x1000 && addr[31] == 0x1000 + 31 * 4);
  trace_step_addresses(k, &k->step[k->warp[3].first + 3 * TRACE_CHUNK - 1], addr);
  assert_true(addr[0] == 0x2000 && addr[14] == 0x2038 && addr[15] == 0x2034);
}

static void round_trip(enum trace_form form)
{
  struct scratch s;
  struct err e = {""};
  scratch_new(&s);
  write_sample(&s, form);
  struct trace_kernel *k = trace_kernel_read(s.path, &e);
  if (!k) fail_msg("%s", e.msg);
  check_sample(k);
  assert_true(trace_kernel_is_whole(k, &e));
  trace_kernel_free(k);
  scratch_free(&s);
}

static void test_forms(void **state)
{
  (void)state;
  round_trip(TRACE_TEXT);
  round_trip(TRACE_XZ);
  round_trip(TRACE_CONTAINER);
}

/* Every length that a file can be cut to, and changed bytes: an error or a trace, never more. */
static void damage(enum trace_form form)
{
  struct scratch s;
  struct stat st;
  struct err e = {""};
  scratch_new(&s);
  write_sample(&s, form);
  assert_int_equal(stat(s.path, &st), 0);
  for (unsigned i = 1; i < 40; i++) {
    assert_int_equal(truncate(s.path, st.st_size * (40 - i) / 40), 0);
    struct trace_kernel *k = trace_kernel_read(s.path, &e);
    assert_null(k);
    assert_true(*e.msg);
  }
  for (unsigned i = 0; i < 60; i++) {
    write_sample(&s, form);
    FILE *f = fopen(s.path, "r+b");
    assert_non_null(f);
    fseek(f, (long)(st.st_size * i / 60), SEEK_SET);
    fputc(0x80 | (int)i, f);
    fclose(f);
    trace_kernel_free(trace_kernel_read(s.path, &e));
  }
  scratch_free(&s);
}

static void test_damaged_files(void **state)
{
  (void)state;
  damage(TRACE_TEXT);
  damage(TRACE_XZ);
  damage(TRACE_CONTAINER);
}

/* A grid that no file of this length can describe is refused before memory is asked for; half of what there could be is not. */
static void test_short_for_grid(void **state)
{
  (void)state;
  static const char header[] = "-kernel name = k\n-kernel id = 1\n-grid dim = (%u,%u,1)\n-block dim = (1024,1,1)\n-nregs = 8\n"
                               "-binary version = 86\n\n#BEGIN_TB\n";
  struct scratch s;
  struct err e = {""};
  scratch_new(&s);
  snprintf(s.path, sizeof s.path, "%s/k.traceg", s.dir);
  for (unsigned small = 0; small < 2; small++) {
    FILE *f = fopen(s.path, "w");
    assert_non_null(f);
    fprintf(f, header, small ? 1000u : 65535u, small ? 1u : 1000u);
    fclose(f);
    struct trace_kernel *k = trace_kernel_read(s.path, &e);
    assert_true((k != NULL) == small);
    if (!small) assert_non_null(strstr(e.msg, "too short for a grid"));
    trace_kernel_free(k);
  }
  scratch_free(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_lines),
    cmocka_unit_test(test_damaged_lines),
    cmocka_unit_test(test_forms),
    cmocka_unit_test(test_damaged_files),
    cmocka_unit_test(test_short_for_grid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
