/* Functions that CUDA 11, 12 and 13 have under the same name in other forms, as a program of CUDART (11, 12, 13) calls them, with
 * prototypes and sizes of that version's headers (11.8, 12.9, 13.0), linked with the library of that version. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("%s:%d: CUDA %d: %s\n", __FILE__, __LINE__, CUDART, #condition);                      \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

typedef void *graph, *exec, *node, *stream;
enum { WORDS = 64, CANARY = 0x5a, CAPTURING = 1, TO_HOST = 2, MEMSET_NODE = 2, LINEAR = 2, INVALID_VALUE = 1 };

struct fill {
  void *dst;
  size_t pitch;
  unsigned value, size;
  size_t width, height;
};
struct any_node { /* cudaGraphNodeParams */
  int type, reserved[3];
  union {
    long long words[29];
    struct fill fill;
  } of;
  long long reserved_end;
};

int cudaMalloc(void **, size_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaStreamCreate(stream *);
int cudaStreamSynchronize(stream);
int cudaStreamBeginCapture(stream, int);
int cudaStreamEndCapture(stream, graph *);
int cudaMemsetAsync(void *, int, size_t, stream);
int cudaGraphCreate(graph *, unsigned);
int cudaGraphAddMemsetNode(node *, graph, const node *, size_t, const struct fill *);
int cudaGraphLaunch(exec, stream);
int cudaGetTextureObjectResourceDesc(void *, unsigned long long);
int cudaGetTextureObjectTextureDesc(void *, unsigned long long);
int cudaCreateTextureObject(unsigned long long *, const void *, const void *, const void *);
int cudaGetDeviceProperties(void *, int);
int cudaRuntimeGetVersion(int *);
#if CUDART == 13
enum { PROPERTIES = 1008, RESOURCE = 144, TEXTURE = 72 };
int cudaGraphAddDependencies(graph, const node *, const node *, const void *, size_t);
int cudaGraphRemoveDependencies(graph, const node *, const node *, const void *, size_t);
int cudaGraphGetEdges(graph, node *, node *, void *, size_t *);
int cudaGraphNodeGetDependencies(node, node *, void *, size_t *);
int cudaGraphNodeGetDependentNodes(node, node *, void *, size_t *);
int cudaStreamUpdateCaptureDependencies(stream, node *, const void *, size_t, unsigned);
int cudaStreamGetCaptureInfo(stream, int *, unsigned long long *, graph *, const node **, const void **, size_t *);
#define EDGES(...) __VA_ARGS__, NULL
#else
enum { PROPERTIES = CUDART == 11 ? 728 : 1032, RESOURCE = 64, TEXTURE = CUDART == 11 ? 68 : 72 };
int cudaGraphAddDependencies(graph, const node *, const node *, size_t);
int cudaGraphRemoveDependencies(graph, const node *, const node *, size_t);
int cudaGraphGetEdges(graph, node *, node *, size_t *);
int cudaGraphNodeGetDependencies(node, node *, size_t *);
int cudaGraphNodeGetDependentNodes(node, node *, size_t *);
int cudaStreamUpdateCaptureDependencies(stream, node *, size_t, unsigned);
int cudaStreamGetCaptureInfo(stream, int *, unsigned long long *);
int cudaStreamGetCaptureInfo_v2(stream, int *, unsigned long long *, graph *, const node **, size_t *);
#define EDGES(...) __VA_ARGS__
#endif
#if CUDART == 11
int cudaGraphInstantiate(exec *, graph, node *, char *, size_t);
int cudaGraphExecUpdate(exec, graph, node *, int *);
#else
struct update {
  int result;
  node failed, from;
};
int cudaGraphInstantiate(exec *, graph, unsigned long long);
int cudaGraphExecUpdate(exec, graph, struct update *);
#endif
#if CUDART == 12
int cudaGetDeviceProperties_v2(void *, int);
int cudaGraphAddNode(node *, graph, const node *, size_t, struct any_node *);
int cudaGraphAddDependencies_v2(graph, const node *, const node *, const void *, size_t);
int cudaGraphGetEdges_v2(graph, node *, node *, void *, size_t *);
int cudaEventElapsedTime_v2(float *, void *, void *);
#elif CUDART == 13
int cudaGraphAddNode(node *, graph, const node *, const void *, size_t, struct any_node *);
#endif
#if CUDART < 13
int cudaThreadSynchronize(void);
#endif

static unsigned *memory;

static void add_fill(node *out, graph g, unsigned value)
{
  const struct fill f = {memory, 0, value, 4, WORDS, 1};
#if CUDART > 11
  struct any_node p = {MEMSET_NODE, {0}, {{0}}, 0};
  p.of.fill = f;
  CHECK(cudaGraphAddNode(out, g, EDGES(NULL), 0, &p) == 0);
#else
  CHECK(cudaGraphAddMemsetNode(out, g, NULL, 0, &f) == 0);
#endif
}

static unsigned word(void)
{
  unsigned w;
  CHECK(cudaMemcpy(&w, memory + WORDS - 1, sizeof w, TO_HOST) == 0);
  return w;
}

/* Fills of the same memory, in the order of the only edge. */
static graph two_fills(node n[2])
{
  graph g;
  node from, to;
  size_t count = 0;
  CHECK(cudaGraphCreate(&g, 0) == 0);
  add_fill(&n[0], g, 0x11111111), add_fill(&n[1], g, 0x22222222);
  CHECK(cudaGraphAddDependencies(g, &n[1], EDGES(&n[0]), 1) == 0);
  CHECK(cudaGraphGetEdges(g, NULL, EDGES(NULL), &count) == 0 && count == 1);
  CHECK(cudaGraphGetEdges(g, &from, EDGES(&to), &count) == 0 && from == n[1] && to == n[0]);
  CHECK(cudaGraphNodeGetDependencies(n[0], EDGES(&from), &count) == 0 && count == 1 && from == n[1]);
  CHECK(cudaGraphNodeGetDependentNodes(n[1], EDGES(&to), &count) == 0 && count == 1 && to == n[0]);
  CHECK(cudaGraphRemoveDependencies(g, &n[1], EDGES(&n[0]), 1) == 0);
  CHECK(cudaGraphGetEdges(g, NULL, EDGES(NULL), &count) == 0 && count == 0);
#if CUDART == 12
  CHECK(cudaGraphAddDependencies_v2(g, &n[0], &n[1], NULL, 1) == 0);
  CHECK(cudaGraphGetEdges_v2(g, &from, &to, NULL, &count) == 0 && count == 0);
#else
  CHECK(cudaGraphAddDependencies(g, &n[0], EDGES(&n[1]), 1) == 0);
#endif
  return g;
}

static void graphs(void)
{
  node n[2], failed = &failed;
  graph g = two_fills(n);
  exec x;
#if CUDART == 11
  char text[8] = "text";
  int result = -1;
  CHECK(cudaGraphInstantiate(&x, g, &failed, text, sizeof text) == 0 && failed == NULL && text[0] == '\0');
  CHECK(cudaGraphExecUpdate(x, g, &failed, &result) == 0 && failed == NULL && result == 0);
#else
  struct update info = {-1, failed, failed};
  CHECK(cudaGraphInstantiate(&x, g, 0) == 0);
  CHECK(cudaGraphExecUpdate(x, g, &info) == 0 && info.result == 0 && info.failed == NULL);
#endif
  CHECK(cudaGraphLaunch(x, NULL) == 0 && cudaStreamSynchronize(NULL) == 0);
  CHECK(word() == 0x22222222);
#if CUDART < 13
  CHECK(cudaThreadSynchronize() == 0);
#endif
}

static void capture(void)
{
  stream s;
  graph g, seen = NULL;
  const node *deps = NULL;
  size_t n = 0;
  int status = -1;
  unsigned long long id = 0;
  CHECK(cudaStreamCreate(&s) == 0 && cudaStreamBeginCapture(s, 0) == 0);
  CHECK(cudaMemsetAsync(memory, 1, WORDS, s) == 0);
#if CUDART == 13
  CHECK(cudaStreamGetCaptureInfo(s, &status, &id, &seen, &deps, NULL, &n) == 0 && status == CAPTURING);
#else
  CHECK(cudaStreamGetCaptureInfo(s, &status, &id) == 0 && status == CAPTURING && id);
  CHECK(cudaStreamGetCaptureInfo_v2(s, &status, &id, &seen, &deps, &n) == 0 && status == CAPTURING);
#endif
  CHECK(seen && n == 1 && deps);
  CHECK(cudaStreamUpdateCaptureDependencies(s, EDGES(NULL), 0, 1) == 0); /* set: to none */
#if CUDART == 13
  CHECK(cudaStreamGetCaptureInfo(s, &status, &id, &seen, &deps, NULL, &n) == 0 && n == 0);
#else
  CHECK(cudaStreamGetCaptureInfo_v2(s, &status, &id, &seen, &deps, &n) == 0 && n == 0);
#endif
  cudaStreamEndCapture(s, &g);
}

/* What is written ends where the structure of that version ends. */
static void sizes(void)
{
  unsigned char got[2048], resource[256] = {0}, texture[256] = {0};
  unsigned long long object;
  const size_t bytes = WORDS * sizeof *memory;
  memset(got, CANARY, sizeof got);
#if CUDART == 12
  CHECK(cudaGetDeviceProperties(got, 0) == 0 && got[728] == CANARY); /* the form of 11 keeps its name */
  memset(got, CANARY, sizeof got);
  CHECK(cudaGetDeviceProperties_v2(got, 0) == 0);
#else
  CHECK(cudaGetDeviceProperties(got, 0) == 0);
#endif
  CHECK(memcmp(got, "NVIDIA GeForce RTX 3070", 23) == 0 && got[PROPERTIES - 1] == 0 && got[PROPERTIES] == CANARY);
  /* of linear memory, unsigned words: type, then the union: address, format {x, y, z, w, kind}, bytes */
  const int type = LINEAR, format[5] = {32, 0, 0, 0, 1}, read_mode = 0;
  memcpy(resource, &type, sizeof type), memcpy(resource + 8, &memory, sizeof memory);
  memcpy(resource + 16, format, sizeof format), memcpy(resource + 40, &bytes, sizeof bytes);
  memcpy(texture + 16, &read_mode, sizeof read_mode);
  memset(texture + TEXTURE, 0xff, sizeof texture - TEXTURE), memset(resource + RESOURCE, 0xff, sizeof resource - RESOURCE);
  CHECK(cudaCreateTextureObject(&object, resource, texture, NULL) == 0);
  memset(got, CANARY, sizeof got);
  CHECK(cudaGetTextureObjectResourceDesc(got, object) == 0);
  CHECK(memcmp(got, resource, sizeof type) == 0 && memcmp(got + 8, resource + 8, 40) == 0 && got[RESOURCE] == CANARY);
  memset(got, CANARY, sizeof got);
  CHECK(cudaGetTextureObjectTextureDesc(got, object) == 0);
  CHECK(memcmp(got, texture, TEXTURE) == 0 && got[TEXTURE] == CANARY);
}

/* A library that is asked for a name gives its own form, too. */
static void by_name(void)
{
  static const char *const library = CUDART == 11 ? "libcudart.so.11.0" : CUDART == 12 ? "libcudart.so.12" : "libcudart.so.13";
  void *lib = dlopen(library, RTLD_NOW);
  CHECK(lib && dlsym(lib, "cudaGraphAddDependencies") == (void *)cudaGraphAddDependencies);
  CHECK(dlsym(lib, "cudaMalloc") == (void *)cudaMalloc);
}

int main(void)
{
  int version;
  by_name();
  CHECK(cudaRuntimeGetVersion(&version) == 0 && version / 1000 == CUDART);
  CHECK(cudaMalloc((void **)&memory, WORDS * sizeof *memory) == 0);
  graphs();
  capture();
  sizes();
  printf("CUDA %d: right\n", CUDART);
}
