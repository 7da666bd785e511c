/* Control and status registers that programs of user mode see: floating-point state and counters. */
#ifndef WS_FUNC_RV64_RV64_CSR_H
#define WS_FUNC_RV64_RV64_CSR_H

#include "func/rv64/rv64_core.h"

enum rv64_csr_op { RV64_CSR_WRITE, RV64_CSR_SET, RV64_CSR_CLEAR };

/* Executes a CSR instruction: *old gets the register, which then changes by `value` unless `writes` is false (x0 or 0
 * as source of set and clear). now: instructions executed so far, which is what cycle, time and instret read. The
 * host's exception flags must have been collected. False: there is no such register, or it cannot be written. */
bool rv64_csr(struct rv64_hart *, unsigned number, enum rv64_csr_op, uint64_t value, bool writes, uint64_t now,
              uint64_t *old);

#endif
