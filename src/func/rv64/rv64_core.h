/* A RISC-V core that executes RV64GC instructions without time: the state of a hart, its view of memory, its decoded
 * code.
 *
 * Memory is a page table of the caller (struct rv64_memory): the core asks it for pages and remembers them, like a
 * translation lookaside buffer, until it is told that they have changed (rv64_forget). Code is decoded once, page by
 * page. A store to a page with decoded code drops what was decoded, so code that changes itself works, also without
 * FENCE.I.
 *
 * Floating point runs on the host's unit, whose exception flags are the accrued ones of the hart while rv64_run is
 * under way; the caller's rounding mode must be to nearest. Results are those of the RISC-V manual: canonical NaNs,
 * NaN-boxed single precision, all five rounding modes.
 *
 * Not modelled: privileged modes, page tables in memory, physical memory attributes; the counters cycle and time
 * advance by one per instruction.
 */
#ifndef WS_FUNC_RV64_RV64_CORE_H
#define WS_FUNC_RV64_RV64_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/rv64/rv64.h"

enum { RV64_PAGE_SHIFT = 12, RV64_PAGE_BYTES = 1 << RV64_PAGE_SHIFT };
#define RV64_PAGE_MASK (~(uint64_t)(RV64_PAGE_BYTES - 1))

enum rv64_access { RV64_READ, RV64_WRITE, RV64_FETCH };

/* Whose memory a core sees. */
struct rv64_memory {
  void *os;
  /* Host address of the page (4 KiB) that holds guest address addr; NULL: this access is not allowed there. */
  uint8_t *(*page)(void *os, uint64_t addr, enum rv64_access);
};

/* Architectural state of a hart, and what a thread of the guest consists of. */
struct rv64_hart {
  uint64_t x[RV64_REGS]; /* x0 is always 0; the last one takes what is written to x0 */
  uint64_t f[32];        /* single precision: NaN-boxed */
  uint64_t pc;
  uint8_t fflags, frm;   /* accrued exceptions; dynamic rounding mode, enum rv64_rounding or reserved */
  bool reserved;         /* LR has reserved an address, and no SC has followed */
  uint64_t reservation;
};

/* Bits of fflags. */
enum { RV64_NX = 1, RV64_UF = 2, RV64_OF = 4, RV64_DZ = 8, RV64_NV = 16 };

/* Why rv64_run returned. But for RV64_STOP_BUDGET the hart's pc is that of the instruction it stopped at, which has
 * had no effect. */
enum rv64_stop {
  RV64_STOP_BUDGET,     /* as many instructions as were asked for */
  RV64_STOP_ECALL,
  RV64_STOP_EBREAK,
  RV64_STOP_ILLEGAL,    /* trap_value: the instruction's bytes */
  RV64_STOP_FETCH,      /* page fault at trap_value */
  RV64_STOP_LOAD,
  RV64_STOP_STORE,
  RV64_STOP_MISALIGNED, /* an atomic at trap_value */
};

enum { RV64_TLB_ENTRIES = 256, RV64_CODE_HEADS = 1024, RV64_CODE_PAGES = 8192 };
enum { RV64_PAGE_PARCELS = RV64_PAGE_BYTES / 2 };

struct rv64_tlb_entry {
  uint64_t page; /* guest address; odd: nothing here */
  uintptr_t host; /* host address minus guest address */
};

/* The decoded instructions of a page; two more places, which an instruction at its end may lead to. */
struct rv64_code {
  uint64_t base; /* guest address */
  const uint8_t *host;
  struct rv64_code *next; /* of the same head */
  struct rv64_inst inst[RV64_PAGE_PARCELS + 2];
};

struct rv64_core {
  struct rv64_hart hart;
  struct rv64_memory memory;
  uint64_t instret;    /* instructions executed, of all harts that were run here */
  uint64_t trap_value; /* see enum rv64_stop */
  struct rv64_tlb_entry load[RV64_TLB_ENTRIES], store[RV64_TLB_ENTRIES];
  struct rv64_code *code[RV64_CODE_HEADS];
  unsigned n_code;
};

/* Registers are zero, the rounding mode is to nearest. Ends the process when the host has no memory. */
struct rv64_core *rv64_core_new(const struct rv64_memory *);
void rv64_core_free(struct rv64_core *);

/* Executes at most `budget` instructions from the hart's pc on. The same state and memory give the same. */
enum rv64_stop rv64_run(struct rv64_core *, uint64_t budget);

/* Mapping or rights of pages in [addr, addr + bytes) have changed. */
void rv64_forget(struct rv64_core *, uint64_t addr, uint64_t bytes);
/* All decoded code may be stale (FENCE.I). */
void rv64_forget_code(struct rv64_core *);

/* As the guest's own loads and stores, across pages. False: not allowed, trap_value is the address of the first byte
 * that was not; nothing is transferred then. bytes: 1..8. */
bool rv64_load(struct rv64_core *, uint64_t addr, void *to, unsigned bytes);
bool rv64_store(struct rv64_core *, uint64_t addr, const void *from, unsigned bytes);

/* What the interpreter (rv64_run.c) asks for: code at pc, NULL: it cannot be fetched; an instruction of it decoded,
 * false: neither. trap_value is filled then. */
struct rv64_code *rv64_code_at(struct rv64_core *, uint64_t pc);
bool rv64_code_decode(struct rv64_core *, struct rv64_code *, struct rv64_inst *);

#endif
