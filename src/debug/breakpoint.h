/* Where a launch is to stop: at an instruction, a line or a kernel's entry, for some lanes or all, under a condition;
 * or when memory is read or written. Points belong to a session and are looked up again in each launch's module.
 */
#ifndef WS_DEBUG_BREAKPOINT_H
#define WS_DEBUG_BREAKPOINT_H

#include "debug/expression.h"
#include "debug/source_map.h"

enum { POINT_PCS = 256, WATCH_BYTES = 64, MAX_POINTS = 1000 };

enum point_kind { POINT_CODE, POINT_WRITE, POINT_READ, POINT_ACCESS };

/* Which lanes stop; NULL or none: all. */
struct point_filter {
  bool of_cta, of_thread, of_warp, of_lane;
  uint32_t cta[3], thread[3];
  unsigned warp, lane;
};

struct debug_point {
  unsigned id;
  enum point_kind kind;
  bool enabled, once, every; /* every: all addresses of a line that come from another one */
  char *spec;                /* as the user wrote it */
  char *condition;           /* NULL: none */
  struct point_filter only;
  uint64_t hits, ignore; /* ignore: hits that are still to be passed over */
  /* POINT_CODE, in the present module. */
  uint64_t pc[POINT_PCS];
  size_t n_pcs; /* those there are; at most POINT_PCS are kept. 0: none here */
  /* Watches. */
  enum view_space space;
  uint64_t addr, cta;                            /* cta: of shared and local memory */
  unsigned bytes, warp, lane;                    /* local memory: whose */
  uint8_t before[WATCH_BYTES], now[WATCH_BYTES]; /* what it held ahead of the last change, and holds */
  bool known;                                    /* `now` is right */
};

struct debug_points {
  struct debug_point *point;
  unsigned n, room, next_id;
  unsigned n_watches;
  uint8_t *at; /* of each instruction of the present module: whether a point may be there */
  uint64_t n_at;
};

void points_free(struct debug_points *);

/* A point at what `spec` names: "*0x10080", "kernel+0x40", "k.cu:14", "14" in the file of `here`, "kernel". It must
 * be written right; whether there is such a place may be seen later. NULL with e filled. */
struct debug_point *points_add_code(struct debug_points *, const char *spec, struct err *e);
/* A point that watches memory as this lane sees it. */
struct debug_point *points_add_watch(struct debug_points *, enum point_kind, const char *spec, const struct lane_view *,
                                     enum view_space, uint64_t addr, unsigned bytes, struct err *e);
bool points_delete(struct debug_points *, unsigned id);
struct debug_point *points_find(struct debug_points *, unsigned id);

/* Addresses of a place: returns how many, at most `most` are written; 0 with e filled: there is none. `here`: for lines
 * without a file; may be NULL. */
size_t point_resolve(const struct source_map *, const struct code_view *, const char *spec, const struct line_row *here,
                     bool every, uint64_t *pc, size_t most, struct err *e);

/* The module changes: looks all places up. */
void points_place(struct debug_points *, const struct source_map *, const struct code_view *);
/* Which instructions have points now. */
void points_mark(struct debug_points *, const struct code_view *);
/* Whether any enabled point can stop this module. */
bool points_any(const struct debug_points *);

/* A stop. */
struct point_hit {
  struct debug_point *point;
  struct lane_view lane; /* the first for which it holds */
};

/* Whether the path whose turn it is stops ahead of its instruction. `count`: the hit counts. */
bool points_hit_code(struct debug_points *, struct debug_target *, const struct target_turn *,
                     const struct expression_names *, bool count, struct point_hit *);
/* Whether the step just taken reads or changes what is watched. */
bool points_hit_watch(struct debug_points *, struct debug_target *, struct point_hit *);
/* Reads what is watched, as it is now: behind a jump to another position. */
void points_look(struct debug_points *, struct debug_target *);

#endif
