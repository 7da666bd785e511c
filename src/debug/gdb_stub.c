#include "debug/gdb_stub.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/host_memory.h"
#include "debug/gdb_private.h"
#include "func/sass/step_observer.h"

/* ---- the connection ---- */

static void write_all(struct gdb_stub *g, const char *data, size_t n)
{
  while (n && !g->gone) {
    const ssize_t k = write(g->out, data, n);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0)
      g->gone = true;
    else
      data += k, n -= (size_t)k;
  }
}

void gdb_send(struct gdb_stub *g, const void *data, size_t n)
{
  char *frame = mem_alloc(2 * n + 4);
  write_all(g, frame, gdb_frame(data, n, frame));
  mem_free(frame);
}

static void send_reply(struct gdb_stub *g)
{
  gdb_send(g, g->reply, g->n_reply);
}

void gdb_answer(struct gdb_stub *g, const char *text)
{
  g->n_reply = strlen(text);
  if (g->n_reply > GDB_REPLY_MOST) g->n_reply = GDB_REPLY_MOST;
  memcpy(g->reply, text, g->n_reply);
  send_reply(g);
}

void gdb_answer_hex(struct gdb_stub *g, const void *data, size_t n)
{
  gdb_to_hex(data, n <= GDB_REPLY_MOST / 2 ? n : GDB_REPLY_MOST / 2, g->reply);
  g->n_reply = strlen(g->reply);
  send_reply(g);
}

void gdb_answer_bytes(struct gdb_stub *g, char first, const void *data, size_t n)
{
  g->reply[0] = first;
  g->n_reply = 1 + (n < GDB_REPLY_MOST ? n : GDB_REPLY_MOST - 1);
  memcpy(g->reply + 1, data, g->n_reply - 1);
  send_reply(g);
}

static bool read_byte(struct gdb_stub *g, uint8_t *c)
{
  ssize_t k;
  while ((k = read(g->in, c, 1)) < 0 && errno == EINTR)
    ;
  if (k <= 0) g->gone = true;
  return k > 0;
}

/* The next packet; NULL: the connection is closed. */
static const char *next_packet(struct gdb_stub *g)
{
  for (uint8_t c; !g->gone && read_byte(g, &c);) {
    switch (gdb_read_byte(&g->reader, c)) {
    case GDB_PACKET:
      if (!g->no_acks) write_all(g, "+", 1);
      return g->reader.data;
    case GDB_DAMAGED:
      if (!g->no_acks) write_all(g, "-", 1);
      break;
    case GDB_AGAIN: send_reply(g); break;
    default: break;
    }
  }
  return NULL;
}

/* While the launch runs: whether the user has pressed Ctrl-C, or has gone. */
static bool was_interrupted(void *ctx)
{
  struct gdb_stub *g = ctx;
  struct pollfd p = {.fd = g->in, .events = POLLIN};
  uint8_t c;
  while (poll(&p, 1, 0) > 0)
    if (!read_byte(g, &c) || gdb_read_byte(&g->reader, c) == GDB_INTERRUPT) return true;
  return false;
}

/* ---- stops ---- */

static void describe_stop(struct gdb_stub *g, const struct debug_stop *s)
{
  const struct debug_point *p = points_find(&g->session->points, s->point);
  const uint64_t thread = debugger_thread(g->d, &g->d->focus);
  char more[64] = "";
  const char *signal = s->kind == STOP_FAULT ? "0b" : s->kind == STOP_INTERRUPT ? "02" : "05";
  static const char *const watch[] = {"", "watch", "rwatch", "awatch"};
  if (s->kind == STOP_BREAK) snprintf(more, sizeof more, "swbreak:;");
  if (s->kind == STOP_START) snprintf(more, sizeof more, "replaylog:begin:;");
  for (unsigned i = 0; s->kind == STOP_WATCH && p && i < g->n_points; i++)
    if (g->point[i].id == p->id) snprintf(more, sizeof more, "%s:%" PRIx64 ";", watch[p->kind], g->point[i].addr);
  snprintf(g->stop, sizeof g->stop, "T%sthread:%" PRIx64 ";%s", signal, thread, more);
}

/* What gdb waits for. The end of the launch is told when the program ends, or the next one stops. */
static void tell_stop(struct gdb_stub *g, const struct debug_stop *s)
{
  char note[600], hex[1300] = "O";
  if (s->kind == STOP_END) {
    g->over = true;
    return;
  }
  if (s->kind == STOP_FAULT || s->kind == STOP_REFUSED) {
    snprintf(note, sizeof note, "%s\n", s->kind == STOP_FAULT ? g->d->target.fault.text : s->why.msg);
    gdb_to_hex(note, strlen(note), hex + 1);
    gdb_answer(g, hex);
  }
  describe_stop(g, s);
  debugger_stay(g->d);
  g->running = false;
  gdb_answer(g, g->stop);
}

/* ---- going on ---- */

/* A launch that has faulted goes no further. */
static void resume(struct gdb_stub *g, char how)
{
  g->running = true;
  if (g->d->target.state == TARGET_FAULTED)
    g->over = true;
  else
    tell_stop(g, how == 's' ? debugger_step(g->d, STEP_INST) : debugger_continue(g->d));
}

/* vCont;s:2;c: the action of the thread that is to be stepped, else that of all. */
static void resume_many(struct gdb_stub *g, const char *actions)
{
  while (*actions == ';') {
    const char how = *++actions;
    uint64_t thread = 0;
    if (how) actions++;
    if ((how == 'C' || how == 'S') && gdb_number(&actions, &thread)) thread = 0; /* a signal */
    if (*actions == ':') actions++, gdb_number(&actions, &thread);
    if (how == 's' || how == 'S') {
      debugger_focus_thread(g->d, thread);
      resume(g, 's');
      return;
    }
    actions += strcspn(actions, ";");
  }
  resume(g, 'c');
}

static void go_back(struct gdb_stub *g, char how)
{
  g->running = true;
  tell_stop(g, how == 's' ? debugger_reverse_step(g->d, STEP_INST) : debugger_reverse_continue(g->d));
}

/* ---- breakpoints ---- */

static struct gdb_point *point_at(struct gdb_stub *g, char type, uint64_t addr, uint64_t kind)
{
  for (unsigned i = 0; i < g->n_points; i++)
    if (g->point[i].type == type && g->point[i].addr == addr && g->point[i].kind == kind) return &g->point[i];
  return NULL;
}

static struct debug_point *new_point(struct gdb_stub *g, char type, uint64_t addr, uint64_t kind, struct err *e)
{
  static const enum point_kind kinds[] = {POINT_CODE, POINT_CODE, POINT_WRITE, POINT_READ, POINT_ACCESS};
  char spec[32];
  snprintf(spec, sizeof spec, "*0x%" PRIx64, addr);
  if (type >= '2')
    return points_add_watch(&g->session->points, kinds[type - '0'], spec, &g->d->focus, VIEW_GENERIC, addr,
                            kind <= WATCH_BYTES ? (unsigned)kind : WATCH_BYTES + 1, e);
  struct debug_point *p = points_add_code(&g->session->points, spec, e);
  if (p) p->n_pcs = point_resolve(&g->d->map, &g->d->target.params.code, spec, NULL, false, p->pc, POINT_PCS, e);
  if (!p || p->n_pcs) return p;
  points_delete(&g->session->points, p->id);
  return NULL;
}

static const char *insert(struct gdb_stub *g, char type, uint64_t addr, uint64_t kind)
{
  struct err e;
  if (point_at(g, type, addr, kind)) return "OK";
  if (g->n_points == GDB_POINTS) return "E0c";
  const struct debug_point *p = new_point(g, type, addr, kind, &e);
  if (!p) return "E0e";
  g->point[g->n_points++] = (struct gdb_point){addr, kind, type, p->id};
  return "OK";
}

static void erase(struct gdb_stub *g, char type, uint64_t addr, uint64_t kind)
{
  struct gdb_point *p = point_at(g, type, addr, kind);
  if (!p) return;
  points_delete(&g->session->points, p->id);
  *p = g->point[--g->n_points];
}

/* Z0,addr,kind and z0,addr,kind */
static void change_points(struct gdb_stub *g, const char *packet)
{
  uint64_t addr = 0, kind = 0;
  const char type = packet[1], *at = packet + 3;
  const char *answer = "OK";
  if (type < '0' || type > '4' || packet[2] != ',' || !gdb_number(&at, &addr) || *at++ != ',' ||
      !gdb_number(&at, &kind)) {
    gdb_answer(g, "");
    return;
  }
  if (packet[0] == 'Z')
    answer = insert(g, type, addr, kind);
  else
    erase(g, type, addr, kind);
  points_mark(&g->session->points, &g->d->target.params.code);
  gdb_answer(g, answer);
}

/* ---- packets ---- */

static void leave(struct gdb_stub *g, enum debug_answer answer)
{
  g->over = true;
  g->answer = answer;
}

/* Hg2, Hc-1: the thread of what follows. */
static void choose_thread(struct gdb_stub *g, const char *packet)
{
  const char *at = packet + 2;
  uint64_t thread = 0;
  if (*at == '-' || !gdb_number(&at, &thread) || !thread)
    gdb_answer(g, "OK"); /* any */
  else
    gdb_answer(g, debugger_focus_thread(g->d, thread) ? "OK" : "E03");
}

static void is_alive(struct gdb_stub *g, const char *packet)
{
  const char *at = packet + 1;
  uint64_t thread = 0;
  const struct lane_view was = g->d->focus;
  const bool alive = gdb_number(&at, &thread) && debugger_focus_thread(g->d, thread);
  g->d->focus = was;
  gdb_answer(g, alive ? "OK" : "E03");
}

static bool letter_v(struct gdb_stub *g, const char *packet)
{
  if (strcmp(packet, "vCont?") == 0)
    gdb_answer(g, "vCont;c;C;s;S");
  else if (strncmp(packet, "vCont;", 6) == 0)
    resume_many(g, packet + 5);
  else if (strncmp(packet, "vKill", 5) == 0)
    gdb_answer(g, "OK"), leave(g, DEBUG_KILL);
  else
    return gdb_file(g, packet);
  return true;
}

static bool handle(struct gdb_stub *g, const char *packet)
{
  switch (packet[0]) {
  case '?': return gdb_answer(g, g->stop), true;
  case 'H': return choose_thread(g, packet), true;
  case 'T': return is_alive(g, packet), true;
  case 'c':
  case 'C': return resume(g, 'c'), true;
  case 's':
  case 'S': return resume(g, 's'), true;
  case 'b': return go_back(g, packet[1]), true;
  case 'Z':
  case 'z': return change_points(g, packet), true;
  case 'D': return gdb_answer(g, "OK"), leave(g, DEBUG_DETACH), true;
  case 'k': return leave(g, DEBUG_KILL), true;
  case 'v': return letter_v(g, packet);
  case 'm':
  case 'M': return gdb_memory(g, packet);
  case 'g':
  case 'G':
  case 'p':
  case 'P': return gdb_registers(g, packet);
  default: return gdb_query(g, packet);
  }
}

/* ---- the face ---- */

static enum debug_answer stub_talk(void *ctx, struct debugger *d)
{
  struct gdb_stub *g = ctx;
  const char *packet;
  g->d = d;
  g->over = false;
  g->answer = DEBUG_GO_ON;
  d->interrupted = was_interrupted;
  d->ctx = g;
  mem_free(g->file); /* another module, perhaps */
  g->file = NULL;
  g->session->stop_next = false;
  describe_stop(g, &(struct debug_stop){.kind = STOP_STEP});
  debugger_stay(g->d);
  if (g->running) resume(g, 'c');
  while (!g->over && (packet = next_packet(g)))
    if (!handle(g, packet)) gdb_answer(g, "");
  if (g->gone) g->answer = DEBUG_DETACH;
  g->d = NULL;
  return g->answer;
}

static void stub_end(void *ctx, int status)
{
  struct gdb_stub *g = ctx;
  char text[16];
  snprintf(text, sizeof text, "W%02x", status & 255);
  if (g->running && !g->gone) gdb_answer(g, text);
  if (g->in != STDIN_FILENO) close(g->in);
  mem_free(g->registers);
  mem_free(g->threads);
  mem_free(g->file);
  mem_free(g);
}

/* A connection at a port of this machine. -1 with e filled. */
static int accept_one(const char *port, struct err *e)
{
  const int one = 1, s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in at = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int c = -1;
  if (s >= 0) setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (s >= 0 && bind(s, (const struct sockaddr *)&at, sizeof at) == 0 && listen(s, 1) == 0) {
    fprintf(stderr, "warpstep: waiting for gdb: (gdb) target remote :%s\n", port);
    while ((c = accept4(s, NULL, NULL, SOCK_CLOEXEC)) < 0 && errno == EINTR)
      ;
  }
  if (c < 0)
    err_fill(e, "--gdb %s: %s", port, host_error());
  else
    setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (s >= 0) close(s);
  return c;
}

bool gdb_stub_open(struct debug_session *s, struct debug_face *face, struct err *e)
{
  const bool piped = strcmp(s->o.gdb, "-") == 0;
  const int c = piped ? STDIN_FILENO : accept_one(s->o.gdb, e);
  if (c < 0) return false;
  struct gdb_stub *g = mem_zeroed(1, sizeof *g);
  g->session = s;
  g->in = c;
  g->out = piped ? dup(STDOUT_FILENO) : c;
  if (piped) dup2(STDERR_FILENO, STDOUT_FILENO); /* what the program prints is no packet */
  signal(SIGPIPE, SIG_IGN);                      /* gdb may go at any time */
  *face = (struct debug_face){g, stub_talk, stub_end};
  return true;
}
