/* Which launches of a program are profiled: -k, --kernel-name-base, --kernel-id, -s, -c and
 * --launch-skip-before-match of Nsight Compute. A launch matches by its kernel's name and by its id; of those that
 * match (or, with skip_before_match, of all) the first `skip` are left out, then `count` are taken.
 */
#ifndef WS_NCU_FILTER_H
#define WS_NCU_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum ncu_name_base { NCU_NAME_FUNCTION, NCU_NAME_DEMANGLED, NCU_NAME_MANGLED };

/* All zeros: any name. */
struct ncu_name_test {
  char *exact; /* owned; NULL: by `re` */
  bool by_regex;
  regex_t re;
};

struct ncu_filter {
  enum ncu_name_base base;
  struct ncu_name_test name, id_name;
  uint64_t id_context, id_stream, id_nth; /* 0: any */
  uint64_t skip, count;                   /* count 0: no end */
  bool skip_before_match;
  uint64_t seen, nth, taken; /* launches that counted for skip; that matched the id; that were profiled */
};

/* Takes an option by its name at Nsight Compute without dashes ("kernel-name"). False with *e filled: a wrong value. */
bool ncu_filter_take(struct ncu_filter *, const char *option, const char *value, struct err *e);
/* Whether it is such an option. */
bool ncu_filter_has(const char *option);
/* Whether the next launch is profiled. To be asked once for each, in their order. */
bool ncu_filter_next(struct ncu_filter *, const char *symbol, uint64_t context, uint64_t stream);
void ncu_filter_free(struct ncu_filter *);

/* The name of a kernel as --kernel-name-base, or --print-kernel-base, says. The caller frees it. */
char *ncu_kernel_name(const char *symbol, enum ncu_name_base);

#endif
