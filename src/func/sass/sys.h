/* Private to func/: runtime services with files of their own: device printf, the device runtime. */
#ifndef WS_FUNC_SASS_SYS_H
#define WS_FUNC_SASS_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "func/sass/func_warp.h"
#include "func/sass/uop.h"

/* How the formatter reads the guest: `bytes` bytes at a guest address; false: unmapped. */
typedef bool sys_read(void *ctx, uint64_t addr, void *buf, size_t bytes);

/* Texture sampling with gradients, for one lane (sys_texture.c). */
bool sys_tex_grad(struct func_warp *w, bool layered, unsigned lane, struct effect *e, struct fault *f);

/* Largest width and precision that a conversion is given, and one more than the characters of a string: what a kernel
 * prints cannot fill the host's memory. */
enum { SYS_PRINTF_MOST = 4096 };

/* Formats one record: the format string at `fmt`, packed arguments at `args` (4-byte values at
 * multiples of 4, 8-byte ones at multiples of 8; CUDA C++ Programming Guide, printf). Returns
 * the number of arguments, or -1 when the guest's memory could not be read. out may be NULL. */
int sys_printf(FILE *out, sys_read *read, void *ctx, uint64_t fmt, uint64_t args);

/* A copy that the driver issues (isa/sass/copy_service.h), for one lane: its arguments (sys_copy.c). */
bool sys_copy_arguments(struct func_warp *w, unsigned kind, unsigned lane, struct effect *e, struct fault *f);
/* The last uniform register that they go to: what a launch clears and compares reaches so far. */
void sys_copy_destination(struct uop *u);

/* A function of the device runtime, for one lane (sys_device.c). */
bool sys_device(struct func_warp *w, unsigned number, unsigned lane, struct effect *e, struct fault *f);
/* cudaCGSynchronize of lanes m: they arrive once; *done: all threads of the grid have. */
bool sys_grid_sync(struct func_warp *w, uint32_t m, struct effect *e, struct fault *f, bool *done);

#endif
