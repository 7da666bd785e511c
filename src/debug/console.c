#include "debug/console.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/nearest.h"
#include "base/regular.h"
#include "base/text.h"
#include "debug/console_commands.h"

enum { MAX_LINE = 1 << 16 };
#define PROMPT "(warpstep) "

static console_command command_help, command_quit, command_detach, command_kill, command_echo;

struct console_row {
  const char *name, *other; /* other: a short form; NULL: none */
  console_command *run;
  enum { ANY, LAUNCH, LOOK } needs; /* LAUNCH: there must be one; LOOK: and it only looks */
  const char *args, *help;
};

static const struct console_row commands[] = {
    {"continue", "c", command_continue, LAUNCH, "",
     "go on until something stops it; to the next launch at the end of one"},
    {"stepi", "si", command_stepi, LAUNCH, "[N]",
     "execute N instructions of this lane's path, other warps stand still"},
    {"nexti", "ni", command_nexti, LAUNCH, "[N]", "the same, over calls"},
    {"step", "s", command_step, LAUNCH, "[N]", "go on to another source line, into functions, inlined ones as well"},
    {"next", "n", command_next, LAUNCH, "[N]", "the same, over functions"},
    {"finish", NULL, command_finish, LAUNCH, "",
     "go on until the function has returned; in a kernel, until the CTA has ended"},
    {"stepc", "sc", command_stepc, LAUNCH, "[N]",
     "execute an instruction of each warp of this CTA that can go on, N times"},
    {"reverse-stepi", "rsi", command_reverse_stepi, LAUNCH, "[N]", "back to before this path's last instruction"},
    {"reverse-nexti", "rni", command_reverse_nexti, LAUNCH, "[N]", "the same, over calls"},
    {"reverse-step", "rs", command_reverse_step, LAUNCH, "[N]", "back to where a source line began"},
    {"reverse-next", "rn", command_reverse_next, LAUNCH, "[N]", "the same, over functions"},
    {"reverse-finish", NULL, command_reverse_finish, LAUNCH, "", "back to before the call of this function"},
    {"reverse-stepc", "rsc", command_reverse_stepc, LAUNCH, "[N]",
     "back to before this CTA's first warp was last stepped"},
    {"reverse-continue", "rc", command_reverse_continue, LAUNCH, "",
     "back to the last breakpoint or watchpoint, or the start"},
    {"goto", NULL, command_goto, LAUNCH, "N", "to the position behind N warp instructions of the launch, either way"},
    {"break", "b", command_break, ANY, "WHERE [every] [cta X,Y,Z] [thread X,Y,Z] [warp N] [lane N] [if EXPR]",
     "stop ahead of an instruction: *ADDRESS, KERNEL, KERNEL+OFFSET, FILE:LINE, LINE; of a\n"
     "line at its first address in each function and inlined copy, with 'every' at all"},
    {"tbreak", NULL, command_tbreak, ANY, "as break", "the same, once"},
    {"watch", NULL, command_watch, LAUNCH, "[TYPE] SPACE[ADDRESS]",
     "stop when memory has changed: watch u32 shared[16]"},
    {"rwatch", NULL, command_rwatch, LAUNCH, "[TYPE] SPACE[ADDRESS]", "stop when it was read"},
    {"awatch", NULL, command_awatch, LAUNCH, "[TYPE] SPACE[ADDRESS]", "stop when it was read or written"},
    {"condition", NULL, command_condition, ANY, "N [EXPR]", "breakpoint N stops only lanes for which EXPR holds; all"},
    {"ignore", NULL, command_ignore, ANY, "N COUNT", "breakpoint N passes over COUNT hits"},
    {"delete", "d", command_delete, ANY, "[N]", "delete breakpoint or watchpoint N; all"},
    {"enable", NULL, command_enable, ANY, "N", "it stops again"},
    {"disable", NULL, command_disable, ANY, "N", "it does not stop for now"},
    {"cta", NULL, command_cta, LOOK, "N | X,Y,Z", "look at this CTA"},
    {"warp", NULL, command_warp, LOOK, "N", "look at this warp of the CTA"},
    {"lane", NULL, command_lane, LOOK, "N", "look at this lane of the warp"},
    {"thread", NULL, command_thread, LOOK, "X[,Y,Z]", "look at this thread of the CTA"},
    {"print", "p", command_print, LOOK, "EXPR",
     "print a value: R4, R4[7], f32(R4), f64(R4), tid.x, f32 global[u64(R2)+4]"},
    {"x", NULL, command_examine, LOOK, "[COUNT] [TYPE] SPACE[ADDRESS]", "print memory, global, shared, local or const"},
    {"set", NULL, command_set, LAUNCH, "REGISTER = EXPR | [TYPE] SPACE[ADDRESS] = EXPR",
     "change a register of the lane, or memory"},
    {"info", "i", command_info, LOOK,
     "launch | ctas | warps | lanes | registers [NAME...] | breakpoints | kernels | locals", "what there is"},
    {"backtrace", "bt", command_backtrace, LOOK, "", "the functions the lane is in, with inlined ones"},
    {"frame", "f", command_frame, LOOK, "[N]", "look at frame N of the backtrace: its lines, its variables in memory"},
    {"up", NULL, command_up, LOOK, "", "look at the caller"},
    {"down", NULL, command_down, LOOK, "", "look at what it called"},
    {"list", "l", command_list, LOOK, "[LINE]", "source lines"},
    {"disassemble", "u", command_disassemble, LOOK, "[WHERE [COUNT]]", "instructions with their source lines"},
    {"state", NULL, command_state, LOOK, "", "position, and a number that follows from all registers and memory"},
    {"echo", NULL, command_echo, ANY, "TEXT", "print text"},
    {"detach", NULL, command_detach, ANY, "", "nothing stops any more"},
    {"kill", NULL, command_kill, ANY, "", "end the program"},
    {"quit", "q", command_quit, ANY, "", "the same"},
    {"help", "h", command_help, LOOK, "[COMMAND]", "this list, or one command"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* ---- text ---- */

static void trim(char *s)
{
  size_t n = strlen(s);
  while (n && isspace((unsigned char)s[n - 1])) s[--n] = '\0';
  memmove(s, s + strspn(s, " \t"), strlen(s + strspn(s, " \t")) + 1);
}

/* ---- commands of the console itself ---- */

static const struct console_row *command_named(const char *name)
{
  for (unsigned i = 0; i < COMMANDS; i++)
    if (strcmp(commands[i].name, name) == 0 || (commands[i].other && strcmp(commands[i].other, name) == 0))
      return &commands[i];
  return NULL;
}

/* By its name, a short form, or the start of one name alone. */
static const struct console_row *command_find(const char *name, struct err *e)
{
  const struct console_row *row = command_named(name);
  char hint[NEAREST_HINT];
  struct nearest n;
  unsigned fit = 0;
  if (row) return row;
  nearest_start(&n, name);
  for (unsigned i = 0; i < COMMANDS; i++) {
    nearest_offer(&n, commands[i].name);
    if (strncmp(commands[i].name, name, strlen(name)) == 0) row = &commands[i], fit++;
  }
  if (fit == 1) return row;
  err_fill(e,
           fit ? "several commands begin with '%.40s'; 'help' lists them%s" : "no command '%.40s'; 'help' lists them%s",
           name, fit ? "" : nearest_hint(&n, hint));
  return NULL;
}

static void print_help(struct console *c, const struct console_row *row)
{
  fprintf(c->out, "%s%s%s%s%s\n", row->name, row->other ? ", " : "", row->other ? row->other : "",
          *row->args ? " " : "", row->args);
  for (const char *at = row->help; at;) {
    const char *end = strchr(at, '\n');
    fprintf(c->out, "    %.*s\n", (int)(end ? end - at : (long)strlen(at)), at);
    at = end ? end + 1 : NULL;
  }
}

static bool command_help(struct console *c, char *args, struct err *e)
{
  const struct console_row *row = *args ? command_find(args, e) : NULL;
  if (*args && !row) return false;
  if (row)
    print_help(c, row);
  else
    for (unsigned i = 0; i < COMMANDS; i++) print_help(c, &commands[i]);
  return true;
}

static bool leave(struct console *c, enum debug_answer answer)
{
  c->go_on = true;
  c->answer = answer;
  return true;
}

static bool command_quit(struct console *c, char *args, struct err *e)
{
  (void)args, (void)e;
  return leave(c, DEBUG_KILL);
}

static bool command_kill(struct console *c, char *args, struct err *e)
{
  return command_quit(c, args, e);
}

static bool command_detach(struct console *c, char *args, struct err *e)
{
  (void)args, (void)e;
  return leave(c, DEBUG_DETACH);
}

static bool command_echo(struct console *c, char *args, struct err *e)
{
  (void)e;
  fprintf(c->out, "%s\n", args);
  return true;
}

/* ---- lines ---- */

/* A line of a file without its end; NULL: there are no more. */
static char *line_of(FILE *f)
{
  char *line = NULL;
  size_t room = 0;
  const ssize_t n = getline(&line, &room, f);
  if (n > 0 && n <= MAX_LINE) return line;
  free(line);
  return NULL;
}

static char *next_line(struct console *c)
{
  char *line = c->script ? line_of(c->script) : NULL;
  if (line) return line;
  if (c->script) fclose(c->script);
  c->script = NULL;
  if (c->session->o.batch) return NULL;
  if (c->line_editor) {
    line = c->read_line(PROMPT);
    if (line && *line) c->keep_line(line);
    return line;
  }
  fputs(PROMPT, c->out);
  fflush(c->out);
  return line_of(stdin);
}

static void execute(struct console *c, char *line)
{
  struct err e = {""};
  char *args = line, shown[600];
  const struct console_row *row = command_find(console_word(&args), &e);
  bool ok = row != NULL;
  if (row && row->needs != ANY && !c->d && row->run != command_help)
    ok = err_set(&e, "there is no launch");
  else if (row)
    ok = row->run(c, args, &e);
  if (ok) return;
  fprintf(c->out, "error: %s\n", text_safe(e.msg, shown, sizeof shown));
  if (c->session->o.batch) c->session->mistakes++;
}

static void take_line(struct console *c, char *line)
{
  trim(line);
  if (*line == '#') return;
  char again[sizeof c->last];
  memcpy(again, c->last, sizeof again);
  if (!*line && !c->script && isatty(STDIN_FILENO)) line = again;
  if (!*line) return;
  snprintf(c->last, sizeof c->last, "%s", line);
  execute(c, line);
}

void console_look(struct debug_session *s, struct debugger *d, const char *line, FILE *out)
{
  struct console c = {.session = s, .d = d, .out = out};
  struct err e = {""};
  char text[1024], *args = text;
  snprintf(text, sizeof text, "%s", line);
  trim(text);
  const struct console_row *row = command_find(console_word(&args), &e);
  bool ok = row != NULL;
  if (row && row->needs != LOOK)
    ok = err_set(&e, "'%s' is for the console; gdb has its own way", row->name);
  else if (row)
    ok = row->run(&c, args, &e);
  if (!ok) fprintf(out, "error: %s\n", e.msg);
}

/* ---- the face ---- */

static bool was_interrupted(void *ctx)
{
  const sigset_t *signals = ctx;
  return sigtimedwait(signals, NULL, &(struct timespec){0}) == SIGINT;
}

/* Ctrl-C while nothing runs means nothing: it must not stop what is asked for next. */
static void forget_interrupts(struct console *c)
{
  while (was_interrupted(c->d->ctx));
}

/* Until the user wants the launch to go on to its end, or nobody asks any more. */
static void talk_lines(struct console *c)
{
  while (!c->go_on) {
    char *line = next_line(c);
    if (!line) {
      leave(c, DEBUG_DETACH);
      return;
    }
    forget_interrupts(c);
    take_line(c, line);
    free(line);
    fflush(c->out);
  }
}

static enum debug_answer console_talk(void *ctx, struct debugger *d)
{
  struct console *c = ctx;
  sigset_t signals, before;
  const uint32_t *g = d->target.source->grid, *b = d->target.source->block;
  char name[300];
  c->d = d;
  c->go_on = false;
  c->answer = DEBUG_GO_ON;
  c->list_row = NULL;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  d->interrupted = was_interrupted;
  d->ctx = &signals;
  fprintf(c->out, "launch %llu: %s, grid (%u,%u,%u), block (%u,%u,%u)\n", (unsigned long long)d->number,
          text_safe(d->kernel->name, name, sizeof name), g[0], g[1], g[2], b[0], b[1], b[2]);
  if (c->session->stop_next)
    console_show_stop(c, &(struct debug_stop){.kind = STOP_START});
  else
    execute(c, (char[]){"continue"});
  c->session->stop_next = false;
  talk_lines(c);
  fflush(c->out);
  forget_interrupts(c);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  c->d = NULL;
  return c->answer;
}

static void console_end(void *ctx, int status)
{
  struct console *c = ctx;
  (void)status;
  if (c->script) fclose(c->script);
  if (c->line_editor) dlclose(c->line_editor);
  mem_free(c);
}

/* Where libedit is not there, lines are read as they come. */
static void find_editor(struct console *c)
{
  if (c->session->o.batch || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return;
  c->line_editor = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!c->line_editor) return;
  *(void **)&c->read_line = dlsym(c->line_editor, "readline");
  *(void **)&c->keep_line = dlsym(c->line_editor, "add_history");
  if (c->read_line && c->keep_line) return;
  dlclose(c->line_editor);
  c->line_editor = NULL;
}

bool console_open(struct debug_session *s, struct debug_face *face, struct err *e)
{
  struct console *c = mem_zeroed(1, sizeof *c);
  *c = (struct console){.session = s, .out = stdout};
  if (s->o.script && !(c->script = fopen(s->o.script, "re"))) {
    mem_free(c);
    return err_set(e, "-x %s: %s", s->o.script, host_error());
  }
  find_editor(c);
  *face = (struct debug_face){c, console_talk, console_end};
  return true;
}
