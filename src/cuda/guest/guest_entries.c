/* The table of entry points, made of guest_calls.def: their declarations, then a function for each that takes its
 * arguments from where the program has them. */
#include "cuda/core/attributes.h"
#include "cuda/guest/guest_call.h"
#include "cuda/guest/guest_own.h"

/* What they are */
#define V(i, T)        T
#define A(i, T)        T
#define OUT(i, T)      T *
#define IN(i, T)       const T *
#define BY_VALUE(i, T) T
#define DIM(i)         dim3
#define TEXT(i)        const char *
#define TEXT_OUT(i, n) char *
#define H(i, T)        T
#define HEND(i, T)     T
#define HOUT(i, T)     T *
#define FUNC(i)        const void *
#define PARAMS(i, f)   void **
#define CONFIG(i)      const cudaLaunchConfig_t *
#define COPY_3D(i)     const cudaMemcpy3DParms *
#define RESOURCE(i)    const cudaResourceDesc *
#define CALL(waits, name, ...) CUresult name(__VA_ARGS__);
#define CALL_0(waits, name)    CUresult name(void);
#define OWN(name)
#include "cuda/guest/guest_calls.def"
#undef V
#undef A
#undef OUT
#undef IN
#undef BY_VALUE
#undef DIM
#undef TEXT
#undef TEXT_OUT
#undef H
#undef HEND
#undef HOUT
#undef FUNC
#undef PARAMS
#undef CONFIG
#undef COPY_3D
#undef RESOURCE
#undef CALL
#undef CALL_0
#undef OWN

/* Where their arguments come from */
#define V(i, T)        (T)c->a[i]
#define A(i, T)        (T)(uintptr_t)c->a[i]
#define OUT(i, T)      guest_out(c, i, sizeof(T))
#define IN(i, T)       guest_in(c, i, sizeof(T))
#define BY_VALUE(i, T) *(const T *)guest_fetch(c, c->a[i], sizeof(T))
#define DIM(i)         guest_dim(c, i)
#define TEXT(i)        guest_text(c, i)
#define TEXT_OUT(i, n) guest_text_out(c, i, n)
#define H(i, T)        guest_handle(c, i, GUEST_##T)
#define HEND(i, T)     guest_handle_end(c, i, GUEST_##T)
#define HOUT(i, T)     guest_handle_out(c, i, GUEST_##T)
#define FUNC(i)        guest_function(c, i)
#define PARAMS(i, f)   guest_params(c, i, f)
#define CONFIG(i)      guest_config(c, i)
#define COPY_3D(i)     guest_copy_3d(c, i)
#define RESOURCE(i)    guest_resource(c, i)
#define CALL(waits, name, ...)                      \
  static int64_t serve_##name(struct guest_call *c) \
  {                                                 \
    return guest_done(c, name(__VA_ARGS__));        \
  }
#define CALL_0(waits, name) CALL(waits, name)
#define OWN(name)
#include "cuda/guest/guest_calls.def"
#undef CALL
#undef CALL_0
#undef OWN

/* The table */
#define NOW          GUEST_NOW, 0
#define DEVICE       GUEST_DEVICE, 0
#define LEGACY       GUEST_LEGACY, 0
#define STREAM_AT(i) GUEST_STREAM, i
#define EVENT_AT(i)  GUEST_EVENT, i
#define ROW(name, serve, ...)  {name, serve, __VA_ARGS__}
const struct guest_entry guest_entries[] = {
#define CALL(waits, name, ...) ROW(#name, serve_##name, waits),
#define CALL_0(waits, name)    ROW(#name, serve_##name, waits),
#define OWN(name)              ROW(#name, guest_own_##name, NOW),
#include "cuda/guest/guest_calls.def"
};

const unsigned n_guest_entries = sizeof guest_entries / sizeof guest_entries[0];
