/* What the server of the Multi-Process Service has of one of its clients (mps_server.h): its memory and code, as it
 * says them, and what it has given to the GPU.
 */
#ifndef WS_HOST_MPS_CLIENT_H
#define WS_HOST_MPS_CLIENT_H

#include <sys/types.h>

#include "base/program_memory.h"
#include "host/mps_wire.h"

struct mps_client;
struct mps_mapping;
struct mps_range;
struct simulator;
struct mps_program_code;

struct mps_ended {
  struct mps_end end;
  uint8_t *counted; /* mps_counted_bytes; NULL: none */
  struct sm_stay_list stays;
};

/* Who asks a client what its kernels ask of the device runtime. */
struct mps_asker {
  void *ctx;
  uint64_t (*ask)(void *ctx, struct mps_client *, uint64_t who, const struct device_call *);
};

struct mps_client {
  pid_t process;
  unsigned number;        /* the caller's */
  unsigned page_bits;     /* of its image */
  const struct mps_asker *asker;
  bool in, gone;          /* it was let in; it has ended, its work goes on */
  bool joins, asks, pressed; /* waits to be let in, for an answer; wants it now */
  unsigned slot;
  struct mps_join join;
  struct core_set sms;    /* if join.sms */
  uint64_t until;         /* ps: asks that time passes to there */
  uint32_t n_work;        /* given and not ended */
  struct gmem *image;     /* NULL: none yet */
  struct mps_range *range; /* managed memory of it (mps_managed.h) */
  struct uvm_stats managed; /* what has been counted of it */
  uint32_t n_ranges, room_ranges;
  struct mps_mapping *mapping; /* host memory in it */
  struct mps_program_code *code;
  struct func_heap *heap;
  uint64_t heap_at;
  const struct device_call *call; /* that it was asked about and has not replied to; NULL: none */
  struct mps_reply reply;
  struct mps_ended *ends; /* not told yet */
  uint32_t n_ends, room_ends;
  FILE *print;            /* NULL: nothing was printed */
  char *printed;
  size_t printed_bytes;
};

/* A launch or a copy. */
struct mps_work {
  struct mps_work *next;
  struct mps_client *client;
  void *who; /* the client's */
  uint64_t start, sequence;
  struct live_copy copy;
  struct live_prefetch prefetch; /* bytes: 0: it is none */
  struct mps_launch *launch; /* NULL: it is a copy, or a prefetch */
};

struct mps_client *mps_client_new(unsigned number, pid_t, unsigned page_bits, const struct mps_asker *);
/* `all`: the image of all clients, where nothing of it stays. */
void mps_client_free(struct mps_client *, struct gmem *all);

/* Addresses [addr, addr + bytes) are in one of its parts (mps_part.h). */
bool mps_client_owns(const struct mps_client *, uint64_t addr, uint64_t bytes);

/* Messages. False: nonsense. */
bool mps_client_memory(struct mps_client *, const void *, size_t);
bool mps_client_allocated(struct mps_client *, const void *, size_t, struct gmem *all);
bool mps_client_released(struct mps_client *, const void *, size_t, struct gmem *all);
bool mps_client_show(struct mps_client *, const struct mps_shown *, struct gmem *all); /* false: it is not there */
bool mps_client_placed(const struct mps_client *, struct simulator *, const void *, size_t);
/* Nothing of its part is placed any more. */
void mps_client_unplace(const struct mps_client *, struct simulator *);
bool mps_client_code(struct mps_client *, const void *, size_t);
/* What it says while it is asked. */
bool mps_client_thread(struct mps_client *, const void *, size_t, uint64_t *answer);
bool mps_client_reply(struct mps_client *, const void *, size_t);
/* Work that they announce; NULL: nonsense. */
struct mps_work *mps_client_launch(struct mps_client *, const void *, size_t, const struct params *);
struct mps_work *mps_client_copy(struct mps_client *, unsigned number, const void *, size_t);
struct mps_work *mps_client_prefetch(struct mps_client *, const void *, size_t);

bool mps_work_before(const struct mps_work *, const struct mps_work *);
struct live_launch mps_work_launch(const struct mps_work *, struct gmem *all);
void mps_work_free(struct mps_work *);
/* It has, and is gone; its client will be told, and has the end's stays. usage: of the run, NULL: not asked for. */
void mps_client_ended(struct mps_work *, const struct live_end *, const struct usage *);
/* He has been. */
void mps_client_told(struct mps_client *);

/* What its kernels have printed since mps_client_print_over. */
const char *mps_client_printed(struct mps_client *, uint32_t *bytes);
void mps_client_print_over(struct mps_client *);

/* Bytes of the programs of clients; an address has the client's number above bit 48. The list is the caller's. */
struct program_memory mps_client_program(struct mps_client **list);

#endif
