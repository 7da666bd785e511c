/* Which memory of a machine holds a page of an address space. Places change in the machine phase alone
 * (time/machine/machine.h), so that any part may look at them while domains run.
 *
 * Nodes of the machine are GPUs and sockets (config/machine_preset.h). A page that nobody placed belongs to whoever
 * looks.
 */
#ifndef WS_BASE_PLACE_H
#define WS_BASE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* No nodes: the page is managed memory that is not on the GPU, who touches it waits (time/uvm/uvm.h); it is on the GPU
 * and at the host, who writes it waits. */
enum { PLACE_OWN = 0, PLACE_FAULTS = UINT8_MAX, PLACE_READS = UINT8_MAX - 1 };
/* It stands for memory of several nodes (base/multicast.h). */
enum { PLACE_MULTICAST = UINT8_MAX - 2 };
enum { PLACE_PAGE_BITS = 12, PLACE_LEAF_BITS = 30, PLACE_ADDRESS_BITS = 49 };

/* What a node may do to a page at another one: all; all but atomics of system scope, which its link does not have; read
 * it, as another GPU does such atomics there (time/uvm/uvm_space.h). */
enum place_right { RIGHT_ALL, RIGHT_NO_ATOMICS, RIGHT_READS };

struct places {
  /* Of 1 GiB each: a byte per page of 4 KiB, node + 1. NULL: all own. */
  uint8_t *leaf[1 << (PLACE_ADDRESS_BITS - PLACE_LEAF_BITS)];
  uint8_t *whole[UINT8_MAX]; /* those whose pages are all at one node, which many share; NULL: not used yet */
  struct places *first;      /* whose whole leaves these are; itself, but where it was made beside another one */
  const struct places *rights; /* of each page a place_right, as if it were a node; NULL: all. Of whoever keeps them */
};

struct places *places_new(void);
/* Another one, as another GPU sees memory: nothing is placed. What both may have is the first one's, which goes
 * last. */
struct places *places_new_beside(struct places *first);
void places_free(struct places *);
/* The pages of [addr, addr + bytes), both multiples of 4 KiB and below 2^49, are at this node, 0 to 251. -1: own. */
void places_set(struct places *, uint64_t addr, uint64_t bytes, int node);

/* Node + 1 of the page that holds addr; PLACE_OWN: whoever looks. */
static inline unsigned place_of(const struct places *p, uint64_t addr)
{
  const uint8_t *leaf = addr >> PLACE_ADDRESS_BITS ? 0 : p->leaf[addr >> PLACE_LEAF_BITS];
  return leaf ? leaf[(addr & ((UINT64_C(1) << PLACE_LEAF_BITS) - 1)) >> PLACE_PAGE_BITS] : PLACE_OWN;
}

/* Has who looks not the right to this access of a page at another node? */
static inline bool place_refuses(const struct places *p, uint64_t addr, bool writes, bool system_atomic)
{
  if (!writes || !p->rights) return false;
  const unsigned right = place_of(p->rights, addr);
  return right == RIGHT_READS || (right == RIGHT_NO_ATOMICS && system_atomic);
}

/* A node's memory, other than one's own? */
static inline bool place_is_node(unsigned place)
{
  return place != PLACE_OWN && place < PLACE_MULTICAST;
}

#endif
