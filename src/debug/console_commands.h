/* Private to the console: its state, and the commands by theme. */
#ifndef WS_DEBUG_CONSOLE_COMMANDS_H
#define WS_DEBUG_CONSOLE_COMMANDS_H

#include <stdio.h>

#include "debug/debug_session.h"

struct console {
  struct debug_session *session;
  struct debugger *d; /* of the launch; NULL: none */
  FILE *out;
  FILE *script;      /* NULL: there is none, or it is over */
  void *line_editor; /* libedit; NULL: none */
  char *(*read_line)(const char *prompt);
  void (*keep_line)(const char *);
  char last[256]; /* the last command, for an empty line */
  bool go_on;     /* the launch need not stop any more */
  enum debug_answer answer;
  uint64_t list_line; /* where `list` goes on; 0: around the pc */
  const struct line_row *list_row;
};

/* Commands get what stands behind their name, without blanks at either end. False with e filled: nothing
 * happened. */
typedef bool console_command(struct console *, char *args, struct err *e);

/* Going on (console_run.c). */
console_command command_continue, command_stepi, command_nexti, command_step, command_next, command_finish,
    command_stepc, command_reverse_stepi, command_reverse_nexti, command_reverse_step, command_reverse_next,
    command_reverse_finish, command_reverse_continue, command_reverse_stepc, command_goto;

/* Where to stop (console_points.c). */
console_command command_break, command_tbreak, command_watch, command_rwatch, command_awatch, command_delete,
    command_enable, command_disable, command_condition, command_ignore, command_info_breakpoints;

/* Looking (console_show.c, console_state.c). */
console_command command_print, command_examine, command_set, command_backtrace, command_frame, command_up, command_down,
    command_list, command_disassemble;
console_command command_info, command_lane, command_warp, command_cta, command_thread, command_state;

/* Of all (console_text.c). Where the focus is, with its instruction and source line. */
void console_show_focus(struct console *);
/* What stopped it, then the focus. */
void console_show_stop(struct console *, const struct debug_stop *);
/* The first word of *at, which goes on behind it; "" at the end. */
char *console_word(char **at);
/* A whole number, or an expression without blanks. */
bool console_number(struct console *, const char *text, uint64_t *n, struct err *e);

#endif
