/* Options of translations and links, and their logs: cuModuleLoadDataEx, cuLink…. Zeroed: none. */
#ifndef WS_CUDA_JIT_H
#define WS_CUDA_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit {
  int opt_level;                  /* 0: not stated; else level + 1 */
  unsigned max_registers, target; /* 0: not stated; target: CUjit_target, 86 or 0x10000 + 90 */
  unsigned threads_per_block, min_ctas, max_threads; /* 0: not stated */
  bool debug, line_info, verbose, override_directives;
  bool relocatable;   /* one of several inputs of a link */
  bool silent;        /* nothing on stderr when the program gave no room for a log */
  char *info, *error; /* the program's buffers */
  size_t info_bytes, error_bytes, info_used, error_used; /* used: with the 0 at the end */
  uint64_t started; /* ns of the machine's clock, when the options were read */
};

/* Reads n pairs of CUjit_option and value. False: one that only a whole link has, in a single input of it
 * (`input`), or a value that is none. */
bool jit_read(struct jit *, unsigned n, const int *option, void *const *value, bool input);
/* Sizes of the logs and the time taken, where the program asked for them. */
void jit_write(const struct jit *, unsigned n, const int *option, void **value);

/* Adds to a log. False: the program gave no room for one. */
bool jit_log_info(struct jit *, const char *text);
bool jit_log_error(struct jit *, const char *text);

#endif
