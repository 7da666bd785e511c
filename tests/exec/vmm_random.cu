// Random programs of virtual memory: addresses reserved, physical memory made, mapped in pieces, shared between places, unmapped and mapped again
// in another order, access given and taken away, released while still mapped; kernels, copies and fills go through all that is mapped.
// The CPU has the bytes of every piece of physical memory, and where each is seen. Arguments: first seed, programs, steps of each; one
// more and every step is printed.
#include "driver_check.h"
#include "random.h"
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <memory>
#include <vector>

enum { PAGES = 6, WORDS = 64, ROUNDS = 3 }; // pages of a reservation; words that are looked at of each page

struct Piece { // physical memory
  CUmemGenericAllocationHandle handle;
  std::vector<uint32_t> model; // WORDS of each of its pages
  bool released;
};
struct Place { // a page of a reservation
  std::shared_ptr<Piece> piece; // null: nothing is mapped
  size_t page;                  // of the piece
  int run;                      // which mapping it belongs to
  CUmemAccess_flags access;
};
struct Range {
  CUdeviceptr at;
  std::vector<Place> places;
};

__global__ void weave(uint32_t *dst, const uint32_t *src, uint32_t factor)
{
  dst[threadIdx.x] = dst[threadIdx.x] * factor + src[threadIdx.x];
}

static bool talks;

class Program {
public:
  explicit Program(unsigned seed) : random(seed)
  {
    CUmemAllocationProp p = properties();
    CU(cuMemGetAllocationGranularity(&page, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  }
  void run(unsigned steps)
  {
    for (unsigned i = 0; i < steps; i++) step();
    for (int i = 0; i < ROUNDS; i++) compare();
    while (!ranges.empty()) drop_range(0);
    for (const auto &p : pieces)
      if (!p->released) CU(cuMemRelease(p->handle));
  }

private:
  Random random;
  size_t page;
  int runs = 0;
  std::vector<std::shared_ptr<Piece>> pieces;
  std::vector<Range> ranges;

  unsigned below(unsigned n) { return random.next() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  static CUmemAllocationProp properties()
  {
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED, p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return p;
  }
  void say(const char *what, size_t a, size_t b)
  {
    if (talks) printf("%s %zu %zu\n", what, a, b), fflush(stdout);
  }

  // Pages that the host does not write begin with what was there: nothing is promised, so they are written first.
  void new_piece()
  {
    CUmemAllocationProp p = properties();
    auto piece = std::make_shared<Piece>();
    const size_t pages = 1 + below(3);
    piece->released = false;
    piece->model.resize(pages * WORDS);
    for (uint32_t &w : piece->model) w = random.next();
    CU(cuMemCreate(&piece->handle, pages * page, &p, 0));
    pieces.push_back(piece);
    CUdeviceptr at;
    CU(cuMemAddressReserve(&at, pages * page, 0, 0, 0));
    CU(cuMemMap(at, pages * page, 0, piece->handle, 0));
    give(at, pages * page, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    for (size_t i = 0; i < pages; i++) CU(cuMemcpyHtoD(at + i * page, &piece->model[i * WORDS], WORDS * 4));
    CU(cuMemUnmap(at, pages * page));
    CU(cuMemAddressFree(at, pages * page));
  }
  void new_range()
  {
    Range r = {0, std::vector<Place>(1 + below(PAGES))};
    CU(cuMemAddressReserve(&r.at, r.places.size() * page, 0, 0, 0));
    CHECK(r.at % page == 0);
    ranges.push_back(r);
  }
  void give(CUdeviceptr at, size_t bytes, CUmemAccess_flags flags)
  {
    CUmemAccessDesc d = {};
    d.location.type = CU_MEM_LOCATION_TYPE_DEVICE, d.flags = flags;
    CU(cuMemSetAccess(at, bytes, &d, 1));
  }

  void map(Range &r)
  {
    const auto &piece = pieces[below((unsigned)pieces.size())];
    const size_t pages = piece->model.size() / WORDS, from = below((unsigned)r.places.size());
    if (piece->released || from + pages > r.places.size()) return;
    bool free_ = true;
    for (size_t i = 0; i < pages; i++) free_ &= !r.places[from + i].piece;
    const CUresult status = cuMemMap(r.at + from * page, pages * page, 0, piece->handle, 0);
    CHECK((status == CUDA_SUCCESS) == free_); // what is mapped is not mapped over
    if (!free_) return;
    for (size_t i = 0; i < pages; i++) r.places[from + i] = {piece, i, runs, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    runs++;
    if (chance(85)) allow(r, from, pages);
  }
  void allow(Range &r, size_t from, size_t pages)
  {
    const CUmemAccess_flags flags = chance(75) ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    give(r.at + from * page, pages * page, flags);
    for (size_t i = 0; i < pages; i++) r.places[from + i].access = flags;
  }
  // The whole mapping that a place belongs to.
  void run_of(const Range &r, size_t at, size_t *from, size_t *pages)
  {
    for (*from = at; *from && r.places[*from - 1].piece && r.places[*from - 1].run == r.places[at].run;) --*from;
    for (*pages = 0; *from + *pages < r.places.size() && r.places[*from + *pages].piece && r.places[*from + *pages].run == r.places[at].run;) ++*pages;
  }
  void unmap(Range &r, size_t at)
  {
    size_t from, pages;
    if (!r.places[at].piece) return;
    run_of(r, at, &from, &pages);
    CU(cuMemUnmap(r.at + from * page, pages * page));
    for (size_t i = 0; i < pages; i++) r.places[from + i] = Place();
  }
  void drop_range(size_t i)
  {
    Range &r = ranges[i];
    for (size_t p = 0; p < r.places.size(); p++) unmap(r, p);
    CU(cuMemAddressFree(r.at, r.places.size() * page));
    ranges.erase(ranges.begin() + (long)i);
  }

  // A page that a kernel may use, in any range; false: none.
  bool usable(CUdeviceptr *at, uint32_t **model)
  {
    for (int tries = 0; tries < 20; tries++) {
      if (ranges.empty()) return false;
      Range &r = ranges[below((unsigned)ranges.size())];
      const size_t p = below((unsigned)r.places.size());
      if (!r.places[p].piece || r.places[p].access != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) continue;
      *at = r.at + p * page, *model = &r.places[p].piece->model[r.places[p].page * WORDS];
      return true;
    }
    return false;
  }
  void use()
  {
    CUdeviceptr dst, src;
    uint32_t *to, *from;
    if (!usable(&dst, &to) || !usable(&src, &from)) return;
    const uint32_t factor = random.next();
    const unsigned what = below(4);
    if (what == 0 && to != from) {
      weave<<<1, WORDS>>>((uint32_t *)dst, (const uint32_t *)src, factor);
      CUDA(cudaGetLastError());
      for (int i = 0; i < WORDS; i++) to[i] = to[i] * factor + from[i];
    } else if (what == 1 && to != from) {
      CU(cuMemcpyDtoD(dst, src, WORDS * 4));
      memcpy(to, from, WORDS * 4);
    } else if (what == 2) {
      CU(cuMemsetD32(dst, factor, WORDS));
      for (int i = 0; i < WORDS; i++) to[i] = factor;
    } else {
      uint32_t words[WORDS];
      for (uint32_t &w : words) w = random.next();
      CU(cuMemcpyHtoD(dst, words, sizeof words));
      memcpy(to, words, sizeof words);
    }
  }
  void compare()
  {
    CUdeviceptr at;
    uint32_t *model, got[WORDS];
    if (!usable(&at, &model)) return;
    CU(cuMemcpyDtoH(got, at, sizeof got));
    for (int i = 0; i < WORDS; i++) {
      if (got[i] == model[i]) continue;
      printf("word %d at %llx: %08x, not %08x\n", i, at, got[i], model[i]);
      exit(1);
    }
  }
  // What is not mapped, or must not be used, is no memory for copies; a handle is found again by what is mapped.
  void ask(Range &r, size_t p)
  {
    const Place &place = r.places[p];
    CUmemGenericAllocationHandle handle;
    uint32_t word;
    const CUdeviceptr at = r.at + p * page;
    if (place.access != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) CHECK(cuMemcpyDtoH(&word, at, 4) != CUDA_SUCCESS);
    CHECK((cuMemRetainAllocationHandle(&handle, (void *)at) == CUDA_SUCCESS) == !!place.piece);
    if (place.piece) CU(cuMemRelease(handle));
    if (!place.piece) return;
    unsigned long long flags;
    CUmemLocation l = {};
    l.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CU(cuMemGetAccess(&flags, &l, at));
    CHECK(flags == (unsigned long long)place.access);
  }

  void step()
  {
    const unsigned what = below(100);
    if (pieces.size() < 2 || (what < 8 && pieces.size() < 8)) return say("memory", 0, 0), new_piece();
    if (ranges.empty() || (what < 15 && ranges.size() < 5)) return say("reserve", 0, 0), new_range();
    const size_t i = below((unsigned)ranges.size());
    const size_t p = below((unsigned)ranges[i].places.size());
    if (what < 35) return say("map into", i, p), map(ranges[i]);
    if (what < 42) return say("unmap", i, p), unmap(ranges[i], p);
    if (what < 47) return say("access", i, p), ranges[i].places[p].piece ? change_access(ranges[i], p) : void();
    if (what < 50) return say("drop", i, 0), drop_range(i);
    if (what < 53) return say("release", 0, 0), release(pieces[below((unsigned)pieces.size())]);
    if (what < 60) return say("ask", i, p), ask(ranges[i], p);
    if (what < 92) return say("use", 0, 0), use();
    say("compare", 0, 0), compare();
  }
  void change_access(Range &r, size_t at)
  {
    size_t from, pages;
    run_of(r, at, &from, &pages);
    allow(r, from, pages);
  }
  // Its memory stays as long as it is mapped.
  static void release(const std::shared_ptr<Piece> &piece)
  {
    if (piece->released) return;
    CU(cuMemRelease(piece->handle));
    piece->released = true;
  }
};

int main(int argc, char **argv)
{
  const unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1, programs = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
  const unsigned steps = argc > 3 ? (unsigned)atoi(argv[3]) : 80;
  talks = argc > 4;
  CUDA(cudaFree(nullptr));
  for (unsigned seed = first; seed < first + programs; seed++) {
    if (talks) printf("seed %u\n", seed);
    Program(seed).run(steps);
  }
  printf("%u programs of virtual memory from seed %u on: right\n", programs, first);
}
