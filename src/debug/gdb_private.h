/* Private to the gdb stub: its state; the connection, answers to queries, memory, threads. */
#ifndef WS_DEBUG_GDB_PRIVATE_H
#define WS_DEBUG_GDB_PRIVATE_H

#include <stdio.h>

#include "debug/debug_session.h"
#include "debug/gdb_packet.h"

enum { GDB_POINTS = 256, GDB_REPLY_MOST = 2 * GDB_PACKET_MOST };

/* A breakpoint that gdb has inserted. */
struct gdb_point {
  uint64_t addr, kind;
  char type; /* '0' … '4' */
  unsigned id;
};

struct gdb_stub {
  struct debug_session *session;
  struct debugger *d; /* NULL: no launch is there */
  int in, out;        /* descriptors */
  bool no_acks, gone; /* gone: the connection is closed */
  bool running;       /* gdb waits for a stop */
  struct gdb_reader reader;
  char reply[GDB_REPLY_MOST + 1];
  size_t n_reply;
  char *registers; /* target.xml */
  char *threads;   /* of the last qXfer:threads:read; NULL: none */
  uint8_t *file;   /* the shadow of the module; NULL: not built yet */
  size_t file_bytes;
  struct gdb_point point[GDB_POINTS];
  unsigned n_points;
  bool over;                /* the user wants the launch to go on by itself, */
  enum debug_answer answer; /* … and this */
  char stop[128];
};

/* ---- answers ---- */
void gdb_answer(struct gdb_stub *, const char *text);
void gdb_answer_hex(struct gdb_stub *, const void *data, size_t n);
void gdb_answer_bytes(struct gdb_stub *, char first, const void *data,
                      size_t n); /* 'm' or 'l', then bytes as they are */
void gdb_send(struct gdb_stub *, const void *data, size_t n);

/* ---- packets by theme; false: not one of these ---- */
bool gdb_query(struct gdb_stub *, const char *packet);     /* q…, Q… */
bool gdb_file(struct gdb_stub *, const char *packet);      /* vFile:… */
bool gdb_memory(struct gdb_stub *, const char *packet);    /* m, M */
bool gdb_registers(struct gdb_stub *, const char *packet); /* g, G, p, P */

#endif
