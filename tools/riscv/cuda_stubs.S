/* The CUDA runtime library for programs of the simulated RISC-V CPU (docs/rv64.md): each entry point traps into the
 * simulator. The address of its name goes in t1, the eighth argument in t0, all others where they are
 * (src/host/linux/linux_gpu.h). The names are those of src/cuda/runtime/runtime.def.
 */
#define GPU_CALL 0x57530000

/* All but those that are in cuda_texts.c and cuda_functions.c. */
.macro stub name
  .set own, 0
  .irp other, cudaGetErrorName, cudaGetErrorString, cudaCreateChannelDesc, cudaLaunchHostFunc, cudaStreamAddCallback
  .ifc \name,\other
  .set own, 1
  .endif
  .endr
  .if own == 0
  trap \name
  .endif
.endm

.macro trap name
  .pushsection .rodata.\name, "a", @progbits
.Lname_\name:
  .asciz "\name"
  .popsection
  .pushsection .text.\name, "ax", @progbits
  .globl \name
  .type \name, @function
\name:
  mv t0, a7
  lla t1, .Lname_\name
  li a7, GPU_CALL
  ecall
  ret
  .size \name, . - \name
  .popsection
.endm

#define SERVED(symbol)  stub symbol
#define MISSING(symbol) stub symbol
#include "cuda/runtime/runtime.def"

trap __warpstep_error_name
trap __warpstep_error_text
trap __warpstep_launch_host
trap __warpstep_wait_function
trap __warpstep_next_function

.section .note.GNU-stack, "", @progbits
