/* The entry points of the CUDA driver interface that our libraries call, declared from its reference. They are those of
 * the library beside them (src/cuda), so a library of ours works wherever `warpstep exec` does. Those that need a
 * context get one, when the thread has none (driver.c).
 */
#ifndef WS_LIBS_DRIVER_H
#define WS_LIBS_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef struct driver_stream *driver_stream;
typedef struct driver_kernel *driver_kernel;
typedef struct driver_image *driver_image;
typedef struct driver_graph *driver_graph;
typedef struct driver_graph_node *driver_graph_node;

int cudaFree(void *p);                            /* of 0: the runtime's device gets its context */
int cudaGetDevice(int *device);
int cudaSetDevice(int device);
int cuCtxGetDevice(int *device);
int cuCtxSynchronize(void);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuLibraryLoadData(driver_image *out, const void *code, void *jit_options, void **jit_values, unsigned n_jit,
                      void *options, void **values, unsigned n);
int cuLibraryUnload(driver_image image);
int cuLibraryGetKernel(driver_kernel *out, driver_image image, const char *name);
int cuKernelSetAttribute(int attribute, int value, driver_kernel kernel, int device);
int cuLaunchKernel(driver_kernel kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, driver_stream stream, void **args,
                   void **extra);
int cuMemAlloc_v2(uint64_t *out, size_t bytes);
int cuMemFree_v2(uint64_t at);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, driver_stream stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, driver_stream stream);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, driver_stream stream);
int cuMemsetD32Async(uint64_t at, unsigned value, size_t n, driver_stream stream);
int cuGraphDestroy(driver_graph graph);
int cuGraphGetNodes(driver_graph graph, driver_graph_node *nodes, size_t *n);
int cuGraphKernelNodeGetParams_v2(driver_graph_node node, void *parameters);
int cuGraphKernelNodeSetParams_v2(driver_graph_node node, const void *parameters);
int cuGraphMemcpyNodeGetParams(driver_graph_node node, void *parameters);
int cuGraphMemcpyNodeSetParams(driver_graph_node node, const void *parameters);
int cuGraphMemsetNodeGetParams(driver_graph_node node, void *parameters);
int cuGraphMemsetNodeSetParams(driver_graph_node node, const void *parameters);
int cuGraphNodeGetType(driver_graph_node node, int *type);
int cuStreamBeginCapture_v2(driver_stream stream, int mode);
int cuStreamBeginCaptureToGraph(driver_stream stream, driver_graph graph, const driver_graph_node *behind,
                                const void *edges, size_t n, int mode);
int cuStreamCreate(driver_stream *out, unsigned flags);
int cuStreamDestroy_v2(driver_stream stream);
int cuStreamEndCapture(driver_stream stream, driver_graph *out);
int cuStreamIsCapturing(driver_stream stream, int *status);
int cuStreamSynchronize(driver_stream stream);
int cuThreadExchangeStreamCaptureMode(int *mode);
int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                      int kind, driver_stream stream);
int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind);

enum { DRIVER_OK = 0, DRIVER_COPY_DEFAULT = 4 };
enum { DRIVER_CAPTURE_RELAXED = 2, DRIVER_STREAM_NON_BLOCKING = 1 };
enum { DRIVER_ATTR_SMS = 16, DRIVER_ATTR_MAJOR = 75, DRIVER_ATTR_MINOR = 76 };
enum { DRIVER_KERNEL_SHARED = 8 }; /* bytes of dynamic shared memory that a launch may ask for */

#endif
