/* A sweep: what is run with which values of parameters (docs/sweep.md).
 *
 *   name = "L1 size";
 *   gpu  = [ "rtx-3070" ];                                     presets
 *   run  = [ "../kernels/bfs/bfs.launch", "exec ./app 1000" ];  operands of `warpstep run`, or a program
 *   set  = [ "issue.policy=oldest" ];                          for all points
 *   vary = ( { key = "l2.ways"; values = [ 8, 16, 32 ]; },
 *            { settings = [ "regfile.cache=true", "regfile.cache=false regfile.read_ports=2" ]; } );
 *
 * Its points are all combinations of GPU, run and one choice of each element of `vary`, of which the last varies
 * fastest. A choice is one or several settings "key=value"; those of a point, in the order of the file, are with GPU
 * and run its name in the results.
 */
#ifndef WS_STUDY_SWEEP_H
#define WS_STUDY_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { SWEEP_MAX_AXES = 8, SWEEP_MAX_CHOICES = 256, SWEEP_MAX_RUNS = 1024, SWEEP_MAX_POINTS = 100000 };

struct sweep_list {
  const char **text;
  unsigned n;
};

struct sweep {
  struct arena arena;
  const char *path, *name;
  const char *dir; /* the file's: runs are relative to it, and start there */
  struct sweep_list gpu, run, set;
  struct sweep_list axis[SWEEP_MAX_AXES]; /* choices: "key=value key=value" */
  unsigned n_axes;
  uint32_t n_points;
};

struct sweep_point {
  const char *gpu, *run;
  const char *choice[SWEEP_MAX_AXES];
};

/* Every combination is tried on every preset: false with e filled (file, GPU, why), before anything runs. */
bool sweep_read(struct sweep *, const char *path, const char *presets, struct err *e);
void sweep_free(struct sweep *);

/* What a GPU of the sweep is before anything varies: 16 hexadecimal digits of its parameters, with those of `set`. */
bool sweep_identity(const struct sweep *, const char *gpu, const char *presets, char *text, size_t size, struct err *e);

/* i below n_points. */
struct sweep_point sweep_point_at(const struct sweep *, uint32_t i);
/* The settings of a point's choices, cut off at the room. */
enum { SWEEP_SETTINGS = 2048 };
void sweep_settings(const struct sweep *, const struct sweep_point *, char text[SWEEP_SETTINGS]);

#endif
