/* warpstep(1); see man.h. */
#include "cli/man.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "warpstep/warpstep.h"

/* Text as troff: no escapes, no line that looks like a request. */
static void put_text(const char *s, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    bool starts_line = i == 0 || s[i - 1] == '\n';
    if (starts_line && (s[i] == '.' || s[i] == '\'')) fputs("\\&", stdout);
    if (s[i] == '\\') fputs("\\e", stdout);
    else if (s[i] == '-') fputs("\\-", stdout);
    else putchar(s[i]);
  }
}

static void put(const char *s)
{
  put_text(s, strlen(s));
}

/* Paragraphs: an empty line starts another. */
static void put_paragraphs(const char *s)
{
  while (*s) {
    size_t n = strcspn(s, "\n");
    if (n == 0) puts(".PP");
    put_text(s, n);
    if (n) putchar('\n');
    s += n + (s[n] != '\0');
  }
}

/* Lines of a help text are wrapped for the terminal, not for the page. */
static void put_option(const struct cli_option *o)
{
  fputs(".TP\n\\fB", stdout);
  if (o->id < CLI_OPT_FIRST) printf("\\-%c, ", o->id);
  put("--");
  put(o->name);
  fputs("\\fR", stdout);
  if (o->arg) {
    fputs(" \\fI", stdout);
    put(o->arg);
    fputs("\\fR", stdout);
  }
  putchar('\n');
  put(o->text);
  putchar('\n');
}

static void put_command(const struct cli_command *c)
{
  printf(".SS \"");
  put(c->name);
  printf("%s", *c->synopsis ? " " : "");
  put(c->synopsis);
  puts("\"");
  put(c->summary);
  puts(".");
  for (const struct cli_option *o = c->options; o && o->name; o++)
    put_option(o);
  if (c->notes) {
    puts(".PP");
    put_paragraphs(c->notes);
  }
  puts(".PP\nExamples:\n.PP\n.nf");
  put(c->examples);
  puts(".fi");
}

void man_write(void)
{
  printf(".\\\" Printed by 'warpstep help --man': change the texts in src/cli.\n"
         ".TH WARPSTEP 1 \"\" \"warpstep %s\" \"User Commands\"\n"
         ".SH NAME\nwarpstep \\- run CUDA programs cycle by cycle, with no GPU\n"
         ".SH SYNOPSIS\n.B warpstep\n.I command\n[\\fIoption\\fR ...] [\\fIfile\\fR]\n"
         ".SH DESCRIPTION\n", ws_version());
  put_paragraphs("warpstep loads the machine code that nvcc emits for NVIDIA GPUs, executes it, and times it on a\n"
                 "model of the GPU. No GPU, driver or CUDA toolkit is needed.\n");
  puts(".SH COMMANDS");
  for (unsigned i = 0; cli_commands[i]; i++) put_command(cli_commands[i]);
  puts(".SH EXIT STATUS");
  put_paragraphs(cli_exit_text);
  puts(".SH ENVIRONMENT\n.TP\n.B WARPSTEP_PRESETS");
  put("The directory of the GPU descriptions (presets), instead of share/warpstep/presets of the\n"
      "installation.\n");
  puts(".SH FILES");
  put("docs/... in these texts: share/doc/warpstep/docs of the installation; data/...: share/warpstep/data.\n");
}
