/* Code file: any file that holds machine code for GPUs, and the choice of the right part of it.
 *
 *   cubin                            one image
 *   fat binary (.fatbin)             images for several targets: one group
 *   executable, shared object, .o    sections .nv_fatbin and __nv_relfatbin: one group for each
 *                                    source
 *   .a, Windows programs, anything   searched for fat binaries
 *
 * A program compiled from several sources has a group for each; a kernel lives in one of them. From
 * a group the image for a GPU of sm_XZ is the one for exactly that SM, else the one with the
 * same major and the highest lower minor version (CUDA programming guide, binary compatibility).
 */
#ifndef WS_LOAD_FILE_H
#define WS_LOAD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "load/module.h"
#include "load/target.h"

struct code_file;

struct code_image {
  unsigned sm;             /* PTX: of its virtual target, compute_XY */
  enum target_form form;
  bool ptx;                /* not machine code: listed, never run */
  bool object;             /* not linked: only used when no linked image has the kernel */
  unsigned group;          /* from 0, in file order */
  size_t bytes;            /* unpacked */
};

/* Finds the images of a file. Nothing is unpacked yet. NULL with e filled: cannot be read, no code
 * for GPUs in it, a damaged container. Memory: 64 bytes for each image, and the file is mapped. */
struct code_file *code_file_open(const char *path, struct err *e);
/* The same of `bytes` bytes at `data`, which must stay valid; `name` is used in errors. */
struct code_file *code_file_open_memory(const void *data, size_t bytes, const char *name,
                                        struct err *e);
void code_file_free(struct code_file *);

unsigned code_file_count(const struct code_file *);
const struct code_image *code_file_image(const struct code_file *, unsigned i);
/* Whether there is machine code for a GPU of this SM; `exact`: compiled for just that SM. */
bool code_file_has(const struct code_file *, unsigned sm, bool exact);
/* "sm_80, sm_86, compute_90 (PTX)": each target once. Returns buf. */
char *code_file_targets(const struct code_file *, char *buf, size_t size);

/* The image that a GPU of this SM runs, of the first group that has one and starts at or after image
 * `from`; *next is where to ask on. -1: there is none. Every part of a program that the driver would load:
 *   for (unsigned at = 0; (i = code_file_pick(f, sm, at, &at)) >= 0;) … code_file_load_image(f, i, e) …
 * Images that are not linked only count in files that have no linked one. */
int code_file_pick(const struct code_file *, unsigned sm, unsigned from, unsigned *next);
/* Says that (and why) none runs on this SM. */
void code_file_no_code(const struct code_file *, unsigned sm, struct err *e);

/* The bytes of one image; *owned (may be NULL) must be freed after use. NULL with e filled, for PTX too. */
const uint8_t *code_file_contents(const struct code_file *, unsigned i, void **owned, struct err *e);
const char *code_file_name(const struct code_file *);

/* Loads one image. NULL with e filled, for PTX too. */
struct module *code_file_load_image(const struct code_file *, unsigned i, struct err *e);
/* The same of the files at these paths. */
struct module *code_file_link_paths(const char *const *path, unsigned n, unsigned sm, struct err *e);
/* Loads the module that a GPU of this SM runs and that has the kernel; kernel == NULL: the one
 * that has any. The name as in module_kernel. NULL with e filled: no machine code for the SM (only
 * PTX, only other targets), no such kernel, several parts have one of this name. */
struct module *code_file_load(const struct code_file *, unsigned sm, const char *kernel,
                              struct err *e);

#endif
