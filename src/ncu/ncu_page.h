/* Pages of a report: details (sections, rules), raw (all metrics), source (instructions, lines); as tables for people
 * or as CSV in the columns of Nsight Compute since 2023. */
#ifndef WS_NCU_PAGE_H
#define WS_NCU_PAGE_H

#include <stdio.h>

#include "ncu/ncu_filter.h"
#include "ncu/ncu_report.h"

enum ncu_page { NCU_PAGE_DETAILS, NCU_PAGE_RAW, NCU_PAGE_SOURCE };
enum ncu_details { NCU_DETAILS_HEADER, NCU_DETAILS_BODY, NCU_DETAILS_ALL };
enum ncu_metric_text { NCU_TEXT_LABEL, NCU_TEXT_NAME, NCU_TEXT_LABEL_NAME };
enum ncu_source { NCU_SOURCE_SASS, NCU_SOURCE_CUDA, NCU_SOURCE_CUDA_SASS };

struct ncu_layout {
  enum ncu_page page;
  enum ncu_details details;
  enum ncu_metric_text names;
  enum ncu_name_base kernel;
  enum ncu_source source;
  bool csv, scale, fp;
  unsigned interval; /* warp-cycles of a sample on the source page, >= 1 */
};

void ncu_page_write(FILE *, const struct ncu_layout *, const struct ncu_report *);

/* The details and raw pages, and what they share with the source page (ncu_source_page.c). */
void ncu_csv_field(FILE *, const char *text, bool last);
void ncu_source_page(FILE *, const struct ncu_layout *, const struct ncu_action *, const char *kernel);

#endif
