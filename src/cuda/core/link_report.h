/* What the links of a machine carried, for the table of a program, its JSON and its timeline. A direction of a link is
 * called by the nodes at its ends, as in docs/machines.md: "gpu0 > nvswitch1". Those that carried nothing are left out.
 */
#ifndef WS_CUDA_LINK_REPORT_H
#define WS_CUDA_LINK_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct activity;
struct json_t;
struct link_log;
struct machine_preset;
struct shim;

struct link_report {
  const struct machine_preset *machine; /* NULL: there is none, or its links are not shared by its GPUs */
  const struct link_log *log;
};

/* Of the machine that the options name. */
struct link_report link_report_of(const struct shim *);

/* The busiest directions, a line each; total_ps: the program's time. */
void link_report_write(FILE *, const struct link_report *, uint64_t total_ps);
/* An array, in the order of the preset; with_series: how many bytes passed in which time, too. A new reference. */
struct json_t *link_report_json(const struct link_report *, bool with_series);
/* Counters, of each direction its rate and how much of the time it is taken. */
void link_report_show(const struct link_report *, struct activity *);

#endif
