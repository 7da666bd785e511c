#include "debug/dap.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "debug/dap_private.h"

/* ---- messages: "Content-Length: N", an empty line, N bytes of JSON ---- */

static void send(struct dap *p, json_t *message)
{
  json_object_set_new(message, "seq", json_integer(++p->sequence));
  char *text = json_dumps(message, JSON_COMPACT);
  NO_MEMORY_IF(!text);
  fprintf(p->out, "Content-Length: %zu\r\n\r\n%s", strlen(text), text);
  fflush(p->out);
  free(text);
  json_decref(message);
}

static void send_event(struct dap *p, const char *name, json_t *body)
{
  json_t *m = json_pack("{s:s, s:s}", "type", "event", "event", name);
  NO_MEMORY_IF(!m);
  if (body) json_object_set_new(m, "body", body);
  send(p, m);
}

/* Bytes of the message whose header comes now; 0: the connection is closed, or it is no header. */
static size_t read_header(struct dap *p)
{
  char line[256];
  size_t n = 0;
  while (fgets(line, sizeof line, p->in)) {
    if (line[0] == '\r' || line[0] == '\n') return n <= DAP_MESSAGE_MOST ? n : 0;
    if (strncmp(line, "Content-Length:", 15) == 0) n = strtoul(line + 15, NULL, 10);
  }
  return 0;
}

/* NULL: the connection is closed, or what came is no message: then nothing that follows can be read either. */
static json_t *read_message(struct dap *p)
{
  const size_t n = read_header(p);
  if (!n) return NULL;
  char *text = mem_alloc(n);
  json_t *m = fread(text, 1, n, p->in) == n ? json_loadb(text, n, 0, NULL) : NULL;
  mem_free(text);
  return m;
}

/* ---- stops ---- */

static const char *reason_of(const struct debug_stop *s)
{
  switch (s->kind) {
  case STOP_START: return "entry";
  case STOP_BREAK: return "breakpoint";
  case STOP_WATCH: return "data breakpoint";
  case STOP_FAULT: return "exception";
  case STOP_INTERRUPT: return "pause";
  default: return "step";
  }
}

static void tell_stop(struct dap *p, const struct debug_stop *s)
{
  const char *text = s->kind == STOP_FAULT ? p->d->target.fault.text : s->kind == STOP_REFUSED ? s->why.msg : "";
  if (s->kind == STOP_END) {
    p->over = true;
    return;
  }
  p->running = false;
  debugger_stay(p->d);
  send_event(p, "stopped",
             json_pack("{s:s, s:s, s:I, s:b}", "reason", reason_of(s), "text", text, "threadId",
                       (json_int_t)debugger_thread(p->d, &p->d->focus), "allThreadsStopped", 1));
}

/* ---- requests that go on: answered first, then done ---- */

enum move { MOVE_CONTINUE, MOVE_NEXT, MOVE_IN, MOVE_OUT, MOVE_BACK, MOVE_REVERSE };

static void move(struct dap *p, enum move how, const json_t *a)
{
  struct debugger *d = p->d;
  const bool inst = strcmp(dap_text(a, "granularity"), "instruction") == 0;
  p->running = true;
  dap_forget_parts(p);
  if (how != MOVE_CONTINUE && how != MOVE_REVERSE) debugger_focus_thread(d, (uint64_t)dap_number(a, "threadId"));
  if (d->target.state == TARGET_FAULTED && how < MOVE_BACK) {
    p->over = true;
    return;
  }
  switch (how) {
  case MOVE_CONTINUE: tell_stop(p, debugger_continue(d)); break;
  case MOVE_NEXT: tell_stop(p, debugger_step(d, inst ? STEP_OVER : STEP_LINE_OVER)); break;
  case MOVE_IN: tell_stop(p, debugger_step(d, inst ? STEP_INST : STEP_LINE)); break;
  case MOVE_OUT: tell_stop(p, debugger_step(d, STEP_OUT)); break;
  case MOVE_BACK: tell_stop(p, debugger_reverse_step(d, inst ? STEP_INST : STEP_LINE_OVER)); break;
  default: tell_stop(p, debugger_reverse_continue(d));
  }
}

static const struct {
  const char *name;
  enum move how;
} moves[] = {
    {"continue", MOVE_CONTINUE}, {"next", MOVE_NEXT},     {"stepIn", MOVE_IN},
    {"stepOut", MOVE_OUT},       {"stepBack", MOVE_BACK}, {"reverseContinue", MOVE_REVERSE},
};

/* ---- the session's own ---- */

static bool initialize(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  static const char *const can[] = {"supportsConfigurationDoneRequest", "supportsStepBack",
                                    "supportsInstructionBreakpoints",   "supportsReadMemoryRequest",
                                    "supportsDisassembleRequest",       "supportsConditionalBreakpoints",
                                    "supportsFunctionBreakpoints",      "supportsSteppingGranularity",
                                    "supportsEvaluateForHovers",        "supportsTerminateRequest"};
  (void)p, (void)a, (void)e;
  *body = json_object();
  for (unsigned i = 0; i < sizeof can / sizeof can[0]; i++) json_object_set_new(*body, can[i], json_true());
  return true;
}

static bool nothing(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  (void)p, (void)a, (void)body, (void)e;
  return true;
}

static bool leave(struct dap *p, const json_t *a, json_t **body, struct err *e)
{
  (void)body, (void)e;
  p->over = true;
  p->answer = json_is_false(json_object_get(a, "terminateDebuggee")) ? DEBUG_DETACH : DEBUG_KILL;
  return true;
}

static const struct {
  const char *name;
  dap_request *run;
} requests[] = {
    {"initialize", initialize},
    {"launch", nothing},
    {"attach", nothing},
    {"configurationDone", nothing},
    {"setExceptionBreakpoints", nothing},
    {"pause", nothing},
    {"disconnect", leave},
    {"terminate", leave},
    {"setBreakpoints", dap_set_breakpoints},
    {"setInstructionBreakpoints", dap_set_instructions},
    {"setFunctionBreakpoints", dap_set_functions},
    {"threads", dap_threads},
    {"stackTrace", dap_stack},
    {"scopes", dap_scopes},
    {"variables", dap_variables},
    {"evaluate", dap_evaluate},
    {"readMemory", dap_memory},
    {"disassemble", dap_disassemble},
};

static void answer(struct dap *p, const json_t *m, bool ok, json_t *body, const struct err *e)
{
  json_t *r = json_pack("{s:s, s:s, s:b, s:I}", "type", "response", "command", dap_text(m, "command"), "success", ok,
                        "request_seq", (json_int_t)dap_number(m, "seq"));
  NO_MEMORY_IF(!r);
  if (body) json_object_set_new(r, "body", body);
  if (!ok) json_object_set_new(r, "message", json_string(e->msg));
  send(p, r);
}

/* What must follow an answer. */
static void after(struct dap *p, const char *command, const json_t *a)
{
  if (strcmp(command, "initialize") == 0) send_event(p, "initialized", NULL);
  if (strcmp(command, "configurationDone") == 0) {
    p->configured = true;
    tell_stop(p, &(struct debug_stop){.kind = STOP_START});
  }
  for (unsigned i = 0; i < sizeof moves / sizeof moves[0]; i++)
    if (strcmp(moves[i].name, command) == 0) move(p, moves[i].how, a);
}

static void handle(struct dap *p, const json_t *m)
{
  const char *command = dap_text(m, "command");
  const json_t *a = json_object_get(m, "arguments");
  json_t *body = NULL;
  struct err e = {""};
  bool known = false, ok = false;
  for (unsigned i = 0; i < sizeof requests / sizeof requests[0]; i++)
    if (strcmp(requests[i].name, command) == 0) known = true, ok = requests[i].run(p, a, &body, &e);
  for (unsigned i = 0; i < sizeof moves / sizeof moves[0]; i++)
    if (strcmp(moves[i].name, command) == 0) known = ok = true;
  if (!known) err_fill(&e, "no request '%.60s'", command);
  answer(p, m, ok, ok ? body : NULL, &e);
  if (ok)
    after(p, command, a);
  else
    json_decref(body);
}

/* ---- the face ---- */

/* While the launch runs: whether the editor has said anything, which is asked to wait for a stop. */
static bool was_interrupted(void *ctx)
{
  const struct dap *p = ctx;
  struct pollfd f = {.fd = fileno(p->in), .events = POLLIN};
  return poll(&f, 1, 0) > 0;
}

static enum debug_answer dap_talk(void *ctx, struct debugger *d)
{
  struct dap *p = ctx;
  json_t *m;
  p->d = d;
  p->over = false;
  p->answer = DEBUG_GO_ON;
  p->session->stop_next = false;
  d->interrupted = was_interrupted;
  d->ctx = p;
  if (p->running) move(p, MOVE_CONTINUE, NULL);
  while (!p->over && (m = read_message(p))) {
    handle(p, m);
    json_decref(m);
  }
  if (!p->over) p->answer = DEBUG_DETACH;
  p->d = NULL;
  return p->answer;
}

static void dap_end(void *ctx, int status)
{
  struct dap *p = ctx;
  send_event(p, "exited", json_pack("{s:i}", "exitCode", status));
  send_event(p, "terminated", NULL);
  fclose(p->out);
  fclose(p->in);
  dap_forget_parts(p);
  mem_free(p);
}

bool dap_open(struct debug_session *s, struct debug_face *face, struct err *e)
{
  const int in = dup(STDIN_FILENO), out = dup(STDOUT_FILENO);
  FILE *from = in < 0 ? NULL : fdopen(in, "r"), *to = out < 0 ? NULL : fdopen(out, "w");
  if (!from || !to || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return err_set(e, "--dap: %s", host_error());
  setvbuf(from, NULL, _IONBF, 0); /* poll must see what was not read */
  struct dap *p = mem_zeroed(1, sizeof *p);
  p->session = s;
  p->in = from;
  p->out = to;
  *face = (struct debug_face){p, dap_talk, dap_end};
  return true;
}
