// The interface of CUDA 13.1 to parts of a GPU: groups of SMs of different sizes, the runtime's execution contexts. Found by
// name: older toolkits do not declare it. Groups are as the driver's documentation says (CUDA Driver API, Green Contexts).
#include <dlfcn.h>

#include "green.h"

struct resource {
  int type;
  unsigned char own[92];
  union {
    struct {
      unsigned count, least, alignment, flags;
    } sm;
    struct {
      int device;
      unsigned concurrency;
      int scope;
    } queues;
    unsigned char room[40];
  };
  resource *next;
};

struct group_params {
  unsigned count, coscheduled, preferred, flags, reserved[12];
};

typedef struct execution_context *context;
typedef struct description *descriptor;

enum { SM = 1, QUEUES = 1000, BACKFILL = 1 };
enum { INVALID_VALUE = 1, BAD_TYPE = 914, BAD_CONFIGURATION = 915 };

#define FUNCTION(result, name, ...)                              \
  template <class... T> static result name(T... t)               \
  {                                                              \
    static result (*f)(__VA_ARGS__);                             \
    if (!f) *(void **)&f = dlsym(RTLD_DEFAULT, "cuda" #name);    \
    check(f, "no cuda" #name);                                   \
    return f(t...);                                              \
  }
FUNCTION(cudaError_t, DeviceGetDevResource, int, resource *, int)
FUNCTION(cudaError_t, DevSmResourceSplitByCount, resource *, unsigned *, const resource *, resource *, unsigned, unsigned)
FUNCTION(cudaError_t, DevSmResourceSplit, resource *, unsigned, const resource *, resource *, unsigned, group_params *)
FUNCTION(cudaError_t, DevResourceGenerateDesc, descriptor *, resource *, unsigned)
FUNCTION(cudaError_t, GreenCtxCreate, context *, descriptor, int, unsigned)
FUNCTION(cudaError_t, ExecutionCtxDestroy, context)
FUNCTION(cudaError_t, ExecutionCtxGetDevResource, context, resource *, int)
FUNCTION(cudaError_t, ExecutionCtxGetDevice, int *, context)
FUNCTION(cudaError_t, ExecutionCtxGetId, context, unsigned long long *)
FUNCTION(cudaError_t, ExecutionCtxStreamCreate, cudaStream_t *, context, unsigned, int)
FUNCTION(cudaError_t, ExecutionCtxSynchronize, context)
FUNCTION(cudaError_t, ExecutionCtxRecordEvent, context, cudaEvent_t)
FUNCTION(cudaError_t, ExecutionCtxWaitEvent, context, cudaEvent_t)
FUNCTION(cudaError_t, DeviceGetExecutionCtx, context *, int)
FUNCTION(cudaError_t, StreamGetDevResource, cudaStream_t, resource *, int)

static resource whole, none;
static unsigned sms, *sm, room;
static bool clusters; // compute capability 9.0 and later

static resource *null()
{
  return NULL;
}

static cudaError_t split(resource *result, unsigned n, resource *rest, group_params *p)
{
  return DevSmResourceSplit(result, n, (const resource *)&whole, rest, 0u, p);
}

static void counts()
{
  resource r[3], rest;
  group_params ten = {10, 2}, any = {}, two[2] = {{8}, {16}};
  CUDA(split(r, 1, &rest, &ten)); // the documentation's second example
  check(r[0].sm.count == 10 && r[0].sm.alignment == 2 && rest.sm.count == sms - 10 && !r[0].next, "10 SMs and the rest");
  CUDA(split(null(), 1, null(), &any)); // its first: how many there are in groups of the default size
  check(any.count > sms / 2 && any.count <= sms && any.count % (clusters ? 8 : 2) == 0, "a count is found");
  if (!clusters) check(any.count == sms, "all SMs make pairs");
  CUDA(split(r, 2, &rest, two));
  check(r[0].sm.count == 8 && r[1].sm.count == 16 && rest.sm.count == sms - 24, "groups of two sizes");
  group_params rest_too[2] = {{8, 2}, {0, 2, 0, BACKFILL}}; // its third
  CUDA(split(r, 2, &rest, rest_too));
  check(r[0].sm.count == 8 && rest_too[1].count == sms - 8 && r[1].sm.count == sms - 8, "a second group has all others");
  check(r[1].sm.flags == BACKFILL && rest.type == 0, "and nothing is left");
  group_params full[2] = {{sms, 2}, {0, 2}};
  CUDA(split(null(), 2, null(), full));
  check(full[1].count == 0, "a count that is found may be none");
  check(split(r, 2, &rest, full) == BAD_CONFIGURATION, "a group of none is none");
}

static void refusals()
{
  resource r[2], rest;
  group_params odd = {7, 2}, many = {sms + 2, 2}, wide = {32, clusters ? 64u : 4u}, flags = {8, 2, 0, 4}, words = {8, 2};
  words.reserved[5] = 1;
  for (group_params *p : {&odd, &many, &wide, &flags, &words})
    check(split(r, 1, &rest, p) == INVALID_VALUE, "such a group is refused");
  group_params uneven = {12, 8}, good = {8};
  if (clusters) check(split(r, 1, &rest, &uneven) == INVALID_VALUE, "no multiple of its pieces");
  check(split(r, 0, &rest, &good) == INVALID_VALUE && split(r, 1, &rest, NULL) == INVALID_VALUE, "no groups");
  check(DevSmResourceSplit(r, 1u, (const resource *)&whole, &rest, 1u, &good) == INVALID_VALUE, "flags of the call");
  check(DevSmResourceSplit(r, 1u, (const resource *)&none, &rest, 0u, &good) == BAD_TYPE, "of nothing");
  CUDA(cudaGetLastError() == cudaSuccess ? cudaErrorUnknown : cudaSuccess);
}

static std::set<unsigned> ran_on(cudaStream_t s, unsigned ctas)
{
  stay<<<ctas, 32, room, s>>>(sm, 20000);
  CUDA(cudaStreamSynchronize(s));
  return distinct(sm, ctas);
}

static context made(resource *r, unsigned n)
{
  descriptor d;
  context c;
  CUDA(DevResourceGenerateDesc(&d, r, n));
  CUDA(GreenCtxCreate(&c, d, 0, 0u));
  return c;
}

static void contexts()
{
  resource part[2], rest, of, named[2];
  group_params two[2] = {{8}, {16}};
  context c[2], device;
  cudaStream_t s[2], plain;
  CUDA(split(part, 2, &rest, two));
  CUDA(DeviceGetDevResource(0, &named[1], QUEUES));
  check(named[1].queues.device == 0 && named[1].queues.concurrency >= 1, "how queues are shared");
  named[0] = part[0];
  named[1].queues.scope = 1;
  c[0] = made(named, 2);
  c[1] = made(&part[1], 1);
  std::set<unsigned> where[2];
  for (int i = 0; i < 2; i++) {
    int at = -1;
    CUDA(ExecutionCtxStreamCreate(&s[i], c[i], (unsigned)cudaStreamDefault, 0));
    CUDA(ExecutionCtxGetDevice(&at, c[i]));
    CUDA(ExecutionCtxGetDevResource(c[i], &of, SM));
    check(at == 0 && of.sm.count == (i ? 16 : 8), "what a context has");
    CUDA(StreamGetDevResource(s[i], &of, SM));
    check(of.sm.count == (i ? 16 : 8), "what a stream has");
    check(StreamGetDevResource(s[i], &of, QUEUES) == BAD_TYPE, "queues of a stream");
    where[i] = ran_on(s[i], of.sm.count);
    check(where[i].size() == of.sm.count, "a CTA on each of its SMs");
  }
  for (unsigned i : where[0]) check(!where[1].count(i), "groups are disjoint");
  unsigned long long id[3];
  CUDA(DeviceGetExecutionCtx(&device, 0));
  CUDA(ExecutionCtxGetId(c[0], &id[0]));
  CUDA(ExecutionCtxGetId(c[1], &id[1]));
  CUDA(ExecutionCtxGetId(device, &id[2]));
  check(id[0] != id[1] && id[1] != id[2] && id[0] != id[2], "numbers of contexts");
  CUDA(ExecutionCtxStreamCreate(&plain, device, (unsigned)cudaStreamNonBlocking, 0));
  check(ran_on(plain, sms).size() == sms, "the device's context has all SMs");

  cudaEvent_t e; // an event behind all of a context: the other one waits for it
  CUDA(cudaEventCreate(&e));
  CUDA(cudaMemset(sm, 0, 4 * sizeof *sm));
  stay<<<1, 32, room, s[0]>>>(sm, 60000);
  CUDA(ExecutionCtxRecordEvent(c[0], e));
  CUDA(ExecutionCtxWaitEvent(c[1], e));
  stay<<<1, 32, room, s[1]>>>(sm + 1, 100);
  CUDA(ExecutionCtxSynchronize(c[1]));
  CUDA(cudaEventQuery(e));
  check(ExecutionCtxDestroy(device) == INVALID_VALUE, "the device's own context stays");
  for (context x : c) CUDA(ExecutionCtxDestroy(x));
  check(ExecutionCtxDestroy(c[0]) == INVALID_VALUE, "it is gone");
  check(ExecutionCtxSynchronize((context)NULL) == INVALID_VALUE, "no context");
}

int main()
{
  cudaDeviceProp p;
  CUDA(cudaSetDevice(0));
  CUDA(cudaGetDeviceProperties(&p, 0));
  CUDA(cudaMallocManaged(&sm, 4096 * sizeof *sm));
  clusters = p.major >= 9;
  room = alone_in_sm(0);
  CUDA(DeviceGetDevResource(0, &whole, SM));
  sms = whole.sm.count;
  check(sms == (unsigned)p.multiProcessorCount, "all SMs");
  counts();
  refusals();
  contexts();
  printf("execution contexts: right\n");
  return 0;
}
