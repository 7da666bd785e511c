/* The sanitizer of a program (warpstep sanitize), and its log. All of these take NULL, and do nothing
 * then. */
#ifndef WS_CUDA_CHECKED_H
#define WS_CUDA_CHECKED_H

#include "cuda/core/options.h"
#include "host/launch.h"
#include "isa/watch.h"

struct checked;

/* *out is NULL when the options do not ask for it. False: the log cannot be written. */
bool checked_start(const struct exec_options *, const struct gmem *, struct checked **out, struct err *e);

/* A launch, which is to run without time, and how it ended. NULL: nobody watches. */
const struct step_tap *checked_begin(struct checked *, const struct module *, const struct launch *);
void checked_end(struct checked *, const struct fault *);

/* Device memory. */
void checked_allocated(struct checked *, uint64_t addr, uint64_t bytes);
void checked_freed(struct checked *, uint64_t addr);
void checked_written(struct checked *, uint64_t addr, uint64_t bytes);
void checked_copied(struct checked *, uint64_t to, uint64_t from, uint64_t bytes);

/* The program ends: memory that it has not freed; then the summary. False with e filled: the log could not
 * be written. */
void checked_leaked(struct checked *, uint64_t addr, uint64_t bytes);
bool checked_finish(struct checked *, bool *defects, struct err *e);

#endif
