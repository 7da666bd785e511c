/* Entry points of the runtime as earlier versions of CUDA had them. */
#ifndef WS_CUDA_RUNTIME_EARLIER_H
#define WS_CUDA_RUNTIME_EARLIER_H

/* The version of a runtime that a program was made with. */
enum cudart { CUDART_11, CUDART_12, CUDART_13 };

/* What such a program gets under this name; NULL: what all get. */
void (*runtime_earlier(const char *name, enum cudart))(void);

#endif
