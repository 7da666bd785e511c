/* Private to the adapter: its state, and the requests by theme. */
#ifndef WS_DEBUG_DAP_PRIVATE_H
#define WS_DEBUG_DAP_PRIVATE_H

#include <jansson.h>
#include <stdio.h>

#include "debug/debug_session.h"

enum { DAP_MESSAGE_MOST = 1 << 20, DAP_POINTS = 512, DAP_FRAMES = 64 };

/* A breakpoint of the editor's. */
struct dap_point {
  unsigned id;
  char source[512]; /* path; "*": an instruction, "()": a function */
};

/* A value whose parts the editor may ask for. */
struct dap_part {
  int64_t frame;
  char *path; /* an expression */
};

struct dap {
  struct debug_session *session;
  struct debugger *d;
  FILE *in, *out;
  int64_t sequence;
  struct dap_point point[DAP_POINTS];
  unsigned n_points;
  struct dap_part *part; /* of this stop */
  uint32_t n_parts, room_parts;
  bool configured; /* the editor has set its breakpoints */
  bool running;    /* it waits for a stop */
  bool over;       /* the launch goes on by itself, … */
  enum debug_answer answer;
};

/* Answers a request: its body, of which the adapter takes possession, or a refusal. NULL body: none. */
typedef bool dap_request(struct dap *, const json_t *arguments, json_t **body, struct err *e);

dap_request dap_set_breakpoints, dap_set_instructions, dap_set_functions;      /* dap_points.c */
dap_request dap_threads, dap_stack, dap_evaluate, dap_memory, dap_disassemble; /* dap_look.c */
dap_request dap_scopes, dap_variables;                                         /* dap_variables.c */

/* The thread, or the frame, is looked at. False with e filled: it is not there any more. */
bool dap_thread_there(struct dap *, uint64_t thread, struct err *e);
bool dap_frame_there(struct dap *, int64_t frame, struct err *e);

/* Text of a value; the caller frees it (free). */
char *dap_value_text(struct dap *, const struct debug_value *);
/* variablesReference of a value that an expression names in a frame: for dap_variables; 0: it has no parts, or no
 * frame is said. */
int64_t dap_parts_of(struct dap *, int64_t frame, const char *path, const struct debug_value *);
/* The launch goes on: no value is what it was. */
void dap_forget_parts(struct dap *);

/* Members of an object; what is missing or of another type is 0, or "". */
int64_t dap_number(const json_t *, const char *key);
const char *dap_text(const json_t *, const char *key);

#endif
