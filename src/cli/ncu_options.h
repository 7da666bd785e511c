/* Options of `warpstep ncu`, read. */
#ifndef WS_CLI_NCU_OPTIONS_H
#define WS_CLI_NCU_OPTIONS_H

#include <stdio.h>

#include "cli/cli.h"
#include "ncu/ncu_page.h"

enum ncu_list { NCU_LIST_NONE, NCU_LIST_SETS, NCU_LIST_SECTIONS, NCU_LIST_METRICS, NCU_LIST_CHIPS, NCU_QUERY };

struct ncu_options {
  struct ncu_choice choice;
  struct ncu_filter filter; /* for --import; programs get its options as text */
  struct ncu_layout layout;
  const char *log, *export, *import, *gpu, *presets, *chips;
  bool force, page_given, set_given, warm, quiet, base_given;
  enum ncu_list list;
  char *text; /* for the program: lines KEY=VALUE (cuda/core/options.h) … */
  size_t bytes;
  FILE *out; /* … written here */
};

extern const struct cli_option ncu_option_table[];

/* CLI_OK, CLI_OPT_HELP, or CLI_BAD_INPUT after a line on stderr. optind is at the program. Call ncu_options_free in any
 * case. */
int ncu_options_parse(const struct cli_command *, struct ncu_options *, int argc, char **argv);
void ncu_options_free(struct ncu_options *);

#endif
