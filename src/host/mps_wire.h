/* What clients of the Multi-Process Service and its server say to each other (mps_link.h, mps_server.h): a head, then
 * what it announces, over a stream socket. Both ends are of one build, on one machine, so structures travel as they
 * are; a pointer in them means nothing, but those that the receiver gives back to who sent them.
 */
#ifndef WS_HOST_MPS_WIRE_H
#define WS_HOST_MPS_WIRE_H

#include <stdatomic.h>

#include "func/device_call.h"
#include "host/live_gpu.h"
#include "host/mps_part.h"
#include "host/sm_stays.h"
#include "host/usage.h"
#include "load/code_copy.h"
#include "time/uvm/uvm_machine.h"

enum { MPS_NAME = 48 };
enum { MPS_PROCESSES = 4 * MPS_CLIENTS }; /* that may ask to be let in */

/* A page that all map. */
struct mps_page {
  _Atomic uint64_t time;  /* ps: the GPU has come to it */
  _Atomic uint64_t taken; /* bytes of the GPU's memory that clients have, */
  _Atomic uint64_t of_client[MPS_CLIENTS]; /* each of them */
  _Atomic uint32_t process[MPS_CLIENTS];   /* its number; 0: there is no such client */
  _Atomic uint32_t fault; /* enum fault_kind: of a client, which ends the work of all */
};

enum mps_kind {
  MPS_JOIN,      /* struct mps_join; answered by mps_welcome */
  MPS_MEMORY,    /* struct mps_memory: the image, once */
  MPS_ALLOCATED, /* struct mps_allocated: there */
  MPS_RELEASED,  /* uint64_t, where it began */
  MPS_SHOWN,     /* struct mps_shown: host memory in the image; answered by a uint32_t, 1: it is there */
  MPS_PLACED,    /* struct mps_placed */
  MPS_CODE,      /* uint64_t, its number, then load/code_copy.h */
  MPS_OPEN,      /* struct mps_open, banks, name, struct tex_object[n_textures] */
  MPS_COPY,      /* struct live_copy */
  MPS_RUN,       /* uint64_t: time may pass until then, ps; answered by mps_answer */
  MPS_PAUSE,     /* nothing: the answer is wanted now */
  MPS_PREFETCH,  /* struct live_prefetch */
  MPS_MANAGED,   /* struct uvm_op; answered by mps_managed */
  MPS_THREAD,    /* struct mps_thread_op, its bytes: while it has a question; answered by a uint64_t */
  MPS_REPLY,     /* struct mps_reply: to its question */
  MPS__N
};

struct mps_head {
  uint32_t kind, bytes;
};

struct mps_join {
  uint64_t build; /* mps_build */
  uint32_t sms;   /* that it may use at once; 0: all */
  bool below;     /* CUDA_MPS_CLIENT_PRIORITY is below normal */
};

enum mps_status { MPS_JOINED, MPS_TOO_MANY, MPS_NOT_READY, MPS_OTHER_BUILD };

struct mps_welcome {
  uint32_t status; /* enum mps_status */
  uint32_t slot;   /* 0 to MPS_CLIENTS - 1 */
  uint32_t number; /* of clients that were let in before */
  struct core_set sms; /* of those that asked for some */
};

struct mps_memory {
  int32_t file; /* the client's descriptor: gmem_back's */
  uint32_t page_bits;
};

struct mps_allocated {
  uint64_t addr, bytes;
  char name[MPS_NAME];
};

struct mps_shown {
  uint64_t addr, bytes, offset;
  int32_t file; /* the client's descriptor */
  char name[MPS_NAME];
};

struct mps_placed {
  uint64_t addr, bytes;
  bool at_host; /* else nowhere */
};

struct mps_open {
  struct func_params p; /* its pointers follow by value */
  uint64_t code;        /* id */
  uint64_t heap, heap_bytes;
  struct access_window window;
  struct core_set cores;
  uint64_t start_ps, who;
  uint32_t n_textures, name_bytes;
  int32_t priority;
  uint8_t shared_share;
  bool some_cores, gang, beside, prepared;
};

/* A thread of a kernel has called the device runtime, which is the client's (func/device_call.h). It comes in the
 * place of an answer, while the client waits for one, in the midst of a window; what it says to that is heard before
 * the window goes on. */
enum { MPS_QUESTION = LIVE_ASKED + 1 }; /* in mps_answer.stop; struct mps_question comes behind it */

struct mps_question {
  uint64_t who; /* of the launch */
  struct device_call call; /* without pointers */
  uint16_t last_error;
};

enum mps_thread_kind { MPS_THREAD_WRITE, MPS_THREAD_TAKE, MPS_THREAD_GIVE };
enum { MPS_THREAD_BYTES = 4096 }; /* that one call writes at most */

struct mps_thread_op {
  uint32_t kind, bytes; /* bytes: that are written */
  uint64_t value;       /* an address, a size */
};

struct mps_reply {
  uint64_t result;
  uint16_t last_error;
  bool pause; /* the answer is wanted behind this window */
};

struct mps_answer {
  uint32_t stop; /* enum live_stop, MPS_QUESTION */
  uint64_t now, ctas_done;
  uint64_t heap; /* of the client's, where it begins, if a kernel has asked for a block of it; else 0 */
  uint32_t n_ends, print_bytes; /* n_ends times struct mps_end and what it counted, then what kernels have printed */
  uint32_t managed;             /* … then struct mps_managed */
};

/* Of managed memory of the client, then n_blocks times struct mps_block: those that have changed. Counts are of all
 * clients. */
struct mps_managed {
  struct uvm_host_fault fault;
  uint64_t room;
  struct uvm_stats stats;
  uint64_t n_blocks;
};

struct mps_block {
  uint64_t addr;
  struct page_set host, there;
};

/* Behind it: of a launch that was alone in its run its counters (gpu_count_report), its books (gpu_books) and its
 * points (usage.h); what SMs say of a launch (sm_stays.h). */
struct mps_end {
  struct live_end end; /* its result without pointers */
  char limiter[32];
  uint64_t count_bytes, book_bytes; /* 0: none */
  uint64_t n_insts, n_points;
  uint32_t n_stays, n_states;
  uint64_t lost; /* of them */
};

static inline uint64_t mps_counted_bytes(const struct mps_end *e)
{
  return e->count_bytes + e->book_bytes + e->n_points * sizeof(struct usage_point);
}

/* Of two ends that do not understand each other it differs. */
static inline uint64_t mps_build(void)
{
  const uint64_t size[] = {code_copy_build(), sizeof(struct mps_open), sizeof(struct live_copy),
                           sizeof(struct mps_end), sizeof(struct sm_stay), sizeof(struct sm_state),
                           sizeof(struct mps_question), sizeof(struct mps_reply), sizeof(struct uvm_op),
                           sizeof(struct mps_managed)};
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned i = 0; i < sizeof size / sizeof *size; i++) hash = (hash ^ size[i]) * 0x100000001b3u;
  return hash;
}

#endif
