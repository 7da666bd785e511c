/* What a launch says of the lines of a window of memory: which shall stay in L2, or leave it first (CUDA C++
 * Programming Guide, "L2 Access Properties"). */
#ifndef WS_BASE_ACCESS_WINDOW_H
#define WS_BASE_ACCESS_WINDOW_H

#include <stdint.h>

/* cudaAccessProperty, and that nothing was said. */
enum access_property { ACCESS_NORMAL, ACCESS_STREAMING, ACCESS_PERSISTING, ACCESS_UNSAID };

/* Of so many lines. */
enum { ACCESS_WINDOW_WHOLE = 1 << 24 };

struct access_window {
  uint64_t addr, bytes; /* 0 bytes: none */
  uint32_t hits;        /* of ACCESS_WINDOW_WHOLE lines, those that are hits */
  uint8_t hit, miss;    /* enum access_property of these, and of the others */
};

#endif
