/* The page of a run, or of the launches of a program (--html): one file that a browser shows without a network. Its
 * template, its style and its script lie in src/view/html/ and are built in (mk/html.mk), and so is a library for
 * charts where the build found one; its data is one JSON object inside the page (docs/json.md, warpstep-html-1). What a
 * guest chose (names, text of sources) is in that object alone, in which no character begins a tag, and the script
 * shows it as text.
 */
#ifndef WS_VIEW_HTML_PAGE_H
#define WS_VIEW_HTML_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/text_out.h"

struct json_t;
struct report;

#define HTML_PAGE_SCHEMA "warpstep-html-1"

/* A launch of a page: its number in the program, from 1, and what its report says (html_page_report). */
struct html_run {
  uint64_t number;
  const char *report;
  size_t bytes;
};

/* What a page shows; all of it the caller's. */
struct html_page {
  const struct html_run *run;
  unsigned n_runs;
  struct json_t *program;  /* the report of exec; NULL: a run */
  struct json_t *baseline; /* what to compare with, as run_doc_read has it; NULL: nothing */
  const char *baseline_name;
};

/* The report (view/json.h) in the form that a page takes; it outlives what it is about. */
void html_page_report(struct text_out *, const struct report *, bool with_host);

void html_page_write(FILE *, const struct html_page *);

#endif
