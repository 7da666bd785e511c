/* Version of the interfaces that the shims serve. */
#ifndef WS_CUDA_VERSION_H
#define WS_CUDA_VERSION_H

enum { CUDA_API_VERSION = 13000 };

#endif
