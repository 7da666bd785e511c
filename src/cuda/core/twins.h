/* What the rows of twins.def need, wherever functions are made of them. */
#ifndef WS_CUDA_TWINS_H
#define WS_CUDA_TWINS_H

#include "cuda/core/advice.h"
#include "cuda/core/attributes.h"
#include "cuda/core/call.h"
#include "cuda/core/context_limit.h"
#include "cuda/core/enqueue.h"
#include "cuda/core/graph_node.h"
#include "cuda/core/ipc.h"
#include "cuda/core/library.h"
#include "cuda/core/notify.h"
#include "cuda/core/peer_access.h"
#include "cuda/core/peer_copy.h"
#include "cuda/core/residency.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/synchronize.h"

#define UNUSED    __attribute__((unused))
#define NUMBER(p) ((uint64_t)(uintptr_t)(p))

#endif
