#include "time/uvm/uvm_stats.h"

struct uvm_stats uvm_stats_sum(const struct uvm_stats *of, unsigned n)
{
  struct uvm_stats all = {0};
  for (unsigned k = 0; k < n; k++) {
#define X(field, key, what) all.field += of[k].field;
    UVM_STATS(X)
    UVM_PEER_STATS(X)
#undef X
  }
  return all;
}
