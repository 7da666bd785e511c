/* What a timing core of a CPU (time/cpu) knows of instructions: their classes and registers, and functions that execute
 * one of them. Bytes of memory are the core's business: an instruction that wants some says which, and gets them when
 * the core has them.
 *
 * Registers are numbered over all files from 1 on; 0 is none, always ready.
 */
#ifndef WS_ISA_CPU_STEP_H
#define WS_ISA_CPU_STEP_H

#include <stdbool.h>
#include <stdint.h>

enum { CPU_REGS = 64, CPU_LINE_BYTES = 64 };

enum cpu_class {
  CPU_ALU,
  CPU_MUL,
  CPU_DIV,
  CPU_DIV_WORD,
  CPU_FP_ADD, /* conversions, too */
  CPU_FP_MUL,
  CPU_FP_FMA,
  CPU_FP_MOVE,
  CPU_FP_DIV_SINGLE, /* square roots, too */
  CPU_FP_DIV_DOUBLE,
  CPU_BRANCH,   /* to a place that it names, or on */
  CPU_JUMP,     /* to a place that it names */
  CPU_INDIRECT, /* to a place in a register */
  CPU_LOAD,
  CPU_STORE,
  CPU_ATOMIC,
  CPU_RESERVE,     /* load that reserves */
  CPU_CONDITIONAL, /* store to what is reserved */
  CPU_FENCE,
  CPU_CODE_FENCE, /* code that was stored is to be executed */
  CPU_CONTROL,    /* control registers: alone in the pipeline */
  CPU_TRAP,       /* for the operating system */
  CPU_CLASSES
};

struct cpu_inst {
  uint8_t class;      /* enum cpu_class */
  uint8_t bytes;      /* its length */
  uint8_t dst, src[3];
  bool call, returns; /* jumps: the return stack */
};

/* What a memory instruction wants. */
struct cpu_access {
  uint64_t addr, value; /* value: to be stored, or the operand of an atomic */
  uint8_t bytes;        /* 1 to 8 */
  uint8_t op;           /* atomics: their code, for cpu_step_ops.atomic */
  uint8_t token[2];     /* for cpu_step_ops.finish */
};

/* What counters read. */
struct cpu_clocks {
  uint64_t cycles, ns, insts;
};

enum cpu_step {
  CPU_STEP_DONE,   /* *next: address of the instruction behind it */
  CPU_STEP_ACCESS, /* nothing has happened yet, *access says what is wanted */
  CPU_STEP_TRAP,   /* nothing has happened: the operating system is wanted */
};

struct cpu_step_ops {
  /* The instruction at pc. False: its code has not been brought. */
  bool (*look)(void *hart, uint64_t pc, struct cpu_inst *);
  /* Executes the one that was looked at last. */
  enum cpu_step (*step)(void *hart, uint64_t pc, const struct cpu_clocks *, uint64_t *next, struct cpu_access *);
  /* What a load, an atomic (the value of before) or a conditional store (1: it failed) has brought. */
  void (*finish)(void *hart, const struct cpu_access *, uint64_t value);
  /* New value of memory. */
  uint64_t (*atomic)(unsigned op, unsigned bytes, uint64_t before, uint64_t operand, uint64_t compare);
  /* Before and behind a row of steps on a host thread: its floating-point unit is the hart's. */
  void (*enter)(void *hart);
  void (*leave)(void *hart);
};

#endif
