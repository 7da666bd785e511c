/* A stream that keeps what is written to it and passes it on. */
#ifndef WS_HOST_CAPTURE_H
#define WS_HOST_CAPTURE_H

#include <stddef.h>
#include <stdio.h>

struct capture {
  FILE *stream;  /* write here */
  FILE *pass_on; /* NULL: keep only */
  char *text;
  size_t bytes, cap;
};

/* c must not move afterwards. Ends the process when the host has no memory. */
void capture_open(struct capture *c, FILE *pass_on);
/* Makes text and bytes current, also on pass_on. */
void capture_flush(struct capture *c);
/* In a process that goes on from a checkpoint: the stream and what it is passed on to are not there any more. Text and
 * bytes must have been current. */
void capture_open_again(struct capture *c, FILE *pass_on);
void capture_close(struct capture *c);

#endif
