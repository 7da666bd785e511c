// Hosts that look at memory which a kernel writes, without calls in between (exec --spin strict). `polls CASE` checks the
// values and prints what it saw: how often it looked, when by the GPU's clock. Nothing of it may depend on the machine.
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(ok)                                                                                                        \
  do {                                                                                                                   \
    if (!(ok)) {                                                                                                         \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #ok);                                                            \
      exit(1);                                                                                                           \
    }                                                                                                                    \
  } while (0)
#define CUDA(call) CHECK((call) == cudaSuccess)

typedef volatile int word;

// Sets the flag to `value` when that many cycles have passed.
__global__ void raise(word *flag, int value, int cycles)
{
  const long long end = clock64() + cycles;
  while (clock64() < end) __nanosleep(100);
  *flag = value;
}

// Waits for each question and answers it.
__global__ void answer(word *question, word *reply, int rounds)
{
  for (int i = 1; i <= rounds; i++) {
    while (*question != i) continue;
    *reply = 3 * i;
    __threadfence_system();
  }
}

static word *pinned()
{
  void *p;
  CUDA(cudaMallocHost(&p, 1 << 16));
  memset(p, 0, 1 << 16);
  return (word *)p;
}

static word *managed()
{
  void *p;
  CUDA(cudaMallocManaged(&p, 1 << 16));
  memset(p, 0, 1 << 16);
  return (word *)p;
}

static int spin(word *flag, int value)
{
  int looks = 1;
  while (*flag != value) looks++;
  return looks;
}

static void flag(word *w, int cycles)
{
  raise<<<1, 1>>>(w, 5, cycles);
  const int looks = spin(w, 5);
  CUDA(cudaDeviceSynchronize());
  printf("looks %d\n", looks);
}

static void handshake(word *w, int rounds)
{
  word *question = w, *reply = w + 64;
  answer<<<1, 1>>>(question, reply, rounds);
  for (int i = 1; i <= rounds; i++) {
    *question = i;
    printf("round %d: %d looks\n", i, spin(reply, 3 * i));
  }
  CUDA(cudaDeviceSynchronize());
}

// The answering side is another thread, while this one waits in a call.
static void other_thread()
{
  word *w = pinned();
  int looks = 0;
  answer<<<1, 1>>>(w, w + 64, 4);
  std::thread t([&] {
    for (int i = 1; i <= 4; i++) {
      w[0] = i;
      looks += spin(w + 64, 3 * i);
    }
  });
  CUDA(cudaDeviceSynchronize());
  t.join();
  printf("looks of the other thread %d\n", looks);
}

// Several threads look at flags of their own, and wake each other.
static void threads()
{
  enum { THREADS = 3 };
  word *w = pinned();
  int looks[THREADS] = {0};
  std::vector<std::thread> t;
  pthread_barrier_t start;
  pthread_barrier_init(&start, nullptr, THREADS + 1);
  for (int i = 0; i < THREADS; i++)
    t.emplace_back([&, i] {
      pthread_barrier_wait(&start);
      looks[i] = spin(w + 1024 * i, i + 1);
      if (i + 1 < THREADS) w[1024 * i + 512] = 1; // read by the next one's kernel
    });
  cudaStream_t s[THREADS];
  for (int i = 0; i < THREADS; i++) {
    CUDA(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
    raise<<<1, 1, 0, s[i]>>>(w + 1024 * i, i + 1, 10000 * (i + 1));
  }
  pthread_barrier_wait(&start);
  for (auto &x : t) x.join();
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < THREADS; i++) printf("thread %d: %d looks\n", i, looks[i]);
  CHECK(looks[0] < looks[1] && looks[1] < looks[2]);
}

__attribute__((target("avx2"))) static int wide(word *w)
{
  const __m256i v = _mm256_loadu_si256((const __m256i *)w);
  return _mm256_extract_epi32(v, 7) + _mm256_extract_epi32(v, 0);
}

// One thing looks at the flag in each of these ways; `way` is a copy, an atomic instruction, a wide load, a wide load over
// the edge of two pages, string instructions.
static void way(const char *how)
{
  word *w = pinned(), *at = w;
  int looks = 0, seen = 0;
  if (!strcmp(how, "wide")) at = w + 7;
  if (!strcmp(how, "edge")) at = w + 1024;
  raise<<<1, 1>>>(at, 9, 20000);
  while (seen != 9) {
    looks++;
    if (!strcmp(how, "copy")) {
      int part[16];
      memcpy(part, (const void *)w, sizeof part);
      seen = part[0];
    } else if (!strcmp(how, "atomic")) {
      seen = __atomic_fetch_add((int *)w, 0, __ATOMIC_SEQ_CST);
    } else if (!strcmp(how, "swap")) {
      int want = 9;
      seen = __atomic_compare_exchange_n((int *)w, &want, 9, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ? 9 : 0;
    } else if (!strcmp(how, "wide")) {
      seen = wide(w);
    } else if (!strcmp(how, "edge")) {
      seen = wide(w + 1024 - 7);
    } else {
      char part[40];
      void *to = part;
      const void *from = (const void *)w;
      size_t n = sizeof part;
      asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
      memcpy(&seen, part, sizeof seen);
    }
  }
  CUDA(cudaDeviceSynchronize());
  printf("%s: %d looks\n", how, looks);
}

// Calls whose buffers are named by a list: buffers, list and message in such memory, too, and at addresses where nothing is.
static void lists(char *p, char *q)
{
  int pipes[2], pair[2];
  char mark[4] = {'m', 'a', 'r', 'k'}, got[54], more[8] = {0};
  const iovec out[3] = {{mark, 4}, {p + 100, 30}, {p + 5000, 20}}, in[2] = {{q, 40}, {got, 14}};
  CHECK(pipe(pipes) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
  CHECK(writev(pipes[1], out, 3) == 54);
  CHECK(readv(pipes[0], in, 2) == 54);
  CHECK(memcmp(q, "mark", 4) == 0 && memcmp(q + 4, p + 100, 30) == 0 && memcmp(q + 34, p + 5000, 6) == 0);
  CHECK(memcmp(got, p + 5006, 14) == 0);
  msghdr send = {}, *receive = (msghdr *)(q + 8192);
  iovec *list = (iovec *)(q + 12288);
  send.msg_iov = (iovec *)out;
  send.msg_iovlen = 3;
  memset(receive, 0, sizeof *receive);
  receive->msg_iov = list;
  receive->msg_iovlen = 2;
  receive->msg_controllen = 0;
  list[0] = {q + 4096, 50};
  list[1] = {more, 2};
  CHECK(sendmsg(pair[0], &send, 0) == 54);
  CHECK(recvmsg(pair[1], receive, 0) == 52);
  CHECK(receive->msg_flags & MSG_TRUNC); // two bytes had no room
  CHECK(memcmp(q + 4096, "mark", 4) == 0 && memcmp(q + 4100, p + 100, 30) == 0 && memcmp(more, p + 5016, 2) == 0);
  const iovec bad[1] = {{NULL, 4}};
  CHECK(writev(pipes[1], bad, 1) == -1 && errno == EFAULT);
  const iovec *volatile nowhere = (const iovec *)8;
  CHECK(writev(pipes[1], nowhere, 1) == -1 && errno == EFAULT);
  CHECK(writev(pipes[1], out, 5000) == -1 && errno == EINVAL);
  for (int fd : {pipes[0], pipes[1], pair[0], pair[1]}) close(fd);
}

// Buffers beside the flag: the system reads and writes them, the program goes through them, while a kernel runs.
static void buffers()
{
  enum { BYTES = 1 << 20 };
  word *w = pinned();
  char *p, back[64];
  int pipes[2];
  CUDA(cudaMallocHost(&p, 2 * BYTES));
  CHECK(pipe(pipes) == 0);
  raise<<<1, 1>>>(w, 5, 100000);
  for (int i = 0; i < BYTES; i++) p[i] = (char)i;
  CHECK(write(pipes[1], p + 100, 50) == 50);
  CHECK(read(pipes[0], p + BYTES, 50) == 50);
  CHECK(memcmp(p + BYTES, p + 100, 50) == 0);
  lists(p, p + BYTES);
  FILE *f = tmpfile();
  CHECK(f && fwrite(p, 1, BYTES, f) == BYTES && fflush(f) == 0);
  rewind(f);
  CHECK(fread(p + BYTES, 1, BYTES, f) == BYTES);
  fclose(f);
  CHECK(memcmp(p + BYTES, p, BYTES) == 0);
  CHECK(write(pipes[1], "x", 1) == 1 && read(pipes[0], back, 1) == 1);
  memcpy(back, p + 3, sizeof back);
  CHECK(back[10] == 13);
  printf("looks %d\n", spin(w, 5));
  p[BYTES] = 0;
  raise<<<1, 1>>>((word *)(p + BYTES), 7, 50000);
  long sum = 0;
  for (int i = 0; i < 3 * 4096; i++) sum += p[BYTES - 2 * 4096 + i];
  spin((word *)(p + BYTES), 7); // on a page that was left open: how often it looks is the machine's affair
  printf("sum %ld\n", sum);
  CUDA(cudaDeviceSynchronize());
}

// Copies of pinned memory, answers given to it and a function of a stream that reads it, while a kernel runs.
static void calls()
{
  word *w = pinned();
  int *d, *p;
  float *ms;
  cudaEvent_t from, to;
  CUDA(cudaMalloc(&d, 4096));
  CUDA(cudaMallocHost(&p, 8192));
  ms = (float *)(p + 1500);
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  cudaStream_t s;
  CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (int i = 0; i < 1024; i++) p[i] = i * i;
  raise<<<1, 1>>>(w, 5, 60000);
  CUDA(cudaEventRecord(from, s));
  CUDA(cudaMemcpyAsync(d, p, 4096, cudaMemcpyHostToDevice, s));
  CUDA(cudaMemcpyAsync(p + 1024, d, 2048, cudaMemcpyDeviceToHost, s));
  CUDA(cudaEventRecord(to, s));
  CUDA(cudaLaunchHostFunc(s, [](void *q) { ((word *)q)[1] = ((word *)q)[0] + 1; }, (void *)(w + 128)));
  while (p[1024 + 511] != 511 * 511) continue;
  while (w[129] != 1) continue;
  CUDA(cudaEventElapsedTime(ms, from, to));
  CHECK(*ms > 0);
  const int looks = spin(w, 5);
  CUDA(cudaDeviceSynchronize());
  printf("looks %d, copies %.6f ms\n", looks, *ms);
}

// Asks by calls until the stream has ended: how often.
static int asks(cudaStream_t s)
{
  int n = 1;
  cudaError_t status;
  while ((status = cudaStreamQuery(s)) == cudaErrorNotReady) n++;
  CUDA(status);
  return n;
}

// Functions of streams and the thread that asks by calls whether they have ended: one goes through a buffer, for which time stands; one waits
// for what a kernel writes, which comes at its time.
static void functions()
{
  enum { WORDS = 2000 };
  static int looked;
  word *w = pinned(), *buffer = w + 4096;
  cudaStream_t s, other;
  CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  for (int i = 0; i < WORDS; i++) buffer[i] = i;
  raise<<<1, 1, 0, s>>>(w, 5, 20000);
  CUDA(cudaLaunchHostFunc(s, [](void *q) {
    word *b = (word *)q;
    for (int i = 0; i < WORDS; i++) b[i] = 3 * b[i] + b[(i + 1) % WORDS];
  }, (void *)buffer));
  const int through = asks(s);
  for (int i = 0; i + 1 < WORDS; i++) CHECK(buffer[i] == 4 * i + 1);
  raise<<<1, 1, 0, other>>>(w + 1024, 7, 90000);
  CUDA(cudaLaunchHostFunc(s, [](void *q) { looked = spin((word *)q, 7); }, (void *)(w + 1024)));
  const int spun = asks(s);
  CUDA(cudaDeviceSynchronize());
  printf("asked %d and %d times, looked %d times\n", through, spun, looked);
}

// Threads that nothing orders give kernels to streams of their own and ask by calls whether they have ended.
static void callers()
{
  enum { THREADS = 3, ROUNDS = 4 };
  std::vector<std::thread> threads;
  int asked[THREADS] = {};
  for (int t = 0; t < THREADS; t++)
    threads.emplace_back([&asked, t] {
      word *w = pinned();
      cudaStream_t s;
      CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
      for (int i = 1; i <= ROUNDS; i++) {
        raise<<<1, 1, 0, s>>>(w, i, 3000 * (t + 1));
        asked[t] += asks(s);
        CHECK(*w == i);
      }
    });
  for (std::thread &t : threads) t.join();
  printf("asked %d, %d, %d times\n", asked[0], asked[1], asked[2]);
}

// A child that is forked while a function of a stream runs and another thread waits has none of these to wait for.
static void forks()
{
  static std::atomic<bool> runs{false}, end{false};
  word *w = pinned();
  cudaStream_t s;
  CUDA(cudaStreamCreate(&s));
  CUDA(cudaLaunchHostFunc(s, [](void *q) {
    runs = true;
    while (!end) usleep(1000);
    ((word *)q)[0] = 3;
  }, (void *)w));
  std::thread t([&] { CUDA(cudaStreamSynchronize(s)); });
  while (!runs) usleep(1000);
  const pid_t child = fork();
  if (!child) _exit(cudaDeviceSynchronize() == cudaErrorInitializationError ? 7 : 1);
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  end = true;
  t.join();
  CHECK(*w == 3);
}

// Another thread computes for longer than anybody waits for it.
static void computes()
{
  word *w = pinned();
  std::atomic<bool> end{false};
  raise<<<1, 1>>>(w, 5, 20000);
  std::thread t([&] {
    while (!end) continue;
  });
  spin(w, 5);
  end = true;
  t.join();
  CUDA(cudaDeviceSynchronize());
}

static void on_segv(int, siginfo_t *, void *)
{
  printf("the program's own handler\n");
  fflush(stdout);
  _exit(0);
}

// A fault of the program's own, behind polls, reaches the program's handler.
static void own_handler()
{
  struct sigaction a = {};
  a.sa_sigaction = on_segv;
  a.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGSEGV, &a, nullptr) == 0);
  word *w = pinned();
  raise<<<1, 1>>>(w, 5, 5000);
  printf("looks %d\n", spin(w, 5));
  fflush(stdout);
  CUDA(cudaDeviceSynchronize());
  *(word *)nullptr = 1;
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "flag")) flag(pinned(), argc > 2 ? atoi(argv[2]) : 20000);
  else if (!strcmp(what, "managed")) flag(managed(), 20000);
  else if (!strcmp(what, "handshake")) handshake(pinned(), 5);
  else if (!strcmp(what, "managed_handshake")) handshake(managed(), 3);
  else if (!strcmp(what, "other_thread")) other_thread();
  else if (!strcmp(what, "threads")) threads();
  else if (!strcmp(what, "buffers")) buffers();
  else if (!strcmp(what, "calls")) calls();
  else if (!strcmp(what, "functions")) functions();
  else if (!strcmp(what, "callers")) callers();
  else if (!strcmp(what, "forks")) forks();
  else if (!strcmp(what, "computes")) computes();
  else if (!strcmp(what, "own_handler")) own_handler();
  else way(what);
  printf("PASS\n");
}
