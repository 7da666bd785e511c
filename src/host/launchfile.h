/* Launch case: what to launch, on which data, and what to expect. Read from a launch file
 * (libconfig syntax, docs/launch-files.md) or built piece by piece from command-line options.
 */
#ifndef WS_HOST_LAUNCHFILE_H
#define WS_HOST_LAUNCHFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "host/compare.h"
#include "host/fill.h"
#include "host/texture.h"
#include "host/value.h"
#include "load/target.h"

struct snapshot;

/* A buffer in device memory, or a variable of the module (symbols). */
struct case_buffer {
  const char *name;
  const char *where; /* for errors: "FILE:LINE", or the option's text */
  enum value_type type;
  uint64_t count;    /* elements, > 0 */
  bool initialised;  /* symbols: false = keep the module's own initial value */
  struct buffer_fill fill;  /* initial contents when file is NULL */
  const char *file;  /* path of the initial contents: count * size bytes, little-endian */
  const char *expect; /* path of the expected final contents; NULL: not compared */
  struct tolerance tol;
};

/* A texture or surface object over a buffer. */
struct case_texture {
  const char *name, *where;
  const char *buffer; /* its storage */
  bool surface;
  struct image_desc image;
  struct sampler sampler; /* textures */
};

enum case_arg_kind { ARG_BUFFER, ARG_VALUE, ARG_BYTES, ARG_TEXTURE };

struct case_arg {
  enum case_arg_kind kind;
  const char *where;
  const char *buffer;    /* ARG_BUFFER, ARG_TEXTURE: name */
  enum value_type type;  /* ARG_VALUE */
  const uint8_t *data;   /* ARG_VALUE, ARG_BYTES */
  size_t bytes;
};

/* A parameter has a byte at least, and all together PARAM_LIMIT. */
enum { CASE_MAX_ARGS = PARAM_LIMIT, CASE_MAX_BUFFERS = 4096, CASE_MAX_TEXTURES = 256 };

/* A zeroed struct is an empty case with no memory; lists grow through the functions below. Paths
 * are relative to the working directory. */
struct launch_case {
  struct arena arena;    /* owns all strings and lists */
  const char *origin;    /* launch file, or "command line" */
  struct snapshot *snapshot; /* a captured launch (host/snapshot.h), owned: all below is empty */
  unsigned n_cubins;     /* several: objects that are linked */
  const char **cubin;    /* "%d" stands for the SM number */
  const char *kernel;    /* NULL: the only kernel of the module */
  uint32_t grid[3], block[3];
  uint32_t cluster[3];   /* CTAs of a cluster; all 0: as the kernel says */
  uint32_t shmem;        /* dynamic shared memory, bytes per CTA */
  uint32_t stack;        /* bytes per thread, for kernels with a stack; 0 = 1024, as CUDA does */
  bool order_free;       /* results may depend on the order of atomics: not compared across runs */
  unsigned n_args, n_buffers, n_symbols, n_textures;
  unsigned arg_room;
  struct case_arg *arg;
  struct case_buffer *buffer;
  struct case_buffer *symbol;
  struct case_texture *texture;
  const char *stdout_file; /* expected device printf output; NULL: not compared */
  bool stdout_exact;       /* false: lines may come in any order */
};

/* Grid and block 1 x 1 x 1, everything else empty. */
void launch_case_init(struct launch_case *, const char *origin);
void launch_case_free(struct launch_case *);
/* The file to run; several are objects that are linked. */
void launch_case_add_cubin(struct launch_case *, const char *path);

/* Reads a launch file into c (initialised here; call launch_case_free even on failure). Unknown
 * keys are errors. Errors: "FILE:LINE: what; what to do". Does not open the files it names. */
bool launchfile_read(struct launch_case *c, const char *path, struct err *e);

/* Reads a captured launch into c, in the same way. */
bool launch_case_read_capture(struct launch_case *c, const char *path, struct err *e);

/* Whether there is a cubin and every argument names a buffer that exists. case_setup checks it,
 * too. */
bool launch_case_check(const struct launch_case *, struct err *e);

/* Command line. "x:f32:1024:uniform,seed=1,min=-1,max=1", "x:f32:1024:file=x.bin",
 * "z:f32:1024:zero,expect=z.bin,rel=1e-6,abs=0": NAME:TYPE:COUNT[:FILL[,KEY=VALUE…]]. */
bool launch_case_add_buffer(struct launch_case *, const char *text, struct err *e);
bool launch_case_add_symbol(struct launch_case *, const char *text, struct err *e);
/* "x" (a buffer), "u32:5", "f32:1.5", "bytes:00ff". */
bool launch_case_add_arg(struct launch_case *, const char *text, struct err *e);
/* "4", "4,2", "4x2x1": missing dimensions are 1. `what` ("--grid") is used in errors. */
bool launch_case_dim3(const char *text, const char *what, uint32_t out[3], struct err *e);

#endif
