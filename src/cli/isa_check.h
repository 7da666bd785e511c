/* warpstep isa --check: whether every instruction word of files decodes, and prints and assembles
 * back to itself. */
#ifndef WS_CLI_ISA_CHECK_H
#define WS_CLI_ISA_CHECK_H

/* Prints the report for all machine code of `n` files (cubins or programs): for each target the
 * words and how many decode, come back identically through their text, execute; then every gap
 * with a sample. Returns CLI_OK, or CLI_MISMATCH when a word fails to decode or to come back, or
 * a file fails to load. */
int isa_check(int n, char **files);

#endif
