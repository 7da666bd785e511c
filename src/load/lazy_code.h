/* The code of an instance, decoded where somebody needs it: most programs launch few of a module's kernels, and a
 * decoded instruction takes some forty times the bytes of its word.
 *
 * A part is a code section with the gap behind it. It is decoded
 *   - when its kernel is launched; the parts that are no kernel's (device functions) with the first launch of any, as
 *     calls through registers lead there;
 *   - when a path jumps into it otherwise (struct code_rest): by an address that the program has made up, as code of
 *     kernels that are not launched has no other callers;
 *   - when somebody wants all code: disassembly, debuggers, listings, processes that share a GPU.
 * Runtime services are there from the start. What decoding gives depends on the word and its place alone, so neither
 * results nor simulated times show who decoded when.
 *
 * Questions about all code (the names of constants, the place of the code for caches) are answered by passes that keep
 * nothing they decode. Threads: everything may be asked by several at once.
 */
#ifndef WS_LOAD_LAZY_CODE_H
#define WS_LOAD_LAZY_CODE_H

#include "load/load_internal.h"

struct lazy_code;

/* `text`: all code from MODULE_CODE_BASE on, relocated; it must live as long as the arena. runs: the code is to be
 * executed, so that functions of the device runtime in it are services. */
struct lazy_code *lazy_code_new(struct arena *, const struct module *, const uint8_t *text, bool runs);

/* All of it, decoded and with its place. */
const struct code_view *lazy_code_all(struct lazy_code *);
/* What a launch of a kernel needs is decoded; `timed`: and the place is known. */
struct code_view lazy_code_launch(struct lazy_code *, unsigned kernel, bool timed, struct code_reach *);
const struct sass_inst *lazy_code_sass(const struct lazy_code *);

/* What launches ask (module.h). */
bool lazy_code_moves_stack(struct lazy_code *, unsigned kernel);
unsigned lazy_code_most_registers(struct lazy_code *, unsigned kernel);
bool lazy_code_names_bank0(struct lazy_code *, bool load, uint32_t at);

#endif
