/* What gdb asks: what there is, threads, registers, memory, the shadow file, `monitor`. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "debug/console.h"
#include "debug/gdb_private.h"
#include "debug/gdb_registers.h"
#include "debug/gdb_shadow.h"
#include "func/sass/step_observer.h"

enum { MAX_THREADS = 4096, FILE_HANDLE = 5 };
#define FILE_NAME "/warpstep-kernels"

/* ---- pieces of what is longer than a packet ---- */

/* ":OFFSET,LENGTH" of a text. */
static void answer_piece(struct gdb_stub *g, const char *at, const char *text, size_t n)
{
  uint64_t offset = 0, length = 0;
  if (!gdb_number(&at, &offset) || *at++ != ',' || !gdb_number(&at, &length) || offset > n) {
    gdb_answer(g, "E01");
    return;
  }
  const uint64_t left = n - offset;
  if (length > GDB_PACKET_MOST - 1) length = GDB_PACKET_MOST - 1;
  gdb_answer_bytes(g, left > length ? 'm' : 'l', text + offset, left < length ? left : length);
}

/* ---- threads ---- */

static void write_thread(FILE *f, struct gdb_stub *g, const struct lane_view *v)
{
  const struct view_place p = view_place_of(v);
  const struct step_paths *paths = &view_cta(v)->warp[v->warp]->paths;
  fprintf(f, "<thread id=\"%" PRIx64 "\" name=\"cta (%u,%u,%u) warp %u\">%u path%s, lanes", debugger_thread(g->d, v),
          p.cta[0], p.cta[1], p.cta[2], v->warp, paths->n, paths->n == 1 ? "" : "s");
  for (unsigned i = 0; i < paths->n; i++) fprintf(f, " %08" PRIx64, paths->p[i].mask);
  fputs("</thread>\n", f);
}

/* Warps that have not ended. */
static char *list_threads(struct gdb_stub *g, bool xml)
{
  struct debug_target *t = &g->d->target;
  char *text;
  size_t bytes;
  unsigned n = 0;
  FILE *f = open_memstream(&text, &bytes);
  NO_MEMORY_IF(!f);
  if (xml) fputs("<?xml version=\"1.0\"?>\n<threads>\n", f);
  for (unsigned i = 0; i < t->n_slots; i++)
    for (unsigned k = 0; t->slot[i] && k < t->slot[i]->n_warps && n < MAX_THREADS; k++) {
      const struct lane_view v = {t, i, k, 0};
      if (!t->slot[i]->warp[k]->paths.n) continue;
      if (xml)
        write_thread(f, g, &v);
      else
        fprintf(f, "%c%" PRIx64, n ? ',' : 'm', debugger_thread(g->d, &v));
      n++;
    }
  if (xml)
    fputs("</threads>\n", f);
  else if (!n)
    fputs("m1", f);
  fclose(f);
  char *copy = memcpy(mem_alloc(bytes + 1), text, bytes + 1);
  free(text);
  return copy;
}

static void answer_list(struct gdb_stub *g)
{
  char *text = list_threads(g, false);
  gdb_answer(g, text);
  mem_free(text);
}

/* ---- qXfer ---- */

static void answer_threads(struct gdb_stub *g, const char *at)
{
  if (strncmp(at, "0,", 2) == 0) {
    mem_free(g->threads);
    g->threads = list_threads(g, true);
  }
  answer_piece(g, at, g->threads ? g->threads : "", g->threads ? strlen(g->threads) : 0);
}

static bool transfer(struct gdb_stub *g, const char *what)
{
  if (strncmp(what, "features:read:target.xml:", 25) == 0) {
    if (!g->registers) g->registers = gdb_registers_xml();
    answer_piece(g, what + 25, g->registers, strlen(g->registers));
    return true;
  }
  if (strncmp(what, "threads:read::", 14) == 0) return answer_threads(g, what + 14), true;
  if (strncmp(what, "exec-file:read:", 15) == 0 && strchr(what + 15, ':'))
    return answer_piece(g, strchr(what + 15, ':') + 1, FILE_NAME, strlen(FILE_NAME)), true;
  return false;
}

/* ---- monitor ---- */

static void monitor(struct gdb_stub *g, const char *hex)
{
  char line[1024], *text;
  size_t bytes;
  const long n = gdb_from_hex(hex, line, sizeof line - 1);
  if (n < 0) {
    gdb_answer(g, "E01");
    return;
  }
  line[n] = '\0';
  FILE *f = open_memstream(&text, &bytes);
  NO_MEMORY_IF(!f);
  console_look(g->session, g->d, line, f);
  debugger_stay(g->d);
  fclose(f);
  if (bytes)
    gdb_answer_hex(g, text, bytes);
  else
    gdb_answer(g, "OK");
  free(text);
}

bool gdb_query(struct gdb_stub *g, const char *p)
{
  char text[64];
  if (strncmp(p, "qSupported", 10) == 0) {
    snprintf(text, sizeof text, "PacketSize=%x;", GDB_PACKET_MOST - 8);
    char all[400];
    snprintf(all, sizeof all,
             "%sQStartNoAckMode+;qXfer:features:read+;qXfer:threads:read+;qXfer:exec-file:read+;"
             "ReverseStep+;ReverseContinue+;swbreak+;hwbreak+;vContSupported+",
             text);
    gdb_answer(g, all);
  } else if (strcmp(p, "QStartNoAckMode") == 0) {
    gdb_answer(g, "OK");
    g->no_acks = true;
  } else if (strncmp(p, "qXfer:", 6) == 0)
    return transfer(g, p + 6);
  else if (strcmp(p, "qfThreadInfo") == 0)
    answer_list(g);
  else if (strcmp(p, "qsThreadInfo") == 0)
    gdb_answer(g, "l");
  else if (strcmp(p, "qC") == 0) {
    snprintf(text, sizeof text, "QC%" PRIx64, debugger_thread(g->d, &g->d->focus));
    gdb_answer(g, text);
  } else if (strncmp(p, "qAttached", 9) == 0)
    gdb_answer(g, "0");
  else if (strncmp(p, "qRcmd,", 6) == 0)
    monitor(g, p + 6);
  else
    return false;
  return true;
}

/* ---- the shadow, as a file of this side ---- */

static void answer_data(struct gdb_stub *g, const uint8_t *data, size_t n)
{
  char head[32];
  const size_t k = (size_t)snprintf(head, sizeof head, "F%zx;", n);
  memcpy(g->reply, head, k);
  memcpy(g->reply + k, data, n);
  g->n_reply = k + n;
  gdb_send(g, g->reply, g->n_reply);
}

static void read_shadow(struct gdb_stub *g, const char *at)
{
  uint64_t handle, count, offset;
  if (!gdb_number(&at, &handle) || *at++ != ',' || !gdb_number(&at, &count) || *at++ != ',' ||
      !gdb_number(&at, &offset)) {
    gdb_answer(g, "F-1,16");
    return;
  }
  if (offset > g->file_bytes) offset = g->file_bytes;
  const uint64_t left = g->file_bytes - offset, most = GDB_PACKET_MOST - 64;
  if (count > left) count = left;
  answer_data(g, g->file + offset, (size_t)(count < most ? count : most));
}

/* gdb's struct stat (manual, "struct stat"): big-endian; size is the 64 bits at 28. */
static void stat_shadow(struct gdb_stub *g)
{
  enum { STAT_BYTES = 64, MODE_AT = 8, SIZE_AT = 28 };
  uint8_t s[STAT_BYTES] = {0};
  s[MODE_AT + 2] = 0x81, s[MODE_AT + 3] = 0x24; /* a regular file that all may read */
  for (unsigned i = 0; i < 8; i++) s[SIZE_AT + i] = (uint8_t)((uint64_t)g->file_bytes >> (56 - 8 * i));
  answer_data(g, s, sizeof s);
}

bool gdb_file(struct gdb_stub *g, const char *p)
{
  char name[sizeof FILE_NAME] = "";
  if (strncmp(p, "vFile:", 6) != 0) return false;
  p += 6;
  if (!g->file) g->file = gdb_shadow(g->d, &g->file_bytes);
  if (strncmp(p, "setfs:", 6) == 0)
    gdb_answer(g, "F0");
  else if (strncmp(p, "open:", 5) == 0) {
    char hex[2 * sizeof name] = "";
    snprintf(hex, sizeof hex, "%.*s", (int)strcspn(p + 5, ","), p + 5);
    const long n = strcspn(p + 5, ",") < sizeof hex ? gdb_from_hex(hex, name, sizeof name - 1) : -1;
    gdb_answer(g, n >= 0 && strcmp(name, FILE_NAME) == 0 ? "F5" : "F-1,2");
  } else if (strncmp(p, "pread:", 6) == 0)
    read_shadow(g, p + 6);
  else if (strncmp(p, "fstat:", 6) == 0)
    stat_shadow(g);
  else if (strncmp(p, "close:", 6) == 0)
    gdb_answer(g, "F0");
  else
    return false;
  return true;
}

/* ---- memory ---- */

/* A byte of the stack of return addresses: the caller of the innermost function first, 0 behind the outermost. */
static uint8_t stack_byte(const struct gdb_stub *g, uint64_t addr)
{
  const struct debugger *d = g->d;
  const struct lane_calls *c = &target_calls(&d->target, d->focus.slot, d->focus.warp)->lane[d->focus.lane];
  const uint64_t word = (GDB_STACK_TOP - 1 - addr) / 8; /* 0: the outermost */
  const uint64_t k = word - 1;
  if (!word || k >= c->depth || k >= CALL_STACK_DEPTH) return 0;
  return (uint8_t)(code_next(&d->target.params.code, c->call[k]) >> (8 * (addr & 7)));
}

static bool read_memory(struct gdb_stub *g, uint64_t addr, uint8_t *out, size_t n)
{
  struct err ignored;
  const struct code_view *c = &g->d->target.params.code;
  const uint64_t lowest = GDB_STACK_TOP - 8 * (uint64_t)(CALL_STACK_DEPTH + 64);
  if (addr >= lowest && addr < GDB_STACK_TOP && n <= GDB_STACK_TOP - addr) {
    for (size_t i = 0; i < n; i++) out[i] = stack_byte(g, addr + i);
    return true;
  }
  if (addr >= c->base && addr < c->end) return view_read(&g->d->focus, VIEW_CODE, addr, out, n, &ignored);
  return view_read(&g->d->focus, VIEW_GENERIC, addr, out, n, &ignored);
}

bool gdb_memory(struct gdb_stub *g, const char *p)
{
  struct err ignored;
  uint8_t data[GDB_PACKET_MOST / 2];
  uint64_t addr = 0, n = 0;
  const char *at = p + 1;
  if (!gdb_number(&at, &addr) || *at++ != ',' || !gdb_number(&at, &n) || n > sizeof data) {
    gdb_answer(g, "E01");
    return true;
  }
  if (*p == 'm') {
    if (read_memory(g, addr, data, n))
      gdb_answer_hex(g, data, n);
    else
      gdb_answer(g, "E0e");
    return true;
  }
  const bool whole = *at == ':' && gdb_from_hex(at + 1, data, sizeof data) == (long)n;
  const bool ok = whole && view_write(&g->d->focus, VIEW_GENERIC, addr, data, n, &ignored);
  if (ok) points_look(&g->session->points, &g->d->target);
  gdb_answer(g, ok ? "OK" : "E0e");
  return true;
}

/* ---- registers ---- */

static void answer_core(struct gdb_stub *g)
{
  uint8_t data[GDB_CORE_BYTES], one[GDB_REGISTER_MOST];
  size_t n = 0;
  bool known;
  for (unsigned i = 0; i < GDB_CORE; i++) {
    const unsigned bytes = gdb_register_read(&g->d->focus, i, one, &known);
    memcpy(data + n, one, bytes);
    n += bytes;
  }
  gdb_answer_hex(g, data, n);
}

static void answer_register(struct gdb_stub *g, const char *at)
{
  uint8_t data[GDB_REGISTER_MOST];
  uint64_t number;
  bool known;
  const unsigned n = gdb_number(&at, &number) && number < UINT32_MAX
                         ? gdb_register_read(&g->d->focus, (unsigned)number, data, &known)
                         : 0;
  if (n && known) {
    gdb_answer_hex(g, data, n);
    return;
  }
  memset(g->reply, 'x', 2 * (size_t)n);
  g->reply[2 * n] = '\0';
  g->n_reply = 2 * n;
  if (n)
    gdb_send(g, g->reply, g->n_reply);
  else
    gdb_answer(g, "E01");
}

static void change_register(struct gdb_stub *g, const char *at)
{
  uint8_t data[GDB_REGISTER_MOST];
  uint64_t number;
  const bool named = gdb_number(&at, &number) && *at == '=' && number < UINT32_MAX;
  const long n = named ? gdb_from_hex(at + 1, data, sizeof data) : -1;
  gdb_answer(g, n > 0 && gdb_register_write(&g->d->focus, (unsigned)number, data, (size_t)n) ? "OK" : "E01");
}

bool gdb_registers(struct gdb_stub *g, const char *p)
{
  if (!g->d->target.slot[g->d->focus.slot]) return gdb_answer(g, "E01"), true;
  if (*p == 'g')
    answer_core(g);
  else if (*p == 'p')
    answer_register(g, p + 1);
  else if (*p == 'P')
    change_register(g, p + 1);
  else
    gdb_answer(g, "E01"); /* x86-64's registers are not there */
  return true;
}
