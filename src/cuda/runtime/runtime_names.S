/* A runtime library that programs ask for by its name, of version CUDART (11, 12 or 13): the names that this version gave another
 * form than others (runtime_earlier.def) lead to theirs. All other names are found in the library that this one depends on.
 */
#if CUDART == 11
#define EARLIER(name, of_11, of_12) LEADS(name, of_11)
#elif CUDART == 12
#define EARLIER(name, of_11, of_12) LEADS(name, of_12)
#else
#define EARLIER(name, of_11, of_12) LEADS(name, name##_of_13)
#endif
#define LEADS(name, to) .globl name; .type name, @function; .balign 16; name: jmp *to@GOTPCREL(%rip);
  .text
#include "cuda/runtime/runtime_earlier.def"
  .section .note.GNU-stack, "", @progbits
