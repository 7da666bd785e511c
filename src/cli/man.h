/* The manual page, from the tables that parse options and print help. */
#ifndef WS_CLI_MAN_H
#define WS_CLI_MAN_H

/* What every command's exit status means, as plain lines. */
extern const char cli_exit_text[];

/* Writes warpstep(1) in man(7) macros on stdout. */
void man_write(void);

#endif
