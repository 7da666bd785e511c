/* Each client of the Multi-Process Service has a part of the guest addresses for itself, so that one GPU can tell
 * clients apart. Both ends know where it is: the client takes addresses there, the server refuses others. */
#ifndef WS_HOST_MPS_PART_H
#define WS_HOST_MPS_PART_H

#include <stdint.h>

/* Client CUDA contexts per device of a server (NVIDIA, Multi-Process Service, "Client-server Architecture": 48 since
 * Volta). */
enum { MPS_CLIENTS = 48 };

/* Bytes of managed memory of a client that move, in blocks of 2 MiB. */
#define MPS_MANAGED_MOST (UINT64_C(256) << 30)

/* A time that a client names, ps: 53 days, so that sums of them do not overflow. */
#define MPS_TIME_MOST (UINT64_C(1) << 62)

struct mps_part {
  uint64_t first, end;
};

/* Of addresses [first, end), in whole pages; slot: 0 to MPS_CLIENTS - 1. */
static inline struct mps_part mps_part_of_slot(uint64_t first, uint64_t end, uint64_t page, unsigned slot)
{
  const uint64_t part = (end - first) / MPS_CLIENTS / page * page;
  return (struct mps_part){first + slot * part, first + (slot + 1) * part};
}

#endif
