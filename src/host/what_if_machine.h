/* What a program on a machine of several GPUs would gain without one of its costs: the whole program again, with that
 * cost made ideal on every GPU, or with better links. A kernel that waits for another GPU cannot be run again alone
 * (host/what_if.h), and what a link costs shows in what waits for it.
 *
 * The rows are those of what_if.def, which change the parameters of all GPUs (without `tail`, which changes a grid),
 * and two of links:
 *
 *   link_rate     every link carries twice as many bytes at a time, with twice the credits and reads under way, as
 *                 these else bound it
 *   link_latency  links take little more than the model can do with, a quarter more than the longest window of a GPU
 *                 (time/link/fabric.h: fabric_epoch), switches nothing
 */
#ifndef WS_HOST_WHAT_IF_MACHINE_H
#define WS_HOST_WHAT_IF_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "config/machine_preset.h"

struct machine_what_if {
  const char *name, *text;
  void (*gpu)(struct params *);             /* NULL: nothing */
  void (*machine)(struct machine_preset *); /* NULL: nothing */
};

/* The row of this name. False: there is none. */
bool machine_what_if_named(const char *name, struct machine_what_if *row);
/* Whether the cost is one of links, which only programs on a machine can be run without. */
bool machine_what_if_is_link(const char *name, size_t length);

/* Calls `take` with each row that `list` names, "all" or names with commas between, once. False: e names what is none
 * of them. */
bool machine_what_if_choose(const char *list, void (*take)(void *ctx, const struct machine_what_if *), void *ctx,
                            struct err *e);

#endif
