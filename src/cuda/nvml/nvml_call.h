/* NVML, the library that tools and programs ask for the GPUs of a machine: as much of it as they ask when they start.
 * It answers from the machine's preset, for all GPUs, whatever CUDA_VISIBLE_DEVICES leaves.
 *
 * Every entry point is one line: NVML(expr), or of a device ON_GPU(device, expr). Calls take no simulated time.
 */
#ifndef WS_NVML_CALL_H
#define WS_NVML_CALL_H

#include "cuda/core/visible_boards.h"
#include "config/machine_ports.h"
#include "cuda/core/call.h"
#include "cuda/nvml/nvml_types.h"

/* Locks. NVML_SUCCESS: the library was initialised. In any case nvml_leave must follow. */
nvmlReturn_t nvml_enter(struct call *);
nvmlReturn_t nvml_leave(struct call *, nvmlReturn_t);
/* In the place of nvml_leave when memory ran out. */
nvmlReturn_t nvml_starved(struct call *) __attribute__((cold));

/* `expr` sees `s`. */
#define NVML(expr)                                                                                 \
  do {                                                                                             \
    struct call call_ = {.s = NULL};                                                               \
    memory_begin(&call_.memory, NULL);                                                             \
    if (setjmp(call_.memory.at) != 0) return nvml_starved(&call_);                                 \
    nvmlReturn_t result_ = nvml_enter(&call_);                                                     \
    struct shim *const s = call_.s;                                                                \
    if (result_ == NVML_SUCCESS) result_ = (expr);                                                 \
    return nvml_leave(&call_, result_);                                                            \
  } while (0)

/* Of a handle: `expr` sees `gpu`, the machine's node. */
#define ON_GPU(device, expr)                                                                       \
  const unsigned gpu = nvml_node(device);                                                          \
  NVML(!nvml_is_gpu(s, gpu) ? NVML_ERROR_INVALID_ARGUMENT : (expr))

/* Stores an answer where the program wants it. */
#define ANSWER(to, value) ((to) ? (*(to) = (value), NVML_SUCCESS) : NVML_ERROR_INVALID_ARGUMENT)

static inline nvmlDevice_t nvml_handle(unsigned node)
{
  return (nvmlDevice_t)(uintptr_t)(node + 1);
}

static inline unsigned nvml_node(nvmlDevice_t device)
{
  const uintptr_t number = (uintptr_t)device;
  return number && number <= MACHINE_MAX_GPUS ? (unsigned)number - 1 : MACHINE_MAX_GPUS;
}

/* Of an instance of a GPU that is cut into some (boards.mig): behind those of GPUs. */
static inline nvmlDevice_t nvml_instance_handle(unsigned instance)
{
  return (nvmlDevice_t)(uintptr_t)(MACHINE_MAX_GPUS + 1 + instance);
}

/* NVML_INSTANCES or more: it is none. */
enum { NVML_INSTANCES = BOARDS_MAX * MIG_MAX_INSTANCES };
static inline unsigned nvml_instance(nvmlDevice_t device)
{
  const uintptr_t number = (uintptr_t)device - MACHINE_MAX_GPUS - 1;
  return number < NVML_INSTANCES ? (unsigned)number : NVML_INSTANCES;
}

static inline bool nvml_is_gpu(const struct shim *s, unsigned node)
{
  return node < s->boards.machine.n_gpus;
}

/* What is known of a GPU: as the program's options changed it when the program sees it; of one that is cut into
 * instances all of it. */
static inline const struct params *nvml_params(const struct shim *s, unsigned gpu)
{
  const struct board *b = board_first_instance(&s->boards, gpu) >= 0 ? NULL : board_at_node(s, (int)gpu);
  return b ? &b->preset.params : &s->boards.machine.params[gpu];
}

/* Text with its 0, when it fits: NVML_ERROR_INSUFFICIENT_SIZE. */
nvmlReturn_t nvml_text(char *to, unsigned bytes, const char *text);

/* Of an instance (nvml_mig.c): NVML_ERROR_INVALID_ARGUMENT when it is none; by_uuid: NVML_ERROR_NOT_FOUND. */
nvmlReturn_t nvml_instance_name(const struct shim *, nvmlDevice_t, char *text, unsigned bytes);
nvmlReturn_t nvml_instance_uuid(const struct shim *, nvmlDevice_t, char *text, unsigned bytes);
nvmlReturn_t nvml_instance_by_uuid(const struct shim *, const char *text, nvmlDevice_t *);
nvmlReturn_t nvml_instance_memory(const struct shim *, nvmlDevice_t, nvmlMemory_t *);

#endif
