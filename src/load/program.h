/* A host program and its CUDA runtime: what `warpstep exec` must know before it starts it. */
#ifndef WS_LOAD_PROGRAM_H
#define WS_LOAD_PROGRAM_H

#include <stdbool.h>

struct program_info {
  bool elf;            /* an ELF program; everything else is false if not */
  bool gpu_code;       /* holds fat binaries made by nvcc */
  bool static_program; /* no dynamic loader: nothing can be preloaded */
  bool shared_runtime; /* asks for libcudart.so */
  bool runtime_symbols; /* the static runtime is in it, and its symbol table or its archive (runtime_archive.h) says
                           where */
};

/* Looks at the file; one that cannot be read is no ELF program. */
struct program_info program_inspect(const char *path);

#endif
