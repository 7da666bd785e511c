/* What CUPTI is told to follow, and the records that it has made and not yet handed over. One for the process, made
 * when a program first calls CUPTI; the shim's calls are followed (core/tracer.h) as long as anything is enabled.
 *
 * Records are collected here and handed over in the program's buffers when it flushes, or, when there are many, at the
 * end of a call: never with the shim's lock held, since the program's callbacks have locks of their own. One buffer is
 * asked for at the first call that is followed, since programs that were never asked for one do not flush.
 */
#ifndef WS_CUPTI_STATE_H
#define WS_CUPTI_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "cuda/core/shim.h"
#include "cuda/cupti/cupti_types.h"

enum { CALLBACK_IDS = 1024, EXTERNAL_DEPTH = 256 };

/* A function that is told of. */
struct cupti_call {
  const char *function, *name; /* here; in CUPTI */
  int domain;
  uint32_t id;
};

/* The external numbers that a thread has pushed, of one kind. */
struct cupti_stack {
  unsigned n;
  uint64_t id[EXTERNAL_DEPTH];
};

struct cupti_thread {
  struct cupti_stack external[EXTERNAL_KINDS];
};

/* Contexts, streams and modules that their callbacks have told of: those made before this number. */
struct cupti_told {
  uint64_t context, stream;
  uint32_t module;
};

/* One of the program's. */
struct cupti_buffer {
  uint8_t *at; /* NULL: it gave none */
  size_t bytes, most; /* most: records; 0: as many as fit */
};

struct cupti {
  struct tracer tracer;
  pthread_key_t thread; /* its struct cupti_thread */
  atomic_bool enabled[KINDS];
  atomic_bool silent[DOMAINS][CALLBACK_IDS]; /* no records of this call */
  _Atomic uint32_t calls;
  _Atomic(cupti_clock) clock;    /* the program's; NULL: simulated ns */
  _Atomic double ticks_per_ns;   /* of it */
  _Atomic uint64_t followed; /* kinds and callbacks that are enabled; 0: nothing is followed */

  atomic_bool failed_syncs; /* records of synchronisation that failed, too */
  struct cupti_told told;   /* under the shim's lock */

  /* Callbacks */
  atomic_bool wanted[DOMAINS][CALLBACK_IDS];
  cupti_callback callback;
  void *user;
  bool subscribed;

  /* Records; under `lock`, which is taken inside of the shim's, or alone */
  pthread_mutex_t lock;
  uint8_t *record;
  size_t bytes, room;
  struct cupti_name *names; /* of kernels; kept, since records point to them */
  cupti_buffer_wanted buffer_wanted;
  cupti_buffer_full buffer_full;
  struct cupti_buffer first; /* asked for ahead */
  bool asked;
  size_t dropped;
};

/* The process's. */
struct cupti *cupti_get(void);
struct cupti_thread *cupti_thread(struct cupti *);
/* Counts one more, or one fewer, of what is enabled. */
void cupti_follow(struct cupti *, bool more);

/* NULL: it is not told of. By the function's name here, or by its number. */
const struct cupti_call *cupti_find_call(const char *function);
const struct cupti_call *cupti_call_of(int domain, uint32_t id);

/* Records (cupti_records.c). */
void cupti_keep(struct cupti *, const void *record, size_t bytes);
const char *cupti_keep_name(struct cupti *, const char *);
size_t cupti_record_bytes(int kind); /* 0: there are none of this kind */
void cupti_ask_ahead(struct cupti *);
void cupti_hand_over(struct cupti *);

void cupti_tracer_init(struct cupti *);
/* A simulated moment of what a call gave, in ns or on the program's clock. */
uint64_t cupti_when(struct cupti *, const struct call_mark *, uint64_t ps);
/* Calls the subscriber, if it wants this callback. Without a lock. */
void cupti_call_back(struct cupti *, int domain, uint32_t id, const void *data);

/* Resources and synchronisation (cupti_resource.c). Without a lock. */
bool cupti_resource_comes(int domain, uint32_t id);
/* From now on: what there is already is not told of. */
void cupti_resource_begin(struct cupti *);
void cupti_resource_enter(struct cupti *, const struct traced_call *);
void cupti_resource_leave(struct cupti *, const struct traced_call *, CUresult);

/* Says once that it is not there. */
cupti_result cupti_refuse(const char *what);

#endif
