/* A trace, text or container, built from fields; what reads runs on a GPU of one SM, for some cycles. */
#include <inttypes.h>
#include <string.h>
#include <zstd.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "config/presets.h"
#include "draw.h"
#include "fuzz.h"
#include "host/simulate.h"
#include "trace/source.h"

enum { MAX_BLOCKS = 4, MAX_WARPS = 4, MAX_LINES = 8, MAX_CYCLES = 4000, SMALL_GRID = 64, SMALL_CODE = 1 << 16, REGISTERS = 4 };

static void add_header(struct fuzz_text *t, struct draw *f)
{
  static const char *const names[] = {"-kernel name = k", "-kernel id", "-shmem", "-nregs", "-binary version",
    "-cuda stream id", "-shmem base_addr", "-local mem base_addr", "-accelsim tracer version", "-enable lineinfo"};
  static const unsigned usual[] = {0, 1, 0, 16, 86, 0, 0, 0, 5, 0};
  char n[3][40];
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
    unsigned how = field_byte(f);
    if (how == 255) continue;
    if (i == 0) fuzz_add(t, "%s\n", names[i]);
    else if (how < 8) fuzz_add(t, "%s = %s\n", names[i], field_numeral(f, n[0]));
    else fuzz_add(t, "%s = %u\n", names[i], usual[i]);
  }
  for (unsigned i = 0; i < 2; i++) {
    const char *what = i ? "block" : "grid";
    if (field_byte(f) < 32)
      fuzz_add(t, "-%s dim = (%s,%s,%s)\n", what, field_numeral(f, n[0]), field_numeral(f, n[1]), field_numeral(f, n[2]));
    else fuzz_add(t, "-%s dim = (%u,1,1)\n", what, i ? 1 + 32 * field_pick(f, MAX_WARPS) : 1 + field_pick(f, 3));
  }
  fuzz_add(t, "\n#traces format = x\n");
}

static void add_registers(struct fuzz_text *t, struct draw *f)
{
  unsigned n = field_pick(f, REGISTERS);
  char odd[40];
  if (field_byte(f) < 4) fuzz_add(t, "%s ", field_numeral(f, odd));
  else fuzz_add(t, "%u ", n);
  for (unsigned i = 0; i < n; i++) fuzz_add(t, "%c%u ", "RRRRUP"[field_pick(f, 6)], field_byte(f));
}

static void add_line(struct fuzz_text *t, struct draw *f, unsigned i)
{
  static const char *const opcodes[] = {"IADD3", "FFMA", "LDG.E.64", "STG.E", "LDS", "STS.128", "LDL", "ATOMG.E.ADD",
    "BAR.SYNC", "BAR.ARV", "EXIT", "BRA", "MUFU.RCP", "HMMA.16816.F32", "LDGSTS.E.128", "DEPBAR.LE", "LD.E", "RED.E.ADD",
    "SHFL.IDX", "LDC", "MEMBAR.SC.GPU", "S2R", "ATOMS.ADD", "TEX.SCR.LL", "DADD", "REPLAY_START", "LDSM.16.M88.4", "CCTL",
    "UTMALDG.2D", "BSSY", "NANOSLEEP", "SULD.D.2D", "CALL.REL.NOINC", "R2UR", "REDUX", "WARPSYNC", "ERRBAR", "X"};
  char n[3][40];
  unsigned odd = field_byte(f), form = field_pick(f, 4);
  static const uint32_t masks[] = {0xffffffff, 1, 0, 0x80000001, 0xffff, 0x7};
  uint32_t lanes = odd & 1 ? (uint32_t)field_number(f) : masks[field_pick(f, 6)];
  fuzz_add(t, "%" PRIx64 " %x ", odd & 2 ? field_number(f) : (uint64_t)i * 16, lanes);
  add_registers(t, f);
  fuzz_add(t, "%s ", opcodes[field_pick(f, sizeof opcodes / sizeof opcodes[0])]);
  add_registers(t, f);
  if (odd & 4) fuzz_add(t, "%s ", field_numeral(f, n[0]));
  else fuzz_add(t, "%u ", 1u << field_pick(f, 5));
  fuzz_add(t, "%u ", form);
  for (unsigned k = 0; form == 0 && k < 32; k++)
    if (lanes >> k & 1) fuzz_add(t, "0x%" PRIx64 " ", field_number(f));
  if (form) fuzz_add(t, "0x%" PRIx64 " %s ", field_number(f), field_numeral(f, n[1]));
  for (unsigned k = 0; form == 2 && k < 32; k++) fuzz_add(t, "%s ", field_numeral(f, n[1]));
  if (odd & 8) fuzz_add(t, "%s", field_numeral(f, n[2]));
  fuzz_add(t, "\n");
}

static void add_warp(struct fuzz_text *t, struct draw *f, unsigned w)
{
  unsigned n = 1 + field_pick(f, MAX_LINES), odd = field_byte(f);
  char text[40];
  if (odd & 1 && odd & 2) fuzz_add(t, "warp = %s\n", field_numeral(f, text));
  else fuzz_add(t, "warp = %u\n", w);
  if (odd & 4 && odd & 8) fuzz_add(t, "insts = %s\n", field_numeral(f, text));
  else fuzz_add(t, "insts = %u\n", n);
  for (unsigned i = 0; i < n; i++) add_line(t, f, i);
}

static void add_blocks(struct fuzz_text *t, struct draw *f)
{
  char n[3][40];
  for (unsigned b = 0; b < MAX_BLOCKS && f->left; b++) {
    fuzz_add(t, "#BEGIN_TB\n\n");
    if (field_byte(f) < 16)
      fuzz_add(t, "thread block = %s,%s,%s\n", field_numeral(f, n[0]), field_numeral(f, n[1]), field_numeral(f, n[2]));
    else fuzz_add(t, "thread block = %u,0,0\n", b);
    for (unsigned w = 0; w < MAX_WARPS && f->left; w++) add_warp(t, f, w);
    fuzz_add(t, "\n#END_TB\n");
  }
}

/* ---- the container of 2.0 ---- */

static void add_bytes(struct fuzz_text *t, const void *data, size_t n)
{
  if (n > sizeof t->at - t->n) return;
  memcpy(t->at + t->n, data, n);
  t->n += n;
}

static uint64_t maybe(struct draw *f, uint64_t usual)
{
  return field_byte(f) < 8 ? field_number(f) : usual;
}

static void add_u32(struct fuzz_text *t, uint64_t v)
{
  add_bytes(t, &(uint32_t){(uint32_t)v}, 4);
}

/* One warp of one frame; where it begins. */
static uint64_t add_record(struct fuzz_text *t, struct draw *f)
{
  struct fuzz_text lines = {.n = 0};
  uint8_t frame[4096];
  uint64_t at = t->n;
  unsigned n = 1 + field_pick(f, MAX_LINES);
  for (unsigned i = 0; i < n; i++) add_line(&lines, f, i);
  size_t size = ZSTD_compress(frame, sizeof frame, lines.at, lines.n, 1);
  if (ZSTD_isError(size)) size = 0;
  add_u32(t, maybe(f, n));
  add_u32(t, maybe(f, 1));
  add_u32(t, maybe(f, size));
  add_bytes(t, frame, size);
  return at;
}

static void add_container(struct fuzz_text *t, struct draw *f)
{
  uint64_t where[MAX_WARPS], directory;
  unsigned warps = 1 + field_pick(f, MAX_WARPS);
  add_bytes(t, "", 1);
  add_u32(t, maybe(f, 0)); /* no dictionary */
  add_u32(t, maybe(f, 2048));
  for (unsigned w = 0; w < warps; w++) where[w] = add_record(t, f);
  directory = t->n;
  add_u32(t, maybe(f, 1));
  for (unsigned i = 0; i < 10; i++) add_u32(t, maybe(f, 0));
  add_u32(t, maybe(f, warps));
  for (unsigned w = 0; w < warps; w++) {
    add_u32(t, maybe(f, 1));
    add_u32(t, maybe(f, 0));
    add_bytes(t, &(uint64_t){maybe(f, where[w])}, 8);
  }
  add_bytes(t, &(uint64_t){maybe(f, directory)}, 8);
}

/* ---- */

static const struct params *small_gpu(void)
{
  static struct preset p;
  static bool loaded;
  struct err e = {""};
  if (!loaded)
    BUG_ON(!preset_load("rtx-3070", WS_SOURCE_DIR "/presets", &p, &e) || !preset_override(&p, "gpu.sms=1", &e) ||
           !preset_override(&p, "l2.bytes=262144", &e) || !preset_override(&p, "issue.dependence=scoreboard", &e));
  loaded = true;
  return &p.params;
}

static void run(const struct trace_kernel *k, const struct trace_code *code)
{
  struct gmem *memory = gmem_new(16);
  struct simulator *gpu = simulator_new(small_gpu());
  struct trace_source *s = trace_source_new(k, code);
  struct sim_options o = {.timed = true, .threads = 1, .max_cycles = MAX_CYCLES, .cold = true};
  struct sim_result r;
  struct err e = {""};
  bool ok = simulate_source(gpu, trace_step_source(s), memory, &o, &r, &e);
  BUG_ON(!ok && e.msg[0] == '\0');
  simulator_free(gpu);
  gmem_free(memory);
  trace_source_free(s);
}

void fuzz_trace(const uint8_t *data, size_t size)
{
  struct draw f = {data, size};
  struct fuzz_text text = {.n = 0};
  struct fuzz_file file;
  struct trace_code code;
  struct err e = {""};
  bool container = field_byte(&f) & 1;
  add_header(&text, &f);
  if (container) add_container(&text, &f);
  else add_blocks(&text, &f);
  fuzz_file_open(&file, container ? ".tracez" : "", text.at, text.n);
  struct trace_kernel *k = trace_kernel_read(file.path, &e);
  fuzz_file_close(&file);
  BUG_ON(!k && e.msg[0] == '\0');
  if (!k) return;
  if (trace_kernel_is_whole(k, &e)) {
    bool ok = trace_code_guess(&code, k, &e);
    BUG_ON(!ok && e.msg[0] == '\0');
    if (ok && k->n_ctas <= SMALL_GRID && code.code_bytes <= SMALL_CODE) run(k, &code);
    trace_code_free(&code);
  }
  trace_kernel_free(k);
}
