#include "cuda/core/mem_op.h"

#include <string.h>

#include "cuda/core/board_ranks.h"
#include "cuda/core/checked.h"
#include "cuda/core/shim.h"

static bool is_wait(const CUstreamBatchMemOpParams *op)
{
  return op->operation == MEM_OP_WAIT_32 || op->operation == MEM_OP_WAIT_64;
}

static unsigned word_bytes(const CUstreamBatchMemOpParams *op)
{
  return op->operation == MEM_OP_WAIT_64 || op->operation == MEM_OP_WRITE_64 ? 8 : 4;
}

/* Where the host has the word, of registered memory; NULL: in the guest's memory. */
static void *on_host(struct shim *s, uint64_t addr)
{
  const struct block *b = memory_find(s, addr);
  if (!b || b->kind != BLOCK_REGISTERED) return NULL;
  return (void *)(uintptr_t)(addr - b->device < b->bytes ? b->addr + (addr - b->device) : addr);
}

static bool read_word(struct shim *s, const CUstreamBatchMemOpParams *op, uint64_t *value)
{
  const void *host = on_host(s, op->word.address);
  *value = 0;
  if (!host) return gmem_read(board_memory(s, op->word.address), op->word.address, value, word_bytes(op));
  memcpy(value, host, word_bytes(op));
  return true;
}

/* The word is in the memory of a GPU. */
static bool memory_is_elsewhere(struct shim *s, uint64_t addr)
{
  const struct block *b = memory_find(s, addr);
  return !b || (b->kind != BLOCK_REGISTERED && !memory_on_host(b));
}

static CUresult check(struct shim *s, const CUstreamBatchMemOpParams *op)
{
  uint64_t value;
  if (op->operation == MEM_OP_BARRIER) return CUDA_SUCCESS;
  if (op->operation == MEM_OP_FLUSH_REMOTE || (is_wait(op) && op->word.flags & MEM_WAIT_FLUSH))
    return shim_unsupported(s, "a flush of remote writes");
  if (op->operation < MEM_OP_WAIT_32 || op->operation > MEM_OP_WRITE_64) return CUDA_ERROR_INVALID_VALUE;
  if (op->word.flags > (is_wait(op) ? MEM_WAIT_NOR : 1) || op->word.address % word_bytes(op))
    return CUDA_ERROR_INVALID_VALUE;
  if (is_wait(op) && memory_is_elsewhere(s, op->word.address))
    return board_ranks_refuse(s, "a stream that waits for a value in the memory of a GPU");
  return read_word(s, op, &value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult mem_op_check(struct shim *s, const CUstreamBatchMemOpParams *op, unsigned n, unsigned flags)
{
  CUresult r = op && n && n <= MEM_OPS_MAX && !flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; r == CUDA_SUCCESS && i < n; i++) r = check(s, &op[i]);
  return r;
}

bool mem_op_is_ready(struct shim *s, const CUstreamBatchMemOpParams *op)
{
  bool wide = word_bytes(op) == 8;
  uint64_t have, want = wide ? op->word.value64 : op->word.value, mask = wide ? UINT64_MAX : UINT32_MAX;
  if (!is_wait(op) || !read_word(s, op, &have)) return true; /* memory that is gone holds nobody up */
  switch (op->word.flags) {
  case MEM_WAIT_GEQ: return wide ? (int64_t)(have - want) >= 0 : (int32_t)(uint32_t)(have - want) >= 0;
  case MEM_WAIT_EQ: return have == want;
  case MEM_WAIT_AND: return have & want;
  default: return ~(have | want) & mask;
  }
}

void mem_op_describe(struct shim *s, const CUstreamBatchMemOpParams *op, char *text, size_t size)
{
  static const char *const relations[] = { ">=", "==", "with a bit of", "without a bit of" };
  uint64_t have;
  read_word(s, op, &have);
  snprintf(text, size, "the %u bits at 0x%llx %s 0x%llx (they are 0x%llx)", 8 * word_bytes(op),
           (unsigned long long)op->word.address, relations[op->word.flags & MEM_WAIT_NOR],
           (unsigned long long)(word_bytes(op) == 8 ? op->word.value64 : op->word.value), (unsigned long long)have);
}

static void write_word(struct shim *s, const CUstreamBatchMemOpParams *op)
{
  void *host = on_host(s, op->word.address);
  uint64_t value = word_bytes(op) == 8 ? op->word.value64 : op->word.value;
  if (host) memcpy(host, &value, word_bytes(op));
  else gmem_write(board_memory(s, op->word.address), op->word.address, &value, word_bytes(op));
  checked_written(s->checked, op->word.address, word_bytes(op));
}

bool mem_op_run(struct shim *s, const CUstreamBatchMemOpParams *op)
{
  if (!mem_op_is_ready(s, op)) return false;
  if (op->operation == MEM_OP_WRITE_32 || op->operation == MEM_OP_WRITE_64) write_word(s, op);
  return true;
}
