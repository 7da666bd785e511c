/* Managed memory of a program in time (time/uvm/uvm.h): what the host does to it, and what the program asks for.
 *
 *   who      programs on the timing model, whose GPUs share one clock. Elsewhere (without time, simulated CPUs, a
 *            system that does not say which pages a process has touched) it is host memory that a GPU reaches as its
 *            own
 *   memory   a file of memory that is mapped twice: by the program, and for the simulator, whose own accesses so
 *            leave no trace in the program's mapping
 *   touches  when pages are on the GPU, the program's mapping of them is emptied (the bytes stay). What the program
 *            has touched since is in its page table again, which the system shows (/proc/self/pagemap). It is looked
 *            at when a call begins. By big pages of 64 KiB, as Linux maps neighbours, too
 *   time     the host's faults happen when that call begins, by the host's clock, one behind the other in the order of
 *            addresses; GPUs have come to that time. Each moves the clock by what it takes. For a page that thrashes
 *            (time/uvm/thrashing.h) the host may be put off: it sleeps, and GPUs go on, until it tries again
 */
#ifndef WS_CUDA_MANAGED_H
#define WS_CUDA_MANAGED_H

#include "cuda/core/memory.h"

struct managed;
struct uvm_stats;

/* Whether managed memory of so many bytes that is allocated now moves. */
bool managed_moves(struct shim *, uint64_t bytes);
/* A block whose program mapping has been made, and its end. */
void managed_add(struct shim *, const struct block *);
void managed_remove(struct shim *, const struct block *);
/* A call begins: what the host has touched so far is noted. GPUs must not have gone on since the program's code ran. */
void managed_look(struct shim *);
/* The host's faults on that take their time. 0: there are no more. Else GPUs are to come to the host's time before it
 * is called again, ps: that is now, or, where the host is put off, later. */
uint64_t managed_serve(struct shim *);
/* What passes before the host has a page that it touches and that is on the GPU now, ps; 0: it has it. */
uint64_t managed_fault_ps(const struct shim *, uint64_t addr);
/* A copy or a fill by a GPU meets it. Whether its first page is at the host; else on which GPU it is, NULL: nowhere.
 * Pages in [addr, addr + bytes) that nobody has touched are the GPU's from now on, if it has room. */
bool managed_at_host(const struct shim *, uint64_t addr);
struct board *managed_on(const struct shim *, uint64_t addr);
void managed_written(struct shim *, const struct board *, uint64_t addr, uint64_t bytes);

/* Whether the address is in memory that moves. */
bool managed_has(const struct shim *, uint64_t addr);
/* What the program said of these bytes of a block, whole pages, counts from now on. */
void managed_advise(struct shim *, struct block *, uint64_t first, uint64_t end, const struct advice *);

/* What each of so many GPUs counted, into n of them; 0: none was ever allocated. */
unsigned managed_stats(const struct shim *, struct uvm_stats *, unsigned n);

#endif
