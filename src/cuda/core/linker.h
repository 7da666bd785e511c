/* The driver's linker (cuLink…): relocatable code of several inputs to one image.
 *
 * An input is machine code, PTX, a fat binary, or an object or archive of nvcc -dc, which has a fat binary for
 * each of its sources. PTX is translated as soon as it is added, so that its errors come from that call. The first
 * input alone is translated as a whole program (calls inside it then cost nothing); with a second one it is
 * translated once more, as a part. Of an archive all sources take part, as nvlink has it.
 *
 * The result of several inputs only holds them; they are linked when it is loaded (module_join), and once
 * when the link completes, to find what does not fit.
 */
#ifndef WS_CUDA_LINKER_H
#define WS_CUDA_LINKER_H

#include "cuda/core/modules.h"

enum link_input { /* CUjitInputType */
                  LINK_CUBIN,
                  LINK_PTX,
                  LINK_FATBINARY,
                  LINK_OBJECT,
                  LINK_LIBRARY,
                  LINK_NVVM,
                  LINK_INPUT__N,
};

struct link_state {
  struct jit jit;     /* of all inputs, and the logs */
  unsigned n_options; /* where the sizes of the logs go in the end */
  int *option;
  void **value;
  struct link_part *first, **last;
  unsigned n_parts;
  uint8_t *image; /* the result */
};

void link_init(struct link_state *);
/* Adds `bytes` bytes, of which nothing is kept. own: the link's options, changed by those of this input. The name
 * is used in errors, which go to the log, or to stderr when the program gave no room for one. */
CUresult link_add(struct shim *, struct link_state *, enum link_input, const void *data, size_t bytes,
                  const char *name, const struct jit *own);
/* The image, which the link keeps. */
CUresult link_finish(struct shim *, struct link_state *, void **image, size_t *bytes);
void link_free(struct link_state *);

#endif
