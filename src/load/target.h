/* Targets whose machine code can be loaded, and the compatibility rule. */
#ifndef WS_LOAD_TARGET_H
#define WS_LOAD_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of parameters that a kernel can have (CUDA C++ Programming Guide, __global__ function parameters, since
 * CUDA 12.1), and so the number of them. */
enum { PARAM_LIMIT = 32764 };

/* What differs in the files of a target. Source: compiler output (CUDA 13.0). */
struct target {
  uint16_t sm;
  uint16_t shared_reserved; /* bytes the system keeps at the start of a CTA's shared memory, which
                             * section sizes include and offsets of objects do not */
  uint16_t shared_behind;   /* bytes the system keeps behind the CTA's own */
  bool regs_in_header;      /* sh_info of .text sections: registers << 24 | symbol */
};

/* NULL: no such target, or its instructions are not 128 bits wide (before sm_70). */
const struct target *target_find(unsigned sm);

/* "sm_70, sm_72, …": all of them. Returns buf, always terminated. */
char *target_list(char *buf, size_t size);

/* Whether code for sm_XY runs on a GPU of sm_XZ: same major version, minor not newer (CUDA
 * programming guide, binary compatibility). Code for an architecture-specific target (sm_90a) runs
 * on that SM only, code for a family-specific one (sm_100f) in its family. */
enum target_form { TARGET_PLAIN, TARGET_ARCH_SPECIFIC, TARGET_FAMILY_SPECIFIC };
/* "", "a", "f": what stands behind the number. */
const char *target_suffix(enum target_form);
bool target_runs_on(unsigned code_sm, enum target_form, unsigned device_sm);
/* Whether code `sm` of two that a GPU runs is for fewer GPUs: the highest target is the exact one if there is one, and
 * code for that alone (sm_90a) comes before other code for it. */
bool target_closer(unsigned sm, enum target_form, unsigned other_sm, enum target_form other);

#endif
