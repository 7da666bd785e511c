/* What else is told of a program that calls GPUs, behind their own report: of the simulated CPU that it runs on. */
#ifndef WS_BASE_PROGRAM_REPORT_H
#define WS_BASE_PROGRAM_REPORT_H

#include <stdio.h>

struct program_report {
  void *ctx;
  void (*table)(void *ctx, FILE *);
  void (*json)(void *ctx, FILE *); /* one object */
};

#endif
