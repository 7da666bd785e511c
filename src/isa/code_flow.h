/* Where control goes behind an instruction, as far as the instruction itself says. */
#ifndef WS_ISA_CODE_FLOW_H
#define WS_ISA_CODE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

enum code_flow_kind {
  CODE_NEXT,          /* to the next instruction */
  CODE_JUMP,          /* to the target */
  CODE_JUMP_REGISTER, /* to an address in a register */
  CODE_CALL,          /* to the target, and back to the next instruction */
  CODE_CALL_REGISTER, /* to a function whose address is in a register, and back */
  CODE_RETURN,        /* to the caller */
  CODE_END,           /* nowhere: the thread ends */
};

struct code_flow {
  uint8_t kind;     /* enum code_flow_kind */
  bool conditional; /* or, for some threads, to the next instruction */
  uint8_t parameters; /* of a runtime service, which returns: registers it reads from the ABI's first parameter on */
  uint64_t target;  /* CODE_JUMP, CODE_CALL: pc */
};

#endif
