#include "cuda/guest/guest_own.h"

#include <string.h>

#include "cuda/core/errors.h"
#include "cuda/core/host_call.h"
#include "cuda/core/process.h"
#include "cuda/core/shim.h"
#include "cuda/core/task.h"
#include "cuda/runtime/runtime.h"
#include "host/linux/linux_syscall.h"

/* The interface as the program's constructors see it (crt/host_runtime.h). */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                            void *tid, void *bid, dim3 *block, dim3 *grid, int *w);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant,
                       int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream stream);
CUresult __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
CUresult cudaDeviceReset(void);

/* Registration ----------------------------------------------------------------------------------------------------- */

enum { WRAPPER_MAGIC = 0x466243b1, CONTAINER_MAGIC = (int)0xba55ed50 };

struct wrapper {
  uint32_t magic, version;
  uint64_t data, extra;
};

struct container {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t payload_bytes;
};

/* The program's code, copied for as long as it runs. What it is made of is looked at when it is loaded. */
static void *keep_image(struct guest_call *c, uint64_t wrapper)
{
  const struct wrapper *w = guest_fetch(c, wrapper, sizeof *w);
  if (w->magic != (uint32_t)WRAPPER_MAGIC || w->version != 1) guest_refuse(c, CUDA_ERROR_INVALID_IMAGE);
  const struct container *head = guest_fetch(c, w->data, sizeof *head);
  const uint64_t most = GUEST_IMAGE_MAX - UINT16_MAX;
  if (head->magic != (uint32_t)CONTAINER_MAGIC || head->payload_bytes > most)
    guest_refuse(c, CUDA_ERROR_INVALID_IMAGE);
  const size_t bytes = head->header_bytes + (size_t)head->payload_bytes;
  const void *image = guest_fetch(c, w->data, bytes);
  void *kept = arena_alloc(c->keep, bytes, 16);
  memcpy(kept, image, bytes);
  struct wrapper *ours = ARENA_NEW(c->keep, struct wrapper);
  *ours = (struct wrapper){w->magic, w->version, (uint64_t)(uintptr_t)kept, 0};
  return ours;
}

int64_t guest_own___cudaRegisterFatBinary(struct guest_call *c)
{
  void **binary = __cudaRegisterFatBinary(keep_image(c, c->a[0]));
  return (int64_t)guest_handles_number(c->handles, binary, GUEST_BINARY);
}

int64_t guest_own___cudaRegisterFatBinaryEnd(struct guest_call *c)
{
  __cudaRegisterFatBinaryEnd(guest_handle(c, 0, GUEST_BINARY));
  return 0;
}

int64_t guest_own___cudaUnregisterFatBinary(struct guest_call *c)
{
  void **binary = guest_handle_end(c, 0, GUEST_BINARY);
  if (binary) __cudaUnregisterFatBinary(binary);
  return guest_done(c, CUDA_SUCCESS);
}

/* A binary of the program; the code of another one is no place for a function. */
static void **binary_of(struct guest_call *c)
{
  void **binary = guest_handle(c, 0, GUEST_BINARY);
  if (!binary) guest_refuse(c, CUDA_ERROR_INVALID_HANDLE);
  return binary;
}

static const char *keep_name(struct guest_call *c, unsigned i)
{
  return arena_strdup(c->keep, guest_fetch_text(c, c->a[i]));
}

/* A name is all that the host's address is. */
static char *as_name_of(uint64_t addr)
{
  return (char *)(uintptr_t)addr;
}

static char *as_name(const struct guest_call *c, unsigned i)
{
  return as_name_of(c->a[i]);
}

int64_t guest_own___cudaRegisterFunction(struct guest_call *c)
{
  void **binary = binary_of(c);
  __cudaRegisterFunction(binary, as_name(c, 1), NULL, keep_name(c, 3), -1, NULL, NULL, NULL, NULL, NULL);
  return 0;
}

int64_t guest_own___cudaRegisterVar(struct guest_call *c)
{
  void **binary = binary_of(c);
  __cudaRegisterVar(binary, as_name(c, 1), NULL, keep_name(c, 3), (int)c->a[4], c->a[5], (int)c->a[6], (int)c->a[7]);
  return 0;
}

/* Its pointer is the program's; a variable here is known by the place of that. */
int64_t guest_own___cudaRegisterManagedVar(struct guest_call *c)
{
  void **binary = binary_of(c);
  struct guest_managed *m = ARENA_NEW(c->keep, struct guest_managed);
  *m = (struct guest_managed){.next = *c->managed, .binary = binary, .pointer = c->a[1]};
  *c->managed = m;
  __cudaRegisterVar(binary, as_name(c, 1), NULL, keep_name(c, 3), (int)c->a[4], c->a[5], (int)c->a[6], (int)c->a[7]);
  return 0;
}

static CUresult find_managed(struct guest_call *c, struct guest_managed *m)
{
  CUdeviceptr addr = 0;
  size_t bytes = 0;
  pthread_mutex_lock(&c->shim->lock);
  const CUresult r = rt_variable(c->shim, as_name_of(m->pointer), &addr, &bytes);
  pthread_mutex_unlock(&c->shim->lock);
  m->addr = addr;
  m->bytes = bytes;
  return r;
}

int64_t guest_own___cudaInitModule(struct guest_call *c)
{
  void **binary = binary_of(c);
  const char ok = __cudaInitModule(binary);
  for (struct guest_managed *m = ok ? *c->managed : NULL; m; m = m->next)
    if (m->binary == binary && find_managed(c, m) == CUDA_SUCCESS &&
        !linux_vm_write(&c->process->vm, m->pointer, &m->addr, sizeof m->addr))
      guest_fault(c, m->pointer, RV64_WRITE);
  return ok;
}

/* <<<…>>> ---------------------------------------------------------------------------------------------------------- */

int64_t guest_own___cudaPushCallConfiguration(struct guest_call *c)
{
  return __cudaPushCallConfiguration(guest_dim(c, 0), guest_dim(c, 2), c->a[4], guest_handle(c, 5, GUEST_CUstream));
}

int64_t guest_own___cudaPopCallConfiguration(struct guest_call *c)
{
  CUstream stream = NULL;
  uint64_t *number = guest_out(c, 3, sizeof *number);
  const CUresult r = __cudaPopCallConfiguration(guest_out(c, 0, sizeof(dim3)), guest_out(c, 1, sizeof(dim3)),
                                                guest_out(c, 2, sizeof(size_t)), &stream);
  if (r == CUDA_SUCCESS && number)
    *number = (uintptr_t)stream <= (uintptr_t)STREAM_PER_THREAD
                ? (uintptr_t)stream : guest_handles_number(c->handles, stream, GUEST_CUstream);
  return guest_done(c, r);
}

/* Functions of the program ----------------------------------------------------------------------------------------- */

CUresult cudaLaunchHostFunc(CUstream stream, void (*fn)(void *), void *data);

/* The function's address is kept, and given back; nobody here calls it. */
int64_t guest_own___warpstep_launch_host(struct guest_call *c)
{
  void (*fn)(void *) = (void (*)(void *))(uintptr_t)c->a[1];
  return cudaLaunchHostFunc(guest_handle(c, 0, GUEST_CUstream), fn, (void *)(uintptr_t)c->a[2]);
}

/* The thread that calls them sleeps until one is due. */
int64_t guest_own___warpstep_wait_function(struct guest_call *c)
{
  struct linux_thread *t = linux_running(c->process);
  c->functions->caller = t->tid;
  if (c->functions->n) return 0;
  t->state = LINUX_SLEEPS;
  t->deadline = UINT64_MAX;
  return LINUX_WAITS;
}

/* The one before has returned. Whether there is another: its address and argument are given. */
int64_t guest_own___warpstep_next_function(struct guest_call *c)
{
  struct guest_functions *f = c->functions;
  uint64_t *to = guest_out(c, 0, 2 * sizeof *to);
  struct shim *s = c->shim;
  if (!to) guest_refuse(c, CUDA_ERROR_INVALID_VALUE);
  pthread_mutex_lock(&s->lock);
  if (f->called) host_call_returned(f->called);
  f->called = f->n ? f->due[0] : NULL;
  if (f->called) memmove(f->due, f->due + 1, --f->n * sizeof(struct task *));
  to[0] = f->called ? (uint64_t)(uintptr_t)f->called->op.host.fn : 0;
  to[1] = f->called ? (uint64_t)(uintptr_t)f->called->op.host.data : 0;
  pthread_mutex_unlock(&s->lock);
  return guest_done(c, CUDA_SUCCESS);
}

/* Others ----------------------------------------------------------------------------------------------------------- */

static int64_t give_text(struct guest_call *c, const char *text)
{
  const size_t bytes = strlen(text) + 1;
  if (!c->a[2]) return 0;
  char *to = guest_out(c, 1, c->a[2] < bytes ? c->a[2] : bytes);
  if (to) snprintf(to, c->a[2] < bytes ? c->a[2] : bytes, "%s", text);
  return guest_done(c, CUDA_SUCCESS);
}

int64_t guest_own___warpstep_error_name(struct guest_call *c)
{
  const char *name = error_runtime_name((int)c->a[0]);
  return give_text(c, name ? name : "unrecognized error code");
}

int64_t guest_own___warpstep_error_text(struct guest_call *c)
{
  const char *text = error_text((int)c->a[0]);
  return give_text(c, text ? text : "unrecognized error code");
}

int64_t guest_own_cudaDeviceReset(struct guest_call *c)
{
  const CUresult r = cudaDeviceReset();
  if (r == CUDA_SUCCESS) guest_handles_reset(c->handles);
  return r;
}
