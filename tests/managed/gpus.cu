// Managed memory of several GPUs in an order that is known: a script of touches, advice and prefetches, one behind the
// other. What the host finds at the end, and what each kernel has read, must be what a CPU would have.
//
//   gpus MIB STEP...
//     r0:PAGES w1:PAGES   a thread of that GPU reads a word of each page, or changes it; `h`: the host
//     p0:RANGE ph:RANGE   prefetched to that GPU, to the host
//     l0:RANGE lh:RANGE   preferred location; lx: none
//     a0:RANGE            accessed by that GPU; x0: no more
//     m:RANGE             mostly read; n: no more
//     d0:RANGE            a copy of the pages, to device memory of that GPU
//   PAGES: numbers of pages behind commas, RANGE: FIRST-LAST
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

enum { WORDS = 1024 };


__global__ void touch(unsigned *x, const unsigned short *page, unsigned n, unsigned change, unsigned zero, unsigned *sum)
{
  unsigned s = 0;
  for (unsigned i = 0; i < n; i++) {
    const size_t at = (size_t)page[i] * WORDS + (s & zero); // behind the load before
    if (change) x[at] = change, __threadfence_system(); // the next page is not touched before
    else s += x[at];
  }
  *sum = s;
}

static void check(cudaError_t e)
{
  if (e == cudaSuccess) return;
  printf("%s\n", cudaGetErrorString(e));
  exit(1);
}

static std::vector<unsigned> cpu;
static unsigned *x, wrong;
static void *call;

static void by_gpu(int gpu, const std::vector<unsigned> &pages, unsigned change)
{
  std::vector<unsigned short> list(pages.begin(), pages.end());
  unsigned short *d;
  unsigned *sum, got, expect = 0;
  check(cudaSetDevice(gpu));
  check(cudaMalloc(&d, list.size() * 2 + 8));
  sum = (unsigned *)(d + (list.size() + 1) / 2 * 2);
  check(cudaMemcpy(d, list.data(), list.size() * 2, cudaMemcpyHostToDevice));
  touch<<<1, 1>>>(x, d, (unsigned)list.size(), change, 0, sum);
  check(cudaMemcpy(&got, sum, 4, cudaMemcpyDeviceToHost));
  for (unsigned p : pages) {
    if (change) cpu[p] = change;
    else expect += cpu[p];
  }
  wrong += got != expect;
  check(cudaFree(d));
}

static void by_host(const std::vector<unsigned> &pages, unsigned change)
{
  for (unsigned p : pages) {
    if (change) x[p * WORDS] = cpu[p] = change;
    else wrong += x[p * WORDS] != cpu[p];
    check(cudaMemcpy(call, call, 4, cudaMemcpyDeviceToDevice)); // a call: what was touched before it is known
  }
}

static void copy(int gpu, size_t first, size_t pages)
{
  std::vector<unsigned> got(pages * WORDS);
  void *d;
  check(cudaSetDevice(gpu));
  check(cudaMalloc(&d, pages * WORDS * 4));
  check(cudaMemcpy(d, x + first * WORDS, pages * WORDS * 4, cudaMemcpyDefault));
  check(cudaMemcpy(got.data(), d, pages * WORDS * 4, cudaMemcpyDefault));
  for (size_t i = 0; i < pages; i++) wrong += got[i * WORDS] != cpu[first + i];
  check(cudaFree(d));
}

static void advise(char what, cudaMemLocation at, size_t first, size_t pages)
{
  unsigned *from = x + first * WORDS;
  const size_t bytes = pages * WORDS * 4;
  const bool none = what == 'l' && at.type == cudaMemLocationTypeInvalid;
  if (at.type == cudaMemLocationTypeInvalid) at = {cudaMemLocationTypeDevice, 0};
  if (what == 'p') check(cudaMemPrefetchAsync(from, bytes, at, 0, 0)), check(cudaDeviceSynchronize());
  if (what == 'l' && !none) check(cudaMemAdvise(from, bytes, cudaMemAdviseSetPreferredLocation, at));
  if (none) check(cudaMemAdvise(from, bytes, cudaMemAdviseUnsetPreferredLocation, at));
  if (what == 'a') check(cudaMemAdvise(from, bytes, cudaMemAdviseSetAccessedBy, at));
  if (what == 'x') check(cudaMemAdvise(from, bytes, cudaMemAdviseUnsetAccessedBy, at));
  if (what == 'm') check(cudaMemAdvise(from, bytes, cudaMemAdviseSetReadMostly, at));
  if (what == 'n') check(cudaMemAdvise(from, bytes, cudaMemAdviseUnsetReadMostly, at));
}

static void step(const char *s, unsigned number)
{
  const char what = s[0], *rest = strchr(s, ':') + 1;
  const int gpu = s[1] >= '0' && s[1] <= '9' ? s[1] - '0' : -1;
  const cudaMemLocation at = {gpu >= 0 ? cudaMemLocationTypeDevice : s[1] == 'h' ? cudaMemLocationTypeHost
                                                                                 : cudaMemLocationTypeInvalid,
                              gpu >= 0 ? gpu : 0};
  if (what == 'r' || what == 'w') {
    std::vector<unsigned> pages;
    for (char *p = (char *)rest; *p; p += *p == ',') pages.push_back((unsigned)strtoul(p, &p, 10));
    const unsigned change = what == 'w' ? number * 2654435761u | 1 : 0;
    if (gpu < 0) by_host(pages, change);
    else by_gpu(gpu, pages, change);
    return;
  }
  unsigned first = 0, last = 0;
  sscanf(rest, "%u-%u", &first, &last);
  if (what == 'd') copy(gpu, first, last - first + 1);
  else advise(what, at, first, last - first + 1);
}

int main(int argc, char **argv)
{
  const size_t pages = (size_t)atoi(argv[1]) * 256;
  cpu.resize(pages);
  check(cudaMallocManaged(&x, pages * WORDS * 4));
  check(cudaMalloc(&call, 8));
  for (int i = 2; i < argc; i++) step(argv[i], (unsigned)i);
  printf("%s\n", wrong ? "wrong" : "right");
  return wrong != 0;
}
