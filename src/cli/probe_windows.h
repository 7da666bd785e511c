/* warpstep probe on files of windows: runs them and prints the model's cycles beside the stated ones. */
#ifndef WS_CLI_PROBE_WINDOWS_H
#define WS_CLI_PROBE_WINDOWS_H

#include "config/presets.h"
#include "probe/window.h"

struct probe_options {
  const char *gpu;  /* NULL: the one each file names */
  const char *set, *presets;
  const char *emit; /* folder that gets the programs; NULL: none */
  const char *from; /* folder with what silicon stored for those of tests; NULL: the model runs them */
  bool all;         /* every window, not only those that differ */
  bool clocks;      /* every clock read */
};

struct probe_count {
  unsigned same, gaps, differ, closed;
};

/* A preset and the bench that runs programs on it. Zero is a closed one. */
struct probe_model {
  struct preset preset;
  bool has_preset;
  struct bench *bench;
};

bool probe_model_open(struct probe_model *, const struct probe_options *, const char *gpu, struct err *e);
void probe_model_close(struct probe_model *);

/* Runs one file, prints it and adds to the count. False with e filled: it cannot be read or run. */
bool probe_windows(const struct probe_options *, const char *path, struct probe_count *, struct err *e);

/* Prints the inference tests. */
void probe_list(void);

/* Runs the named inference tests (probe/infer.h), all when there are no names, and prints what they find. */
bool probe_infer(const struct probe_options *, char *const *names, int n_names, bool *differ, struct err *e);

#endif
