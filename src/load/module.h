/* Module: a cubin, parsed and placed, and its instance in a device's memory.
 *
 * module_load reads the ELF file: kernels, code, constant banks, variables, relocations. Every
 * byte of the file is hostile: a bad file gives one error line, never a crash. The result does not
 * change afterwards and can be instantiated on several devices. Relocatable objects (nvcc
 * -rdc=true) are linked first, one alone or several (module_link).
 *
 * module_instantiate gives it addresses: it allocates the global variables in guest memory and
 * applies the relocations. Code is decoded when somebody needs it (lazy_code.h). The code of a module
 * is one contiguous space: first the runtime services (isa/sass/syscall.h, 16 bytes each), then every
 * .text section at a multiple of 128 bytes, in file order, then, when it names one of them, the
 * functions of the device runtime. What the file itself has for those is not executed: calls of it are
 * calls of the service.
 *
 * Host memory, whatever the file says: a module takes at most MODULE_PARSE_RATIO bytes for each
 * byte of the file, an instance MODULE_CODE_RATIO (decoded instructions), both plus a few MiB. Guest
 * variables without contents take no host memory before they are written.
 */
#ifndef WS_LOAD_MODULE_H
#define WS_LOAD_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/gmem.h"
#include "isa/inst.h"
#include "isa/isa.h"

enum {
  MODULE_CODE_BASE = 0x10000, /* pc of the first runtime service: pc 0 stays invalid */
  MODULE_BANKS = 8,
  MODULE_PARSE_RATIO = 16,
  MODULE_CODE_RATIO = 64,
};

/* One kernel parameter: `bytes` bytes at `offset` of the parameter block. */
struct module_param {
  uint32_t offset, bytes;
};

/* What the compiler says of a kernel. Sizes in bytes. A triple that the compiler did not state
 * is {0, 0, 0}. */
struct module_kernel {
  const char *name;
  uint64_t entry_pc;       /* in the code space */
  uint64_t code_bytes;     /* of its own instructions, from there on */
  unsigned regs;           /* registers per thread */
  uint32_t shared_static;
  uint32_t shared_reserved; /* in front of these: kept by the system, where the kernel has shared memory */
  uint32_t frame_bytes;    /* stack frame of the kernel alone */
  uint32_t stack_bytes;    /* stack per thread: the kernel and every function it may call */
  uint32_t param_base;     /* offset of the parameter block in constant bank 0 */
  uint32_t param_bytes;
  unsigned n_params;
  const struct module_param *param; /* in order of declaration */
  uint32_t max_threads[3]; /* __launch_bounds__ */
  uint32_t req_threads[3]; /* required block size */
  bool tile;               /* of CUDA Tile IR: launched with a block of one thread; it has req_threads */
  unsigned barriers;       /* CTA barriers used, 0 when not stated */
  uint32_t cluster[3];     /* required cluster size in CTAs */
  bool explicit_cluster;   /* must be launched with a cluster size */
  bool tmem_pairs;         /* allocates tensor memory for pairs of CTAs */
  bool tmem_old;           /* allocates tensor memory as CUDA 12 did: refused */
  bool reads_tables;       /* txq, suq of what only a table of the driver says, which there is not: refused */
};

enum module_space { MODULE_GLOBAL, MODULE_CONST, MODULE_SHARED, MODULE_CODE };

/* A variable or function of the file. */
struct module_symbol {
  const char *name;
  enum module_space space;
  uint64_t offset;   /* in its space: globals, bank 3, the kernel's shared memory; code: pc */
  uint64_t bytes;    /* 0 when the file does not say */
  bool managed;      /* a __managed__ variable, */
  uint64_t in_block; /* which lies there in their block, if there is one */
};

struct module; /* parsed file */

/* Reads the cubin at `path`, or `bytes` bytes at `image` (`name` is used in errors; the image may
 * be freed afterwards). NULL with e filled: not a cubin, an unsupported target, a malformed file,
 * an unknown relocation type. */
struct module *module_load(const char *path, struct err *e);
struct module *module_load_memory(const void *image, size_t bytes, const char *name, struct err *e);
/* One file of several, `bytes` bytes at `image`. */
struct module_file {
  const char *name; /* in errors */
  const void *image;
  size_t bytes;
};

/* The module that n objects of nvcc -rdc=true make together (link.h); one file may be linked already.
 * NULL with e filled: as above, and a name that two objects define or that none does. */
struct module *module_link(const struct module_file *, unsigned n, struct err *e);
/* Whether an object only defines what the simulator executes itself (the toolkit's libcudadevrt.a), and can be
 * left out of a link. False for what is no cubin. */
bool module_is_service(const void *image, size_t bytes);
void module_free(struct module *);

const char *module_name(const struct module *);
unsigned module_sm(const struct module *); /* 80, 86, 90 … */
unsigned module_kernel_count(const struct module *);
const struct module_kernel *module_kernel_at(const struct module *, unsigned i);
/* NULL when the module has no such kernel; e (may be NULL) then lists the ones it has. The full
 * symbol name ("_Z6vecaddPfS_S_j"), or for C++ kernels the source name when it is unambiguous. */
const struct module_kernel *module_kernel(const struct module *, const char *name, struct err *e);
unsigned module_symbol_count(const struct module *);
const struct module_symbol *module_symbol_at(const struct module *, unsigned i);
/* A __device__ or __constant__ variable by name; NULL when there is none. */
const struct module_symbol *module_variable(const struct module *, const char *name);
/* "kernel+0x120" for a pc of the code space; functions inside a kernel's section
 * ("$kernel$__internal_…") are named themselves. Returns the number of characters as snprintf. */
int module_where(const struct module *, uint64_t pc, char *buf, size_t size);

/* Whether it names the device runtime's function that waits for all threads of a grid. */
bool module_syncs_grid(const struct module *);
/* Whether its kernels may launch kernels: it names functions of the device runtime. */
bool module_uses_device_runtime(const struct module *);

/* First pc of the code section that holds pc; 0: none does. Branch targets of assembler files and of
 * other disassemblers count from there. */
uint64_t module_section_start(const struct module *, uint64_t pc);

/* Machine code as it lies in the file, before relocation; `data` belongs to the module. */
struct module_text {
  const char *name;    /* section */
  const uint8_t *data;
  uint64_t bytes;      /* multiple of 16 */
};

/* The next code section behind *cursor (0 at first); false: there are no more. */
bool module_next_text(const struct module *, uint32_t *cursor, struct module_text *);

/* A module with addresses. */
struct module_instance; /* opaque; owned by the caller of module_instantiate */

/* mem == NULL: variables get addresses from 0 up and no memory; enough to look at the code. Words
 * that do not decode are no error: they are marked INST_UNDECODED. NULL with e filled: out of guest
 * memory, a relocation that does not fit its field. The module must outlive the instance. */
struct module_instance *module_instantiate(const struct module *, struct gmem *mem, struct err *e);
/* The same with __managed__ variables in a block of their own, module_managed_bytes long, at this address, where the
 * caller has put what they begin with (module_managed_fill): host and device have one address for them. 0: they lie
 * among the others. */
struct module_instance *module_instantiate_managed(const struct module *, struct gmem *mem, uint64_t managed,
                                                   struct err *e);
uint64_t module_managed_bytes(const struct module *);
void module_managed_fill(const struct module *, uint8_t *block);
/* The address that was given. */
uint64_t module_managed(const struct module_instance *);
void module_instance_free(struct module_instance *); /* releases the guest memory, too */

const struct module *module_of(const struct module_instance *);
/* All code, decoded: for those who look at it. */
const struct code_view *module_code(const struct module_instance *);
/* The code for a launch of kernel k, of which what reach says is decoded and the rest will be where a path jumps into
 * it (struct code_rest). `timed`: its place for the caches is known, which takes a look at all code, once. */
struct code_view module_launch_code(const struct module_instance *, const struct module_kernel *k, bool timed,
                                    struct code_reach *reach);
struct sass_inst;
/* The instruction set of a target: 80, 86, 90 … */
const struct isa *module_isa(unsigned sm);
const struct sass_inst *module_sass(const struct module_instance *); /* indices as code->inst */
/* Constant bank `bank` (2, 3, 4 …) as kernel k sees it; NULL and 0 bytes when it has none. Bank 0
 * is the launch's business. */
const uint8_t *module_bank(const struct module_instance *, const struct module_kernel *k,
                           unsigned bank, uint32_t *bytes);
/* Guest address of the copy of bank 3, which generic loads read; 0: there is none. */
uint64_t module_constants(const struct module_instance *);
/* Guest address of the first allocation that module_instantiate made; 0: it made none. Another instance gets the
 * same addresses when the memory's next allocation starts there. */
uint64_t module_memory(const struct module_instance *);
/* Constants as the guest's memory now has them: for programs that write to module_constants themselves
 * (cudaGetSymbolAddress of a __constant__ variable). Call before a launch. */
void module_refresh_constants(struct module_instance *);
/* Whether the kernel, or a function it may call, moves the stack pointer (R1 = R1 + …). Says more
 * than module_kernel.stack_bytes: the compiler leaves the frames of recursive functions out of
 * that. */
bool module_moves_stack(const struct module_instance *, const struct module_kernel *k);
/* Most registers that a thread of the kernel ever has: those of module_kernel.regs, or what it asks for later
 * (USETMAXREG). */
unsigned module_most_registers(const struct module_instance *, const struct module_kernel *k);
/* Whether some code of the module names offset `at`, a multiple of 4, of constant bank 0: as an operand, or in a load
 * of constants, be it as a number in a register. */
bool module_names_bank0(const struct module_instance *, bool load, uint32_t at);
/* Guest address of a __device__ variable, or of the copy of a __constant__ variable that generic
 * loads see; 0 for other symbols. */
uint64_t module_address(const struct module_instance *, const struct module_symbol *);
/* Copies bytes into or out of a __device__ or __constant__ variable, from its start. False: not
 * such a variable, or more bytes than it has. */
bool module_variable_write(struct module_instance *, const struct module_symbol *, const void *buf,
                           size_t bytes);
bool module_variable_read(const struct module_instance *, const struct module_symbol *,
                          void *buf, size_t bytes);

#endif
