/* Option parsing, help and error lines of all commands; see cli.h. */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"

/* Fills the tables of getopt_long; letters needs room for 3 characters an option. */
static void make_tables(const struct cli_command *cmd, struct option *out, char *letters)
{
  unsigned n = 0;

  letters += sprintf(letters, cmd->program_follows ? "+:h" : ":h");

  for (const struct cli_option *o = cmd->options; o && o->name; o++) {
    BUG_ON(n + 2 > CLI_MAX_OPTIONS);
    out[n++] = (struct option){o->name, o->arg ? required_argument : no_argument, NULL, o->id};
    if (o->id < CLI_OPT_FIRST) letters += sprintf(letters, "%c%s", o->id, o->arg ? ":" : "");
  }
  out[n++] = (struct option){"help", no_argument, NULL, 'h'};
  out[n] = (struct option){0};
}

static void unknown_option(const struct cli_command *cmd, const char *word)
{
  char hint[NEAREST_HINT], asked[NEAREST_LONGEST + 2], option[NEAREST_LONGEST];
  struct nearest near;
  snprintf(asked, sizeof asked, "%.*s", (int)strcspn(word, "="), word);
  nearest_start(&near, asked);
  for (const struct cli_option *o = cmd->options; o && o->name; o++) {
    snprintf(option, sizeof option, "--%s", o->name);
    nearest_offer(&near, option);
  }
  fprintf(stderr, "warpstep %s: unknown option '%s'; see 'warpstep help %s'%s\n", cmd->name, word, cmd->name,
          nearest_hint(&near, hint));
}

int cli_next_option(const struct cli_command *cmd, int argc, char **argv, const char **arg)
{
  struct option longs[CLI_MAX_OPTIONS + 1];
  char letters[3 * CLI_MAX_OPTIONS + 4];
  int id;

  make_tables(cmd, longs, letters);
  opterr = 0; /* our own messages below: one line, the same on every libc */
  id = getopt_long(argc, argv, letters, longs, NULL);
  *arg = optarg;
  switch (id) {
  case -1: return CLI_OPT_END;
  case 'h': return CLI_OPT_HELP;
  case ':':
    cli_usage_error(cmd, "option '%s' needs an argument", argv[optind - 1]);
    return CLI_OPT_BAD;
  case '?':
    if (optopt > 0 && optopt < CLI_OPT_FIRST)
      cli_usage_error(cmd, "unknown option '-%c'", optopt);
    else if (optopt)
      cli_usage_error(cmd, "option '%s' takes no argument", argv[optind - 1]);
    else
      unknown_option(cmd, argv[optind - 1]);
    return CLI_OPT_BAD;
  default: return id;
  }
}

enum { LINE_MAX_BYTES = 4096 };

/* What files and the command line put into a message is any bytes. */
static void print_safe(const char *fmt, va_list ap)
{
  char raw[LINE_MAX_BYTES], safe[LINE_MAX_BYTES];

  vsnprintf(raw, sizeof raw, fmt, ap);
  fputs(text_safe(raw, safe, sizeof safe), stderr);
}

int cli_error(const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  fputs("warpstep: ", stderr);
  print_safe(fmt, ap);
  fputc('\n', stderr);
  va_end(ap);
  return CLI_BAD_INPUT;
}

int cli_usage_error(const struct cli_command *cmd, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  fprintf(stderr, "warpstep %s: ", cmd->name);
  print_safe(fmt, ap);
  fprintf(stderr, "; see 'warpstep help %s'\n", cmd->name);
  va_end(ap);
  return CLI_BAD_INPUT;
}

static void print_option(const struct cli_option *o)
{
  char head[64];
  const char *text = o->text;

  char letter[6] = "";

  if (o->id < CLI_OPT_FIRST) snprintf(letter, sizeof letter, "-%c, ", o->id);
  snprintf(head, sizeof head, "%s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
  printf("  %-22s ", head);
  if (strlen(head) > 22) printf("\n%25s", "");
  for (const char *nl; (nl = strchr(text, '\n')); text = nl + 1)
    printf("%.*s\n%25s", (int)(nl - text), text, "");
  printf("%s\n", text);
}

int cli_help(const struct cli_command *cmd)
{
  printf("warpstep %s%s%s - %s\n\n", cmd->name, *cmd->synopsis ? " " : "", cmd->synopsis,
         cmd->summary);
  if (cmd->options) {
    printf("Options:\n");
    for (const struct cli_option *o = cmd->options; o->name; o++) print_option(o);
    printf("  %-22s this text\n\n", "--help, -h");
  }
  if (cmd->notes) printf("%s\n", cmd->notes);
  printf("Examples:\n%s", cmd->examples);
  return CLI_OK;
}

bool cli_number(const char *s, unsigned long min, unsigned long max, unsigned long *n)
{
  char *end;

  if (*s < '0' || *s > '9') return false;
  errno = 0;
  *n = strtoul(s, &end, 0);
  return errno == 0 && *end == '\0' && *n >= min && *n <= max;
}

bool cli_count(const struct cli_command *cmd, const char *option, const char *arg, unsigned most, unsigned *to)
{
  unsigned long n;
  if (!cli_number(arg, 1, most, &n)) {
    cli_usage_error(cmd, "--%s %s: not a number from 1 to %u", option, arg, most);
    return false;
  }
  *to = (unsigned)n;
  return true;
}
