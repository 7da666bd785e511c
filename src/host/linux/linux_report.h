/* What a run of cores in time did (linux_cores.h), for people and as JSON: times, counters of cores, of their network,
 * and of a GPU on the same memory.
 */
#ifndef WS_HOST_LINUX_LINUX_REPORT_H
#define WS_HOST_LINUX_LINUX_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "base/json_out.h"
#include "config/machine_preset.h"

struct cpu_complex;
struct linux_regions;
struct page_tables;

struct linux_report {
  const struct machine_preset *machine;
  const struct cpu_complex *cpu;
  const struct page_tables *tables; /* that a GPU walks, too; NULL: none does */
  const struct linux_regions *regions;
  uint64_t now, start; /* ps; start: where time began, behind what ran without */
};

void linux_report_print(const struct linux_report *, FILE *);
/* An object. */
void linux_report_json(const struct linux_report *, struct json_out *);

#endif
