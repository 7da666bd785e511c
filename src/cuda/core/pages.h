/* Launches of a program for its page (--html, view/html_page.h): what a report of each says, as it ends. Only of
 * launches that were timed, alone and as a whole, and only so many: the first PAGES_LAUNCHES, then those that took
 * longer by a quarter than the shortest of them, which they replace. So a program of a million launches has a page,
 * too, and few reports are made for nothing.
 */
#ifndef WS_CUDA_PAGES_H
#define WS_CUDA_PAGES_H

#include <stdio.h>

#include "host/simulate.h"
#include "load/module.h"

enum { PAGES_LAUNCHES = 32, PAGES_TABLE = 5000 };

struct json_t;
struct pages;
struct preset;

/* Of so many GPUs. */
struct pages *pages_new(unsigned gpus);

/* For sim_options of a launch on this GPU; pages NULL: NULL. */
struct usage *pages_usage(const struct pages *, unsigned gpu);

struct pages_launch {
  uint64_t number; /* from 1 */
  const char *gpu; /* its preset */
  unsigned number_of_gpu;
  const struct preset *preset;
  const struct module *module;
  const struct module_kernel *kernel;
  const struct launch *launch;
  const struct sim_result *result;
};
void pages_add(struct pages *, const struct pages_launch *);

/* program: the launches of all (record_json). baseline: a file of --json, read now; NULL: none. False with e filled: it
 * cannot be read. */
bool pages_write(const struct pages *, FILE *, struct json_t *program, const char *baseline, struct err *e);

#endif
