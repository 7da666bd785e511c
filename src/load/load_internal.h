/* Private to src/load: what a parsed module holds. */
#ifndef WS_LOAD_INTERNAL_H
#define WS_LOAD_INTERNAL_H

#include "base/arena.h"
#include "isa/sass/syscall.h"
#include "load/elf.h"
#include "load/module.h"
#include "load/reloc.h"
#include "load/target.h"

/* Where a section ends up. */
enum place_kind {
  PLACE_NONE,    /* not loaded: debug information, notes */
  PLACE_TEXT,    /* code space, at `offset` = pc */
  PLACE_BANK,    /* constant bank `bank` of kernel `kernel`, at `offset` */
  PLACE_GLOBAL,  /* the module's globals, at `offset` */
  PLACE_SHARED,  /* a kernel's shared memory */
};

enum {
  INST_BYTES = 16,
  ALL_KERNELS = -1,
  MODULE_SHARED_LIMIT = 16 << 20, /* bytes; far above any GPU: only catches nonsense */
  MODULE_STACK_LIMIT = 1 << 30,   /* the same of a stack, and of a sum of frames */
};

struct place {
  uint8_t kind;    /* enum place_kind */
  uint8_t bank;
  int32_t kernel;  /* PLACE_BANK, PLACE_SHARED: index into kernel[], or ALL_KERNELS */
  uint64_t offset;
};

struct module_reloc {
  const struct reloc_row *row;
  uint32_t section;  /* patched section */
  uint32_t symbol;   /* ELF symbol */
  uint64_t offset;   /* in the section; the place lies inside it */
  int64_t addend;
};

#define NOT_MANAGED UINT64_MAX

/* What the functions in a code section need; their callers need as much. */
struct need {
  uint32_t frames;          /* sum of their stack frames, at most MODULE_STACK_LIMIT bytes */
  uint8_t regs, barriers;
};

/* A function symbol, for names of pcs. Sorted by pc. */
struct module_function {
  const char *name;
  uint64_t pc;
};

struct module {
  struct arena arena;
  const char *name;          /* file */
  struct elf_file elf;
  const struct target *target;
  struct place *place;       /* per ELF section */
  uint64_t code_end;
  uint64_t device_runtime;   /* pc of the device runtime's first service; 0: nothing names one */
  uint64_t copies;           /* the same of the driver's copies */
  uint64_t global_bytes, global_align;
  uint64_t *managed_at;      /* per ELF symbol: place of a __managed__ variable in their block; NULL: there are none */
  uint64_t managed_bytes;    /* of that block; 0: there are none */
  uint32_t common_bytes[MODULE_BANKS]; /* module-wide banks */
  uint8_t common_banks;      /* bit b: there is a module-wide bank b */
  uint8_t *kernel_banks;     /* per kernel: bit b: it has its own bank b */
  unsigned n_kernels, n_relocs, n_symbols, n_functions;
  struct module_kernel *kernel;
  int32_t *text_kernel;      /* per ELF section: the kernel in it, or ALL_KERNELS */
  struct module_reloc *reloc;
  struct module_symbol *symbol;
  struct module_function *function;
  /* Relocatable objects only (object.c). */
  bool *own_shared;          /* per kernel: it has shared variables of its own */
  uint32_t *shared_at;       /* per ELF symbol: offset of a shared variable; NULL: linked file */
  struct need *need;         /* per ELF section; NULL: linked file */
};

/* Whether an undefined name is a runtime service (enum sass_syscall), and which. */
bool load_service(const char *name, unsigned *number);
/* Whether it is one of the device runtime: also when the file has a function of this name. */
bool load_device_runtime(const char *name, unsigned *number);
/* Where a service lies in the code space; 0: the module has no such place. */
uint64_t load_service_pc(const struct module *, unsigned number);

/* nvinfo.c: fills kernels from .nv.info and .nv.info.KERNEL. */
bool nvinfo_read(struct module *, struct err *e);
/* object.c: places shared variables after the sections have places. */
bool object_layout(struct module *, struct err *e);
/* callgraph.c: raises what the kernels of objects need to what the functions they may call need, after
 * nvinfo_read. */
bool callgraph_finish(struct module *, struct err *e);
/* Variables of objects have a symbol type of their own. */
bool object_is_variable(const struct elf_symbol *);
bool object_is_shared(const struct elf_symbol *);
/* "__device__ variable" … of such a variable; NULL: an unknown memory. */
const char *object_memory(const struct elf_symbol *);
/* Index of the kernel that lives in this .text section, or ALL_KERNELS. */
int32_t module_kernel_of_text(const struct module *, uint32_t section);
/* How many kernels a user's name can mean (module_kernel); *exact: it is a full symbol name. */
unsigned module_kernel_matches(const struct module *, const char *name, bool *exact);
/* Index of the kernel that a section ".nv.….NAME" belongs to: its sh_info is the kernel's .text
 * section. ALL_KERNELS: NAME is no kernel. */
int32_t module_kernel_of_section(const struct module *, const struct elf_section *,
                                 const char *name);

#endif
