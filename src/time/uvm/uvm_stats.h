/* What is counted of managed memory (uvm.h), of each GPU, or of a client of the Multi-Process Service; names in JSON:
 * docs/json.md. */
#ifndef WS_TIME_UVM_UVM_STATS_H
#define WS_TIME_UVM_UVM_STATS_H

#include <stdint.h>

enum { UVM_GPUS = 16 }; /* of a machine, at most */

#define UVM_STATS(X)                                                                               \
  X(faults, "faults", "faults in the GPU's buffer that the driver took")                           \
  X(repeats, "duplicate_faults", "of those, on pages that another one of the batch names")         \
  X(batches, "batches", "batches of faults")                                                       \
  X(to_gpu, "migrated_to_gpu_bytes", "bytes moved to the GPU")                                     \
  X(to_host, "migrated_to_host_bytes", "bytes moved to the host")                                  \
  X(filled, "populated_bytes", "bytes of pages that nobody had touched, made on the GPU")          \
  X(tree, "tree_prefetched_bytes", "bytes moved or made beyond the pages that faulted")            \
  X(asked, "prefetched_bytes", "bytes moved or made because the program asked for it")             \
  X(evictions, "evictions", "blocks that had to make room")                                        \
  X(evicted, "evicted_bytes", "bytes moved to the host for that")                                  \
  X(thrashed, "thrashed_bytes", "bytes that came to the GPU again after they had made room")       \
  X(counted, "access_counter_notifications", "blocks whose accesses at the host were counted to the threshold")  \
  X(copied, "duplicated_bytes", "bytes of pages that came to the GPU and stayed where they were, too")           \
  X(collapsed, "collapsed_bytes", "bytes of such pages that were written")                         \
  X(host_faults, "host_faults", "faults of the host on pages that were on the GPU")                \
  X(mapped, "mapped_bytes", "bytes of pages for which the GPU had no room, reached at the host")                 \
  X(put_off, "put_off_faults", "faults of the GPU that were put off, as their pages thrash")       \
  X(host_put_off, "put_off_host_faults", "faults of the host, on pages of the GPU, that were put off")           \
  X(revoked, "revoked_bytes", "bytes of pages at the host that the GPU may no more write, or no more by atomics")  \
  X(pinned, "pinned_bytes", "bytes of pages that thrash and were pinned in one place, at its fault or one of the host")

/* Between GPUs. */
#define UVM_PEER_STATS(X)                                                                          \
  X(from_peers, "migrated_from_gpus_bytes", "bytes moved to the GPU from another one")             \
  X(staged, "staged_bytes", "bytes moved to the host on the way from one GPU to another")          \
  X(peer_mapped, "peer_mapped_bytes", "bytes of pages that the GPU touched and reaches on another one since then")

struct uvm_stats {
#define X(field, key, what) uint64_t field;
  UVM_STATS(X)
  UVM_PEER_STATS(X)
#undef X
};

/* Of n GPUs. */
struct uvm_stats uvm_stats_sum(const struct uvm_stats *, unsigned n);

#endif
