/* A call of a program on a simulated CPU, under way: its arguments, and their copies here (cuda/guest/cuda_guest.h). */
#ifndef WS_CUDA_GUEST_GUEST_CALL_H
#define WS_CUDA_GUEST_GUEST_CALL_H

#include <setjmp.h>

#include "base/arena.h"
#include "cuda/core/api.h"
#include "cuda/guest/guest_handles.h"
#include "host/linux/linux_process.h"

struct shim;
struct thread;

enum { GUEST_ARGUMENTS = 16, GUEST_COPIES = 16, GUEST_TEXT_MAX = 1 << 20, GUEST_IMAGE_MAX = 1 << 30 };

/* What a call waits for. */
enum guest_wait { GUEST_NOW, GUEST_DEVICE, GUEST_LEGACY, GUEST_STREAM, GUEST_EVENT };

/* Bytes of the program that the interface sees, and gives back. */
struct guest_copy {
  uint64_t addr;
  void *here;
  size_t bytes;                 /* 0: a handle, which goes back as a number of this kind */
  enum guest_handle kind;
};

/* A __managed__ variable: the program has a pointer to it, which is set when its code is loaded. */
struct guest_managed {
  struct guest_managed *next;
  void **binary;
  uint64_t pointer;
  uint64_t addr, bytes; /* where it is; 0: not loaded yet */
};

/* Functions of the program that streams have come to; a thread of its library calls them (tools/riscv). */
struct guest_functions {
  struct task **due;
  uint32_t n, room;
  struct task *called;        /* it is under way; NULL: none is */
  uint32_t caller;            /* number of the thread that sleeps until one is due; 0: there is no such thread yet */
};

/* A thread of the program. */
struct guest_thread {
  struct guest_thread *next;
  uint32_t tid;
  struct thread *state;    /* its own of the shim; NULL: none yet */
  struct command *waits;   /* held: what its call waits for; NULL: nothing */
};

struct guest_call {
  struct shim *shim;
  struct guest_handles *handles;
  struct linux_process *process;
  struct guest_thread *thread;
  struct guest_managed **managed; /* all of them */
  struct guest_functions *functions;
  bool in_time;                   /* the process's cores are: no call lets time pass */
  const char *name;
  uint64_t a[GUEST_ARGUMENTS];
  struct arena scratch, *keep; /* for the call; for as long as the program runs */
  struct guest_copy copy[GUEST_COPIES];
  unsigned n_copies;
  unsigned n_ends; /* handles that are gone when the call succeeds */
  uint64_t ends[2];
  /* The way out of an argument that cannot be used. */
  jmp_buf out;
  int64_t result;             /* LINUX_FAULTS, or a code */
  uint64_t fault;
  enum rv64_access access;
};

/* An entry point as the program calls it. */
struct guest_entry {
  const char *name;
  int64_t (*serve)(struct guest_call *);
  enum guest_wait wait;
  unsigned which; /* the argument that is the stream or the event */
};

extern const struct guest_entry guest_entries[];
extern const unsigned n_guest_entries;

/* For argument number i; none returns when it cannot be used. NULL of the program is NULL. */
void *guest_out(struct guest_call *, unsigned i, size_t bytes);      /* the program's bytes, which go back */
const void *guest_in(struct guest_call *, unsigned i, size_t bytes); /* which do not */
const char *guest_text(struct guest_call *, unsigned i);
char *guest_text_out(struct guest_call *, unsigned i, unsigned size); /* argument `size` says how much room there is */
void *guest_handle(struct guest_call *, unsigned i, enum guest_handle kind);
void *guest_handle_end(struct guest_call *, unsigned i, enum guest_handle kind); /* gone when the call succeeds */
void *guest_handle_out(struct guest_call *, unsigned i, enum guest_handle kind);
const void *guest_function(struct guest_call *, unsigned i); /* a kernel's host function, or a handle of a kernel */
dim3 guest_dim(const struct guest_call *, unsigned i);
void **guest_params(struct guest_call *, unsigned i, unsigned function); /* of the kernel that argument names */
const cudaLaunchConfig_t *guest_config(struct guest_call *, unsigned i);
const cudaMemcpy3DParms *guest_copy_3d(struct guest_call *, unsigned i);
const cudaResourceDesc *guest_resource(struct guest_call *, unsigned i);

/* Bytes anywhere in the program's memory, copied here, or the way out. */
void *guest_fetch(struct guest_call *, uint64_t addr, size_t bytes);
char *guest_fetch_text(struct guest_call *, uint64_t addr);
_Noreturn void guest_refuse(struct guest_call *, CUresult);
_Noreturn void guest_fault(struct guest_call *, uint64_t addr, enum rv64_access);

/* Gives back what the interface has changed. A result that is no error. */
int64_t guest_done(struct guest_call *, CUresult);

#endif
