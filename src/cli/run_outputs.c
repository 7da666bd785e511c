#include "cli/run_outputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/output.h"
#include "time/sm/hazard.h"
#include "view/annotate.h"
#include "view/details.h"
#include "view/hazards.h"
#include "view/html_page.h"
#include "view/json.h"
#include "view/summary.h"
#include "view/what_if_table.h"

enum { PRINT_ELEMENTS = 16 };

FILE *run_printed_to(const struct run_options *o)
{
  return o->json && !strcmp(o->json, "-") ? stderr : stdout;
}

/* "NAME" or "NAME:N" -> one line of values. */
static bool print_buffer(const struct launch_run *r, const char *spec, FILE *f, struct err *e)
{
  const char *colon = strrchr(spec, ':');
  size_t len = colon ? (size_t)(colon - spec) : strlen(spec);
  const struct case_buffer *b = NULL;
  unsigned long n = PRINT_ELEMENTS;
  uint8_t bytes[8];
  char text[64];

  if (colon && !cli_number(colon + 1, 1, 1ul << 30, &n))
    return err_set(e, "--print-buf %s: '%s' is not a number of elements", spec, colon + 1);
  for (unsigned i = 0; i < r->lc.n_buffers; i++)
    if (strlen(r->lc.buffer[i].name) == len && !memcmp(r->lc.buffer[i].name, spec, len))
      b = &r->lc.buffer[i];
  if (!b) return err_set(e, "--print-buf %s: there is no buffer '%.*s'", spec, (int)len, spec);
  if (n > b->count) n = b->count;
  fprintf(f, "%s[0..%lu] =", b->name, n - 1);
  for (uint64_t i = 0; i < n; i++) {
    uint64_t addr = case_buffer_address(r->cr, b->name) + i * value_bytes(b->type);
    BUG_ON(!gmem_read(case_device(r->cr)->mem, addr, bytes, value_bytes(b->type)));
    value_print(b->type, bytes, text, sizeof text);
    fprintf(f, " %s", text);
  }
  fputc('\n', f);
  return true;
}

static bool write_json(const struct launch_run *r, struct err *e)
{
  struct output out;
  FILE *f = output_open(&out, r->opt.json, e);

  if (!f) return false;
  view_json_write(f, &r->report, r->opt.json_host);
  return output_close(&out, true, e);
}

static bool write_pipeline(const struct launch_run *r, struct err *e)
{
  struct output out;
  FILE *f = output_open(&out, r->opt.pipeline, e);

  if (!f) return false;
  pipe_log_sort(r->pipe);
  view_konata_write(f, r->pipe, &r->report);
  if (r->pipe->lost)
    fprintf(stderr,
            "warpstep: --pipeline: %" PRIu64 " more instructions are not in %s, the first issued in cycle %" PRIu64
            "; choose fewer with --pipeline-warps, --pipeline-cycles or --pipeline-sm\n",
            r->pipe->lost, r->opt.pipeline, r->pipe->lost_from);
  if (!r->pipe->n_insts)
    fprintf(
        stderr,
        "warpstep: --pipeline: %s is empty: none of the chosen warps issued in the chosen cycles; the grid has %" PRIu64
        " CTAs, and the launch %" PRIu64 " cycles\n",
        r->opt.pipeline, func_source(case_launch(r->cr)->func)->n_ctas, r->result.cycles);
  return output_close(&out, true, e);
}

static bool write_timeline(const struct launch_run *r, struct err *e)
{
  const struct launch *l = case_launch(r->cr);
  const struct step_source *source = func_source(l->func);
  const struct activity_kernel k = {.name = r->report.kernel->name,
                                    .number = 1,
                                    .end = r->result.time_ps,
                                    .timed = true,
                                    .grid = source->grid,
                                    .block = source->block,
                                    .cycles = r->result.cycles};
  struct output out;
  FILE *f = output_open(&out, r->opt.timeline, e);

  if (!f) return false;
  activity_kernel(r->activity, &k);
  activity_ran(r->activity, source, &k);
  activity_write(r->activity, f);
  if (!activity_has_ctas(r->activity))
    fprintf(
        stderr,
        "warpstep: --timeline: no CTA in %s: none began on the chosen SMs in the chosen cycles; the grid has %" PRIu64
        " CTAs, and the launch %" PRIu64 " cycles\n",
        r->opt.timeline, source->n_ctas, r->result.cycles);
  if (activity_lost(r->activity))
    fprintf(stderr, "warpstep: --timeline: %" PRIu64 " slices more are not in %s; choose fewer with --timeline-sms, "
                    "--timeline-warps or --timeline-cycles\n", activity_lost(r->activity), r->opt.timeline);
  return output_close(&out, true, e);
}

static bool write_page(const struct launch_run *r, struct err *e)
{
  struct output out;
  FILE *f = output_open(&out, r->opt.html, e);

  if (!f) return false;
  struct text_out report;
  text_out_open(&report, NULL);
  html_page_report(&report, &r->report, r->opt.json_host);
  const struct html_run run = {.number = 1, .report = report.data, .bytes = report.n};
  html_page_write(f, &(struct html_page){.run = &run, .n_runs = 1, .baseline = r->baseline.root,
                                         .baseline_name = r->baseline.path});
  text_out_close(&report);
  return output_close(&out, true, e);
}

bool run_write_outputs(const struct launch_run *r, struct err *e)
{
  const struct run_options *o = &r->opt;
  bool json_on_stdout = o->json && !strcmp(o->json, "-");

  if (o->out) TRY(case_save(r->cr, o->out, e));
  if (!o->quiet && !r->report.fault)
    view_summary_write(json_on_stdout ? stderr : stdout, &r->report);
  if (o->details) view_details_write(json_on_stdout ? stderr : stdout, &r->report);
  if (!r->report.fault) view_what_if_write(json_on_stdout ? stderr : stdout, &r->report);
  if (r->report.hazards && (!o->quiet || r->report.hazards->n_findings))
    view_hazards_write(json_on_stdout ? stderr : stdout, &r->report, o->hazards == HAZARDS_GAPS);
  if (o->annotate && r->report.profile) view_annotate_write(json_on_stdout ? stderr : stdout, &r->report, &r->lines);
  for (unsigned i = 0; i < o->print_buf.n; i++)
    TRY(print_buffer(r, o->print_buf.item[i], json_on_stdout ? stderr : stdout, e));
  if (r->pipe) TRY(write_pipeline(r, e));
  if (r->activity) TRY(write_timeline(r, e));
  if (o->html) TRY(write_page(r, e));
  return o->json ? write_json(r, e) : true;
}
