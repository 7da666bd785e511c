// Managed memory in an order that is known: one thread adds 1 to a word of each page that it is told, one behind the
// other, so that there is never more than one fault. What the host reads must be what a CPU would have.
//
//   walk MIB HOST_PAGES ADVICE READS PAGE...
//     MIB         of managed memory
//     HOST_PAGES  so many pages are written by the host first
//     ADVICE      none, gpu, host (preferred location), map (accessed by the GPU), fetch (prefetch all of it to the
//                 GPU), back (fetch, then prefetch to the host), copies (read mostly, and the kernel only reads),
//                 copies-written (read mostly, and it writes, too), copies-host (as copies, and the host's READS are
//                 writes)
//     READS       the host reads so many pages behind the kernel, from the first on
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

enum { WORDS = 1024 };

__global__ void walk(unsigned *x, const unsigned *page, unsigned n, bool write, unsigned zero, unsigned *sum)
{
  unsigned s = 0;
  for (unsigned i = 0; i < n; i++) {
    const size_t at = (size_t)page[i] * WORDS + (s & zero); // behind the load before
    s += x[at];
    if (write) x[at] += 1, __threadfence(); // the next page is not touched before
  }
  *sum = s;
}

static void check(cudaError_t e)
{
  if (e == cudaSuccess) return;
  printf("%s\n", cudaGetErrorString(e));
  exit(1);
}

int main(int argc, char **argv)
{
  const size_t pages = (size_t)atoi(argv[1]) * 256, host = (size_t)atoi(argv[2]), reads = (size_t)atoi(argv[4]);
  const char *advice = argv[3];
  const cudaMemLocation gpu = {cudaMemLocationTypeDevice, 0}, cpu = {cudaMemLocationTypeHost, 0};
  std::vector<unsigned> order, expect(pages);
  unsigned *x, *list, *sum, *pinned, sum_expect = 0;
  for (int i = 5; i < argc; i++) order.push_back((unsigned)atoi(argv[i]));
  check(cudaMallocManaged(&x, pages * WORDS * 4));
  check(cudaMalloc(&list, order.size() * 4 + 4));
  sum = list + order.size();
  check(cudaMemcpy(list, order.data(), order.size() * 4, cudaMemcpyHostToDevice));
  for (size_t i = 0; i < host; i++) x[i * WORDS] = expect[i] = (unsigned)(i * 2654435761u);
  if (!strcmp(advice, "gpu")) check(cudaMemAdvise(x, pages * WORDS * 4, cudaMemAdviseSetPreferredLocation, gpu));
  if (!strcmp(advice, "host")) check(cudaMemAdvise(x, pages * WORDS * 4, cudaMemAdviseSetPreferredLocation, cpu));
  if (!strcmp(advice, "map")) check(cudaMemAdvise(x, pages * WORDS * 4, cudaMemAdviseSetAccessedBy, gpu));
  if (!strcmp(advice, "fetch") || !strcmp(advice, "back"))
    check(cudaMemPrefetchAsync(x, pages * WORDS * 4, gpu, 0, 0));
  if (!strcmp(advice, "back")) check(cudaMemPrefetchAsync(x, pages * WORDS * 4, cpu, 0, 0));
  if (!strncmp(advice, "copies", 6)) check(cudaMemAdvise(x, pages * WORDS * 4, cudaMemAdviseSetReadMostly, gpu));
  const bool write = strcmp(advice, "copies") && strcmp(advice, "copies-host");
  walk<<<1, 1>>>(x, list, (unsigned)order.size(), write, 0, sum);
  check(cudaDeviceSynchronize());
  for (unsigned p : order) sum_expect += expect[p], expect[p] += write;
  unsigned wrong = 0, got;
  for (size_t i = 0; i < reads; i++) {
    if (!strcmp(advice, "copies-host")) x[i * WORDS] = ++expect[i];
    wrong += x[i * WORDS] != expect[i];
    check(cudaGetLastError()); // a call: what was touched before it is known
  }
  check(cudaMallocHost(&pinned, 4));
  check(cudaMemcpy(&got, sum, 4, cudaMemcpyDeviceToHost));
  printf("%s\n", got == sum_expect && !wrong ? "right" : "wrong");
  return got != sum_expect || wrong;
}
