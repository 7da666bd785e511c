/* Private to func/: the launch, the pickers of the control and memory files, fault texts. */
#ifndef WS_FUNC_SASS_FUNC_LAUNCH_H
#define WS_FUNC_SASS_FUNC_LAUNCH_H

#include <pthread.h>

#include "func/sass/launch_room.h"
#include "func/sass/uop.h"

enum { FUNC_INST_SHIFT = 4, FUNC_INST_BYTES = 1 << FUNC_INST_SHIFT };

/* Threads of a grid that synchronise through the device runtime. */
struct func_grid_sync {
  uint64_t arrived; /* of this phase */
  uint32_t phase;
};

struct func_cluster;

struct func_launch {
  struct step_source source; /* first */
  struct func_params p;
  struct launch_room *room; /* all that follows lies there but what says otherwise */
  const struct lane_ops *ops;     /* of the level in use */
  struct uop *uop;        /* per instruction of the code space, same indices; fn is NULL where it has not been prepared
                             yet (uop_is_ready) */
  uint64_t code_base, code_bytes;
  uint8_t *pool;          /* rows of BASE_POOL; filled while code is prepared */
  struct row_pool *values; /* what they hold (prepare.c); a block */
  uint32_t (*tid)[3][LANES]; /* threadIdx of the lanes of each warp of a CTA */
  unsigned n_regs;        /* register rows per warp, sink rows not counted */
  unsigned warp_regs;     /* registers of a thread when its CTA begins */
  unsigned n_uregs;       /* rows of uniform registers that its instructions write */
  bool wild;              /* others are written, too: code outside of its reach was prepared (prepare_late) */
  struct { uint32_t at, bytes; } clear[SASS_RZ / 2 + 1]; /* parts of a warp's registers to clear (prepare_stale) */
  unsigned n_clear;       /* 0: all of them */
  uint32_t shared_limit;  /* addressable shared bytes */
  struct func_grid_sync sync; /* of services, which one host thread executes at a time */
  uint8_t *cta_mem;       /* n_workers * slots_per_worker CTAs of cta_stride bytes */
  size_t cta_stride;
  bool dense;             /* all of cta_mem will be used */
  struct func_cluster *cluster; /* all of the grid; NULL: there are none */
  struct tensor_memory **tmem;  /* by worker; without time by slot; NULL: none has any yet. Blocks */
  size_t n_tmem;
  pthread_mutex_t group_lock;   /* of tmem, too */
  struct group_block *group_blocks; /* tables of warps with many convergence groups (groups.c); under the lock */
  pthread_mutex_t late_lock; /* of prepare_late */
};

/* Semantic view of the code, same indices. */
static inline const struct sass_inst *func_sass(const struct func_launch *l)
{
  return l->p.code.decoded;
}

/* Whether operation u of uop[] is prepared; then all of it is seen. */
static inline bool uop_is_ready(const struct uop *u)
{
  return __atomic_load_n(&u->fn, __ATOMIC_ACQUIRE) != NULL;
}

/* Without time: the turn of the warp ends with the step it is in. A waiting warp that others outrun by two phases of an
 * mbarrier would wait for ever; on a GPU it sees each of them, as nobody is thousands of instructions ahead. */
static inline void func_end_turn(struct func_warp *w)
{
  if (!w->launch->p.on_demand) return;
  w->stride = 0;
  w->step.paths.p[w->cur].yielded = true;
}

/* Pickers of the files compiled once; rules as in uop.h. */
sem_picker sem_ctrl_handler, sem_mem_handler, sem_atom_handler, sem_sync_handler, sem_tensor_handler, sem_bulk_handler,
    sem_fill_handler, sem_work_handler, sem_tmem_handler, sem_pack_handler, sem_warp_handler, sem_sys_handler,
    sem_tex_handler, sem_surf_handler, sem_multicast_handler;

/* One step of a path; struct step_ops.step of every func warp. */
bool func_step(struct step_warp *sw, unsigned path, struct effect *e, struct fault *f);
/* Everything of a step but the guard. Some operations move the path themselves, run whatever their guard, or are
 * uniform. */
bool func_step_rest(struct func_warp *w, const struct uop *u, struct effect *e, struct fault *f);

/* Reads the guard of the path's operation. */
static inline void func_step_head(const struct func_warp *w, struct step_path *p, const struct uop *u,
                                  struct effect *e)
{
  e->inst = u->t;
  e->pc = p->pc;
  e->active = p->mask;
  e->exec = (uint32_t)p->mask & (w->pred[u->guard] ^ u->guard_xor);
  e->flags = 0;
  e->priv = (void *)(uintptr_t)u;
  p->yielded = false;
}

/* A step of path p, which is w->cur, whose operation is known. */
static inline bool func_step_uop(struct func_warp *w, struct step_path *p, const struct uop *u,
                                 struct effect *e, struct fault *f)
{
  func_step_head(w, p, u, e);
  if (!(u->flags & UOP_CONTROL)) p->pc += FUNC_INST_BYTES;
  if (u->flags & (UOP_CONTROL | UOP_ALWAYS | UOP_UNIFORM)) return func_step_rest(w, u, e, f);
  return e->exec ? u->fn(w, u, (uint32_t)e->exec, e, f) : true;
}

/* Executes an operation with UOP_LOAD or UOP_STORE for lanes m, which are not none, at once; overwrites `scratch`.
 * False: nothing has happened, its three steps must do it (several pages, faults, logged writes). */
bool mem_plain(struct func_warp *w, const struct uop *u, uint32_t m, struct mem_effect *scratch,
               const struct gmem_view *v);

/* Whether the special register that u reads (S2R and the like) depends on where and when a CTA runs (sem_warp.c). */
bool func_sr_of_schedule(const struct uop *u);

/* The object a handle names; NULL with *f filled when there is none or it is of the other kind. */
const struct tex_object *func_object(const struct func_warp *w, const struct effect *e, unsigned lane,
                                     uint32_t handle, bool surface, struct fault *f);

#endif
