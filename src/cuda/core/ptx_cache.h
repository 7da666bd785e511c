/* Translations of PTX that are kept on disk from one process to the next, as NVIDIA's driver does it: the assembler
 * takes minutes for the PTX in some libraries. The variables are the driver's (CUDA C++ Programming Guide, "CUDA
 * Environment Variables"): CUDA_CACHE_DISABLE=1 turns it off, CUDA_CACHE_PATH names the folder (else
 * $XDG_CACHE_HOME/warpstep/ptx, else ~/.cache/warpstep/ptx), CUDA_CACHE_MAXSIZE the bytes it may take (1 GiB), beyond
 * which what was used longest ago goes. A file has the whole question, so that no other text's answer can be given;
 * one that is damaged or of another version is as if it were not there. */
#ifndef WS_CUDA_PTX_CACHE_H
#define WS_CUDA_PTX_CACHE_H

#include <stdbool.h>
#include <stddef.h>

struct ptx_question {
  const char *assembler;      /* its file: another one, or the same name written anew, is another question */
  const char *const *options; /* a NULL behind the last */
  const char *ptx;
};

/* Of the heap; the log ends in a 0. */
struct ptx_answer {
  char *cubin, *log;
  size_t cubin_bytes, log_bytes;
};

/* False: not kept; the answer is left as it is. */
bool ptx_cache_find(const struct ptx_question *, struct ptx_answer *);
/* Where it cannot be kept nothing is said: the translation is there all the same. */
void ptx_cache_keep(const struct ptx_question *, const struct ptx_answer *);

#endif
