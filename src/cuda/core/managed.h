/* Managed memory of a program in time (time/uvm/uvm.h): what the host does to it, and what the program asks for.
 *
 *   who      programs of one GPU on the timing model. Elsewhere (several GPUs, without time, simulated CPUs, a system
 *            that does not say which pages a process has touched) it is host memory that the GPU reaches as its own
 *   memory   a file of memory that is mapped twice: by the program, and for the simulator, whose own accesses so
 *            leave no trace in the program's mapping
 *   touches  when pages are on the GPU, the program's mapping of them is emptied (the bytes stay). What the program
 *            has touched since is in its page table again, which the system shows (/proc/self/pagemap). It is looked
 *            at when a call begins: the host's faults, and what they take, count as happened just before. By big pages
 *            of 64 KiB, as Linux maps neighbours, too
 */
#ifndef WS_CUDA_MANAGED_H
#define WS_CUDA_MANAGED_H

#include "cuda/core/memory.h"

struct managed;
struct uvm_stats;

/* Whether managed memory that is allocated now moves. */
bool managed_moves(struct shim *);
/* A block whose program mapping has been made, and its end. */
void managed_add(struct shim *, const struct block *);
void managed_remove(struct shim *, const struct block *);
/* A call begins: the host's faults so far have taken their time. */
void managed_look(struct shim *);
/* What passes before the host has a page that it touches and that is on the GPU now, ps; 0: it has it. */
uint64_t managed_fault_ps(const struct shim *, uint64_t addr);
/* A copy or a fill meets it: whether its first page is at the host. Pages in [addr, addr + bytes) that nobody has
 * touched are the GPU's from now on. */
bool managed_at_host(const struct shim *, uint64_t addr);
void managed_written(struct shim *, uint64_t addr, uint64_t bytes);

/* Whether the address is in memory that moves. */
bool managed_has(const struct shim *, uint64_t addr);
/* What the program said of a block counts from now on. */
void managed_advise(struct shim *, struct block *);

/* NULL: none was ever allocated. */
const struct uvm_stats *managed_stats(const struct shim *);

#endif
