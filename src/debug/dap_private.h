/* Private to the adapter: its state, and the requests by theme. */
#ifndef WS_DEBUG_DAP_PRIVATE_H
#define WS_DEBUG_DAP_PRIVATE_H

#include <jansson.h>
#include <stdio.h>

#include "debug/debug_session.h"

enum { DAP_MESSAGE_MOST = 1 << 20, DAP_POINTS = 512 };

/* A breakpoint of the editor's. */
struct dap_point {
  unsigned id;
  char source[512]; /* path; "*": an instruction, "()": a function */
};

struct dap {
  struct debug_session *session;
  struct debugger *d;
  FILE *in, *out;
  int64_t sequence;
  struct dap_point point[DAP_POINTS];
  unsigned n_points;
  bool configured; /* the editor has set its breakpoints */
  bool running;    /* it waits for a stop */
  bool over;       /* the launch goes on by itself, … */
  enum debug_answer answer;
};

/* Answers a request: its body, of which the adapter takes possession, or a refusal. NULL body: none. */
typedef bool dap_request(struct dap *, const json_t *arguments, json_t **body, struct err *e);

dap_request dap_set_breakpoints, dap_set_instructions, dap_set_functions; /* dap_points.c */
dap_request dap_threads, dap_stack, dap_scopes, dap_variables, dap_evaluate, dap_memory,
    dap_disassemble; /* dap_look.c */

/* Members of an object; what is missing or of another type is 0, or "". */
int64_t dap_number(const json_t *, const char *key);
const char *dap_text(const json_t *, const char *key);

#endif
