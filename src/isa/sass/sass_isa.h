/* 128-bit SASS in the words of isa/isa.h; code_view.decoded: struct sass_inst. */
#ifndef WS_ISA_SASS_SASS_ISA_H
#define WS_ISA_SASS_SASS_ISA_H

#include "isa/isa.h"

extern const struct isa sass_isa;
/* Its rules: work.def. */
struct work sass_work(const uint64_t *threads);

#endif
