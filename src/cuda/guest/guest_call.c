/* Arguments of a call of a program on a simulated CPU (cuda/guest/guest_call.h). */
#include "cuda/guest/guest_call.h"

#include <string.h>

#include "base/host_memory.h"
#include "host/linux/linux_syscall.h"

_Noreturn void guest_refuse(struct guest_call *c, CUresult r)
{
  c->result = r;
  longjmp(c->out, 1);
}

_Noreturn void guest_fault(struct guest_call *c, uint64_t addr, enum rv64_access access)
{
  c->fault = addr;
  c->access = access;
  c->result = LINUX_FAULTS;
  longjmp(c->out, 1);
}

/* The first byte that the program may not touch in this way. */
static _Noreturn void find_fault(struct guest_call *c, uint64_t addr, size_t bytes, enum rv64_access access)
{
  uint64_t n = 1;
  for (uint64_t done = 0; done < bytes; done += n)
    if (!linux_vm_span(&c->process->vm, addr + done, bytes - done, access, &n)) guest_fault(c, addr + done, access);
  guest_fault(c, addr, access);
}

static void *copied(struct guest_call *c, uint64_t addr, size_t bytes, enum rv64_access access)
{
  struct linux_vm *vm = &c->process->vm;
  void *here = arena_alloc(&c->scratch, bytes ? bytes : 1, 16);
  if (!linux_vm_read(vm, here, addr, bytes) || (access == RV64_WRITE && !linux_vm_write(vm, addr, here, bytes)))
    find_fault(c, addr, bytes, access);
  return here;
}

void *guest_fetch(struct guest_call *c, uint64_t addr, size_t bytes)
{
  return copied(c, addr, bytes, RV64_READ);
}

char *guest_fetch_text(struct guest_call *c, uint64_t addr)
{
  struct linux_vm *vm = &c->process->vm;
  for (size_t size = 256; size <= GUEST_TEXT_MAX; size *= 4) {
    char *text = arena_alloc(&c->scratch, size, 1);
    if (linux_vm_string(vm, text, size, addr)) return text;
    uint64_t n;
    for (uint64_t at = 0; at < size; at += n)
      if (!linux_vm_span(vm, addr + at, size - at, RV64_READ, &n)) guest_fault(c, addr + at, RV64_READ);
  }
  guest_refuse(c, CUDA_ERROR_INVALID_VALUE);
}

static void give_back(struct guest_call *c, const struct guest_copy *copy)
{
  if (c->n_copies == GUEST_COPIES) guest_refuse(c, CUDA_ERROR_INVALID_VALUE);
  c->copy[c->n_copies++] = *copy;
}

void *guest_out(struct guest_call *c, unsigned i, size_t bytes)
{
  if (!c->a[i]) return NULL;
  void *here = copied(c, c->a[i], bytes, RV64_WRITE);
  give_back(c, &(struct guest_copy){.addr = c->a[i], .here = here, .bytes = bytes});
  return here;
}

const void *guest_in(struct guest_call *c, unsigned i, size_t bytes)
{
  return c->a[i] ? copied(c, c->a[i], bytes, RV64_READ) : NULL;
}

const char *guest_text(struct guest_call *c, unsigned i)
{
  return c->a[i] ? guest_fetch_text(c, c->a[i]) : NULL;
}

char *guest_text_out(struct guest_call *c, unsigned i, unsigned size)
{
  const int room = (int)c->a[size];
  return room > 0 && room <= GUEST_TEXT_MAX ? guest_out(c, i, (size_t)room) : NULL;
}

void *guest_handle(struct guest_call *c, unsigned i, enum guest_handle kind)
{
  const uint64_t n = c->a[i], special = (uint64_t)(uintptr_t)STREAM_PER_THREAD;
  if (!n || (kind == GUEST_CUstream && n <= special)) return (void *)(uintptr_t)n;
  void *what = guest_handles_find(c->handles, n, kind);
  if (!what) guest_refuse(c, CUDA_ERROR_INVALID_HANDLE);
  return what;
}

void *guest_handle_end(struct guest_call *c, unsigned i, enum guest_handle kind)
{
  void *what = guest_handle(c, i, kind);
  if (guest_handles_is(c->a[i])) c->ends[c->n_ends++] = c->a[i];
  return what;
}

void *guest_handle_out(struct guest_call *c, unsigned i, enum guest_handle kind)
{
  if (!c->a[i]) return NULL;
  void **here = copied(c, c->a[i], sizeof *here, RV64_WRITE);
  *here = NULL;
  give_back(c, &(struct guest_copy){.addr = c->a[i], .here = here, .kind = kind});
  return here;
}

const void *guest_function(struct guest_call *c, unsigned i)
{
  const void *kernel = guest_handles_find(c->handles, c->a[i], GUEST_CUkernel);
  return kernel ? kernel : (const void *)(uintptr_t)c->a[i]; /* a name: nobody follows it */
}

/* Two registers hold it. */
dim3 guest_dim(const struct guest_call *c, unsigned i)
{
  return (dim3){(uint32_t)c->a[i], (uint32_t)(c->a[i] >> 32), (uint32_t)c->a[i + 1]};
}

/* A handle inside of a structure. */
static void *inner(struct guest_call *c, const void *number, enum guest_handle kind)
{
  const uint64_t n = (uint64_t)(uintptr_t)number;
  void *what = n ? guest_handles_find(c->handles, n, kind) : NULL;
  if (n && !what) guest_refuse(c, CUDA_ERROR_INVALID_HANDLE);
  return what;
}

const cudaMemcpy3DParms *guest_copy_3d(struct guest_call *c, unsigned i)
{
  if (!c->a[i]) return NULL;
  cudaMemcpy3DParms *p = guest_fetch(c, c->a[i], sizeof *p);
  p->src_array = inner(c, p->src_array, GUEST_CUarray);
  p->dst_array = inner(c, p->dst_array, GUEST_CUarray);
  return p;
}

const cudaResourceDesc *guest_resource(struct guest_call *c, unsigned i)
{
  enum { ARRAY = 0, MIPMAP = 1 };
  if (!c->a[i]) return NULL;
  cudaResourceDesc *r = guest_fetch(c, c->a[i], sizeof *r);
  if (r->type == ARRAY) r->array = inner(c, r->array, GUEST_CUarray);
  if (r->type == MIPMAP) r->mipmap = inner(c, r->mipmap, GUEST_CUmipmappedArray);
  return r;
}

/* Rights were looked at when it was copied; the program has not run since. */
int64_t guest_done(struct guest_call *c, CUresult r)
{
  struct linux_vm *vm = &c->process->vm;
  for (unsigned i = 0; i < c->n_copies; i++) {
    const struct guest_copy *b = &c->copy[i];
    if (b->bytes) {
      linux_vm_write(vm, b->addr, b->here, b->bytes);
      continue;
    }
    void *what = *(void **)b->here;
    const uint64_t n = what && r == CUDA_SUCCESS ? guest_handles_number(c->handles, what, b->kind) : 0;
    if (r == CUDA_SUCCESS) linux_vm_write(vm, b->addr, &n, sizeof n);
  }
  for (unsigned i = 0; i < c->n_ends && r == CUDA_SUCCESS; i++) guest_handles_end(c->handles, c->ends[i]);
  return r;
}
