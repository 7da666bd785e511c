// Host and GPU beside each other: kernels that come while others run, priorities, flags both ways, questions that let time
// pass, functions of the program that hold up their own stream alone.
#include <atomic>
#include <chrono>
#include <thread>

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct span {
  unsigned long long from, to;
};

__device__ unsigned long long now()
{
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

// Each CTA takes its time; the span is that of all of them, ns.
__global__ void work(span *s, int cycles)
{
  if (threadIdx.x == 0) atomicMin(&s->from, now());
  long long end = clock64() + cycles;
  while (clock64() < end) __nanosleep(100);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(&s->to, now());
}

__global__ void wait_for(volatile int *flag, int value, int *out)
{
  while (*flag != value) __nanosleep(50);
  *out = value + 1;
}

__global__ void raise(volatile int *flag, int value, int cycles)
{
  long long end = clock64() + cycles;
  while (clock64() < end) __nanosleep(100);
  *flag = value;
}

static cudaStream_t a, b;
static span *spans; // managed
static int *word, *pinned;

// So that no kernel waits for its page.
static void fetch_spans()
{
#if CUDART_VERSION >= 13000
  CUDA(cudaMemPrefetchAsync(spans, 4 * sizeof *spans, {cudaMemLocationTypeDevice, 0}, 0, 0));
#else
  CUDA(cudaMemPrefetchAsync(spans, 4 * sizeof *spans, 0, 0));
#endif
}

static void reset()
{
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 4; i++) spans[i] = {~0ull, 0};
  fetch_spans();
  pinned[0] = pinned[1] = 0;
  CUDA(cudaMemset(word, 0, 64));
  CUDA(cudaDeviceSynchronize());
}

// A launch that comes while another kernel runs, with other calls in between, shares the GPU with it.
static void late_launch()
{
  reset();
  work<<<4, 32, 0, a>>>(&spans[0], 60000);
  for (int i = 0; i < 5; i++) CHECK(cudaStreamQuery(a) == cudaErrorNotReady);
  CUDA(cudaMemsetAsync(word, 0, 4, b));
  work<<<4, 32, 0, b>>>(&spans[1], 1000);
  CUDA(cudaDeviceSynchronize());
  CHECK(spans[1].from > spans[0].from && spans[1].to < spans[0].to);
}

// CTAs of a stream with a higher priority go first; those that are resident stay. `more`: waves of the one that has the GPU.
static void priority()
{
  int least, greatest, sms, per_sm;
  cudaStream_t low, high;
  CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(greatest < least);
  CUDA(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
  CUDA(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
  CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, work, 512, 0));
  int wave = sms * per_sm;
  for (int favoured = 0; favoured < 2; favoured++) {
    reset();
    work<<<6 * wave, 512, 0, low>>>(&spans[0], 8000);
    work<<<wave, 512, 0, favoured ? high : b>>>(&spans[1], 8000);
    CUDA(cudaDeviceSynchronize());
    double wait = double(spans[1].from - spans[0].from) / double(spans[0].to - spans[0].from);
    if (favoured) CHECK(wait < 0.4 && spans[1].to < spans[0].to);
    else CHECK(wait > 0.7); // b is of the lowest priority, too: in the order in which they came
  }
}

// A kernel ends on what the host writes after its launch, or a copy of another stream does.
static void kernel_waits()
{
  reset();
  wait_for<<<1, 1, 0, a>>>(pinned, 7, word);
  *(volatile int *)pinned = 7;
  CUDA(cudaStreamSynchronize(a));
  int got = 0;
  CUDA(cudaMemcpy(&got, word, 4, cudaMemcpyDeviceToHost));
  CHECK(got == 8);
  reset();
  pinned[1] = 9;
  wait_for<<<1, 1, 0, a>>>(word + 1, 9, word);
  CUDA(cudaMemcpyAsync(word + 1, pinned + 1, 4, cudaMemcpyHostToDevice, b));
  CUDA(cudaStreamSynchronize(a));
  CUDA(cudaMemcpy(&got, word, 4, cudaMemcpyDeviceToHost));
  CHECK(got == 10);
}

// The host waits in its own code for what a kernel writes: no call is made meanwhile.
static void host_waits()
{
  reset();
  raise<<<1, 1, 0, a>>>(pinned, 5, 20000);
  while (*(volatile int *)pinned != 5) continue;
  CUDA(cudaStreamSynchronize(a));
  reset();
  raise<<<1, 1, 0, a>>>(pinned, 5, 20000); // there and back
  wait_for<<<1, 1, 0, b>>>(pinned + 1, 6, word);
  while (*(volatile int *)pinned != 5) std::this_thread::sleep_for(std::chrono::microseconds(50));
  *(volatile int *)(pinned + 1) = 6;
  CUDA(cudaDeviceSynchronize());
}

// Asking lets time pass; the event is not over before the kernel is.
static void questions()
{
  cudaEvent_t done;
  CUDA(cudaEventCreate(&done));
  reset();
  work<<<1, 32, 0, a>>>(&spans[0], 60000);
  CUDA(cudaEventRecord(done, a));
  int asked = 0;
  for (cudaError_t r; (r = cudaEventQuery(done)) != cudaSuccess; asked++) CHECK(r == cudaErrorNotReady);
  CHECK(asked > 3 && cudaStreamQuery(a) == cudaSuccess);
  CHECK(spans[0].to > 0);
}

static std::atomic<int> calls{0};
static std::atomic<bool> let_go{false};

static void CUDART_CB count(void *)
{
  calls++;
}

static void CUDART_CB hold(void *)
{
  while (!let_go) std::this_thread::yield();
  calls++;
}

// A function of the program holds up its own stream alone, runs on another thread, and in the stream's order.
static void functions()
{
  reset();
  calls = 0;
  CUDA(cudaLaunchHostFunc(a, hold, nullptr));
  raise<<<1, 1, 0, a>>>(word, 3, 100);
  raise<<<1, 1, 0, b>>>(pinned, 4, 100);
  CUDA(cudaStreamSynchronize(b));
  CHECK(calls == 0 && pinned[0] == 4 && cudaStreamQuery(a) == cudaErrorNotReady);
  let_go = true;
  CUDA(cudaStreamSynchronize(a));
  CHECK(calls == 1);
  // … and one that nobody synchronises with is called all the same.
  raise<<<1, 1, 0, a>>>(word, 3, 5000);
  CUDA(cudaLaunchHostFunc(a, count, nullptr));
  while (calls != 2) std::this_thread::yield();
}

// A stream waits for a value that a kernel of another one writes late.
static void values()
{
  int got;
  reset();
  CHECK(cuStreamWaitValue32(a, (CUdeviceptr)word, 11, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
  work<<<1, 32, 0, a>>>(&spans[0], 100);
  raise<<<1, 1, 0, b>>>(word, 11, 30000);
  work<<<1, 32, 0, b>>>(&spans[1], 30000);
  CUDA(cudaStreamSynchronize(a));
  CHECK(cudaStreamQuery(b) == cudaErrorNotReady); // the stream went on when the value was there
  CUDA(cudaDeviceSynchronize());
  CHECK(spans[0].to < spans[1].to);
  CUDA(cudaMemcpy(&got, word, 4, cudaMemcpyDeviceToHost));
  CHECK(got == 11);
}

// Memory given back in the order of a stream, while a kernel that uses it runs.
static void late_free()
{
  int *p;
  reset();
  CUDA(cudaMallocAsync(&p, 1 << 20, a));
  raise<<<1, 1, 0, a>>>(p + 1000, 1, 20000);
  wait_for<<<1, 1, 0, a>>>(p + 1000, 1, word);
  CUDA(cudaFreeAsync(p, a));
  CUDA(cudaStreamSynchronize(a));
  int got = 0;
  CUDA(cudaMemcpy(&got, word, 4, cudaMemcpyDeviceToHost));
  CHECK(got == 2);
}

// What the host writes to registered memory while a kernel uses another part of it stays.
static void registered()
{
  static int host[1 << 16];
  int *device;
  CUDA(cudaHostRegister(host, sizeof host, cudaHostRegisterMapped));
  CUDA(cudaHostGetDevicePointer((void **)&device, host, 0));
  raise<<<1, 1, 0, a>>>(device, 21, 20000);
  host[5] = 22;
  CHECK(cudaStreamQuery(a) == cudaErrorNotReady);
  host[60000] = 23;
  CUDA(cudaStreamSynchronize(a));
  CHECK(host[0] == 21 && host[5] == 22 && host[60000] == 23);
  wait_for<<<1, 1, 0, b>>>(device + 60000, 23, word);
  CUDA(cudaStreamSynchronize(b));
  CUDA(cudaHostUnregister(host));
  CHECK(host[0] == 21 && host[5] == 22 && host[60000] == 23);
}

// Children that the program forks while kernels run end as they like, and the program goes on.
static void forks()
{
  reset();
  for (int i = 0; i < 8; i++) {
    raise<<<1, 1, 0, a>>>(word, i, 20000);
    int status;
    pid_t child = fork();
    if (child == 0) exit(3);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
  }
  int got = 0;
  CUDA(cudaStreamSynchronize(a));
  CUDA(cudaMemcpy(&got, word, 4, cudaMemcpyDeviceToHost));
  CHECK(got == 7);
}

int main()
{
  CUDA(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  CUDA(cudaMallocManaged(&spans, 4 * sizeof *spans));
  CUDA(cudaMalloc(&word, 64));
  CUDA(cudaMallocHost(&pinned, 64));
  late_launch();
  priority();
  kernel_waits();
  host_waits();
  questions();
  functions();
  values();
  late_free();
  registered();
  forks();
  printf("all well\n");
  return 0;
}
