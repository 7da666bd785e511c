/* Regions in files (cli/region.h):
 *
 *   head   magic, name of the build, level of the host's vector instructions: as they are
 *   zstd   one frame, with a checksum: ranges elsewhere {address, pages}, up to {0, 0}; runs of pages {address, pages}
 *          and their bytes, up to {0, 0}; ranges that cannot be touched {address, pages}, up to {0, 0}
 *   sum    of the frame's bytes: zstd does not look at all of them, its checksum is of what comes out
 *
 * Only pages that are there and not zero are written.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zstd.h>

#include "base/arith.h"
#include "base/checksum.h"
#include "base/host_memory.h"
#include "base/output.h"
#include "base/regular.h"
#include "cli/region.h"

enum { BUILD_BYTES = 20, LEVEL = 1, MAP_ENTRIES = 1 << 15 };

static const char magic[8] = {'w', 's', 'c', 'k', 'p', 't', '0', '2'};

struct head {
  char magic[sizeof magic];
  uint8_t build[BUILD_BYTES];
  uint8_t vectors; /* code for some of these may have been chosen */
  uint8_t zero[3];
};

struct run {
  uint64_t at, pages;
};

/* ---- who made it ---- */

/* Notes of the program itself, which comes first. */
static int find_build(struct dl_phdr_info *i, size_t size, void *build)
{
  (void)size;
  for (unsigned k = 0; k < i->dlpi_phnum; k++) {
    if (i->dlpi_phdr[k].p_type != PT_NOTE) continue;
    const char *at = (const char *)(i->dlpi_addr + i->dlpi_phdr[k].p_vaddr), *const end = at + i->dlpi_phdr[k].p_memsz;
    while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) n;
      memcpy(&n, at, sizeof n);
      const char *name = at + sizeof n, *desc = name + align_up(n.n_namesz, 4);
      if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == sizeof "GNU" && !memcmp(name, "GNU", sizeof "GNU") &&
          n.n_descsz == BUILD_BYTES)
        return memcpy(build, desc, BUILD_BYTES), 1;
      at = desc + align_up(n.n_descsz, 4);
    }
  }
  return -1;
}

/* What code may have asked the host for (func/sass/sem_select.c, base/bits.h). */
static uint8_t vectors(void)
{
  const bool has[] = {__builtin_cpu_supports("popcnt"),   __builtin_cpu_supports("avx2"),
                      __builtin_cpu_supports("fma"),      __builtin_cpu_supports("bmi2"),
                      __builtin_cpu_supports("avx512f"),  __builtin_cpu_supports("avx512bw"),
                      __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512vl")};
  uint8_t bits = 0;
  for (unsigned i = 0; i < sizeof has; i++) bits = (uint8_t)(bits << 1 | has[i]);
  return bits;
}

static bool fill_head(struct head *h, struct err *e)
{
  *h = (struct head){.vectors = vectors()};
  memcpy(h->magic, magic, sizeof magic);
  if (dl_iterate_phdr(find_build, h->build) == 1) return true;
  return err_set(e, "checkpoints need the build ID of this program, which the linker was told not to write");
}

/* ---- writing ---- */

struct writer {
  FILE *f;
  ZSTD_CCtx *zstd;
  uint8_t *out;
  size_t room;
  uint64_t sum;  /* of what was written */
  int pagemap;   /* /proc/self/pagemap: which pages are there */
  uint64_t *map; /* entries of the part being looked at */
};

static bool compress(struct writer *w, const void *data, size_t n, ZSTD_EndDirective end)
{
  ZSTD_inBuffer in = {data, n, 0};
  size_t left;
  do {
    ZSTD_outBuffer out = {w->out, w->room, 0};
    left = ZSTD_compressStream2(w->zstd, &out, &in, end);
    if (ZSTD_isError(left)) return errno = ENOMEM, false;
    if (out.pos && fwrite(w->out, out.pos, 1, w->f) != 1) return false;
    w->sum = checksum64_more(w->sum, w->out, out.pos);
  } while (end == ZSTD_e_end ? left != 0 : in.pos < in.size);
  return true;
}

static bool put_run(struct writer *w, uint64_t at, uint64_t pages)
{
  const struct run r = {at, pages};
  return compress(w, &r, sizeof r, ZSTD_e_continue);
}

static bool is_zero(const void *page)
{
  const uint64_t *word = page;
  for (unsigned i = 0; i < REGION_PAGE / sizeof *word; i++)
    if (word[i]) return false;
  return true;
}

/* Which of n pages from `at` on are there (present or swapped out) and not zero. Others are not touched: some cannot
 * be. */
static bool look(struct writer *w, uintptr_t at, size_t n)
{
  const size_t bytes = n * sizeof *w->map;
  const off_t from = (off_t)(at / REGION_PAGE * sizeof *w->map);
  const uint64_t there = UINT64_C(3) << 62;
  if (pread(w->pagemap, w->map, bytes, from) != (ssize_t)bytes) return false;
  for (size_t i = 0; i < n; i++) w->map[i] = (w->map[i] & there) && !is_zero((void *)(at + i * REGION_PAGE));
  return true;
}

static bool put_pages_of(struct writer *w, uintptr_t at, size_t n)
{
  if (!look(w, at, n)) return false;
  for (size_t i = 0, k; i < n; i = k) {
    for (k = i + 1; k < n && w->map[k] == w->map[i]; k++) continue;
    if (!w->map[i]) continue;
    const uintptr_t from = at + i * REGION_PAGE;
    if (!put_run(w, from, k - i) || !compress(w, (void *)from, (k - i) * REGION_PAGE, ZSTD_e_continue)) return false;
  }
  return true;
}

static bool put_pages(struct writer *w, uintptr_t from, uintptr_t to)
{
  for (size_t n; from < to; from += n * REGION_PAGE) {
    n = (to - from) / REGION_PAGE < MAP_ENTRIES ? (to - from) / REGION_PAGE : MAP_ENTRIES;
    if (!put_pages_of(w, from, n)) return false;
  }
  return true;
}

/* Parts of the region that cannot be touched, at the ends of stacks: what the host says of them. */
struct guards {
  struct run *run;
  uint32_t n, room;
};

static bool find_guards(struct guards *g)
{
  char line[512], rights[5];
  uint64_t from, to;
  FILE *f = fopen("/proc/self/maps", "re");
  if (!f) return false;
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, rights) != 3) continue;
    if (from < region_first() || to > region_limit() || rights[0] == 'r') continue;
    g->run = mem_more(g->run, g->n, &g->room, sizeof *g->run);
    g->run[g->n++] = (struct run){from, (to - from) / REGION_PAGE};
  }
  fclose(f);
  return true;
}

static const struct run the_end;

static bool put_noted(struct writer *w)
{
  const struct region_range *r;
  for (unsigned i = 0; (r = region_noted(i)); i++)
    if (!put_run(w, r->at, r->bytes / REGION_PAGE)) return false;
  return put_run(w, the_end.at, the_end.pages);
}

static bool put_pages_noted(struct writer *w)
{
  const struct region_range *r;
  for (unsigned i = 0; (r = region_noted(i)); i++)
    if (!put_pages(w, r->at, r->at + r->bytes)) return false;
  return true;
}

static bool put_all(struct writer *w, const struct guards *g)
{
  uintptr_t at = region_first();
  if (!put_noted(w)) return false;
  for (uint32_t i = 0; i <= g->n; i++) {
    const uintptr_t end = i < g->n ? g->run[i].at : region_end();
    if (!put_pages(w, at, end)) return false;
    if (i < g->n) at = g->run[i].at + g->run[i].pages * REGION_PAGE;
  }
  if (!put_pages_noted(w) || !put_run(w, the_end.at, the_end.pages)) return false;
  for (uint32_t i = 0; i < g->n; i++)
    if (!put_run(w, g->run[i].at, g->run[i].pages)) return false;
  return compress(w, &the_end, sizeof the_end, ZSTD_e_end);
}

static bool write_region(FILE *f, int pagemap)
{
  struct writer w = {.f = f, .zstd = ZSTD_createCCtx(), .room = ZSTD_CStreamOutSize(), .sum = CHECKSUM64_EMPTY,
                     .pagemap = pagemap};
  struct guards g = {0};
  w.out = mem_alloc(w.room);
  w.map = mem_alloc(MAP_ENTRIES * sizeof *w.map);
  NO_MEMORY_IF(!w.zstd || ZSTD_isError(ZSTD_CCtx_setParameter(w.zstd, ZSTD_c_compressionLevel, LEVEL)) ||
               ZSTD_isError(ZSTD_CCtx_setParameter(w.zstd, ZSTD_c_checksumFlag, 1)));
  const bool ok = find_guards(&g) && put_all(&w, &g) && fwrite(&w.sum, sizeof w.sum, 1, f) == 1;
  mem_free(g.run);
  mem_free(w.map);
  mem_free(w.out);
  ZSTD_freeCCtx(w.zstd);
  return ok;
}

bool region_save(const char *path, struct err *e)
{
  struct head h;
  struct output out;
  TRY(fill_head(&h, e));
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return err_set(e, "checkpoints need /proc/self/pagemap: %s", host_error());
  FILE *f = output_open(&out, path, e);
  bool ok = f && fwrite(&h, sizeof h, 1, f) == 1 && write_region(f, pagemap);
  if (f && !ok) err_fill(e, "%s: %s", path, host_error());
  if (f) ok = output_close(&out, ok, e);
  close(pagemap);
  return ok;
}

/* ---- reading ---- */

struct reader {
  FILE *f;
  ZSTD_DCtx *zstd;
  uint8_t *in;
  size_t room;
  uint64_t frame; /* bytes of it that have not been read */
  ZSTD_inBuffer left;
  bool over; /* the frame ended */
  struct run *elsewhere; /* mapped, as the file says */
  uint32_t n_elsewhere, room_elsewhere;
  uint64_t taken; /* where this process has memory of its own instead; 0: nowhere */
};

/* The frame is all that is between the head and its sum, and has that sum. Its bytes come next. */
static bool find_frame(struct reader *r)
{
  uint64_t sum = CHECKSUM64_EMPTY, wanted;
  off_t size;
  if (fseeko(r->f, 0, SEEK_END) != 0 || (size = ftello(r->f)) < 0) return false;
  if ((uint64_t)size < sizeof(struct head) + sizeof wanted) return false;
  r->frame = (uint64_t)size - sizeof(struct head) - sizeof wanted;
  if (fseeko(r->f, sizeof(struct head), SEEK_SET) != 0) return false;
  for (uint64_t left = r->frame, n; left; left -= n) {
    n = fread(r->in, 1, earlier(r->room, left), r->f);
    if (!n) return false;
    sum = checksum64_more(sum, r->in, n);
  }
  if (fread(&wanted, sizeof wanted, 1, r->f) != 1 || sum != wanted) return false;
  return fseeko(r->f, sizeof(struct head), SEEK_SET) == 0;
}

static bool decompress(struct reader *r, void *to, size_t n)
{
  ZSTD_outBuffer out = {to, n, 0};
  while (out.pos < n) {
    if (r->over) return false;
    if (r->left.pos == r->left.size) {
      r->left = (ZSTD_inBuffer){r->in, fread(r->in, 1, earlier(r->room, r->frame), r->f), 0};
      r->frame -= r->left.size;
    }
    if (!r->left.size) return false;
    const size_t more = ZSTD_decompressStream(r->zstd, &out, &r->left);
    if (ZSTD_isError(more)) return false;
    r->over = more == 0;
  }
  return true;
}

/* Nothing is left but the frame's checksum, and that is right. */
static bool ends_here(struct reader *r)
{
  uint8_t none;
  if (!r->over && (decompress(r, &none, 1) || !r->over)) return false;
  return r->left.pos == r->left.size && !r->frame;
}

/* Whether pages are some of those in [from, to). */
static bool lie_in(const struct run *run, uintptr_t from, uintptr_t to)
{
  return run->at >= from && run->at < to && run->pages <= (to - run->at) / REGION_PAGE;
}

static bool next_range(struct reader *r, struct run *run)
{
  if (!decompress(r, run, sizeof *run)) return false;
  return run->pages ? run->at % REGION_PAGE == 0 : run->at == 0;
}

static bool next_run(struct reader *r, struct run *run)
{
  if (!next_range(r, run)) return false;
  bool there = !run->pages || lie_in(run, region_first(), region_limit());
  for (uint32_t i = 0; i < r->n_elsewhere && !there; i++)
    there = lie_in(run, r->elsewhere[i].at, r->elsewhere[i].at + r->elsewhere[i].pages * REGION_PAGE);
  return there;
}

/* Nothing of this process is there. */
static bool map_elsewhere(struct reader *r)
{
  enum { MOST_BITS = 47 };
  struct run run;
  for (;;) {
    if (!next_range(r, &run)) return false;
    if (!run.pages) return true;
    if (run.at >> MOST_BITS || run.pages > UINT64_C(1) << (MOST_BITS - 12)) return false;
    void *want = (void *)(uintptr_t)run.at;
    if (mmap(want, run.pages * REGION_PAGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != want) {
      if (errno == EEXIST) r->taken = run.at;
      return false;
    }
    r->elsewhere = mem_more(r->elsewhere, r->n_elsewhere, &r->room_elsewhere, sizeof *r->elsewhere);
    r->elsewhere[r->n_elsewhere++] = run;
  }
}

static bool read_region(struct reader *r)
{
  struct run run;
  if (!map_elsewhere(r)) return false;
  do {
    if (!next_run(r, &run)) return false;
    if (run.pages && !decompress(r, (void *)(uintptr_t)run.at, run.pages * REGION_PAGE)) return false;
  } while (run.pages);
  do {
    if (!next_run(r, &run)) return false;
    if (run.pages && mprotect((void *)(uintptr_t)run.at, run.pages * REGION_PAGE, PROT_NONE) != 0) return false;
  } while (run.pages);
  return ends_here(r) && region_looks_right();
}

static bool right_head(FILE *f, const char *path, struct err *e)
{
  struct head is, wanted;
  TRY(fill_head(&wanted, e));
  if (fread(&is, sizeof is, 1, f) != 1 || memcmp(is.magic, magic, sizeof magic))
    return err_set(e, "%s: is no checkpoint", path);
  if (memcmp(is.build, wanted.build, BUILD_BYTES))
    return err_set(e, "%s: the checkpoint is of another build of warpstep; only the one that saved it can restore it",
                   path);
  if (is.vectors != wanted.vectors)
    return err_set(e, "%s: the checkpoint is of a host with other vector instructions than this one has", path);
  return !memcmp(is.zero, wanted.zero, sizeof is.zero) || err_set(e, "%s: the checkpoint is damaged", path);
}

static bool read_file(FILE *f, const char *path, struct err *e)
{
  TRY(right_head(f, path, e));
  TRY(region_reserve(e));
  struct reader r = {.f = f, .zstd = ZSTD_createDCtx(), .room = ZSTD_DStreamInSize()};
  NO_MEMORY_IF(!r.zstd);
  r.in = mem_alloc(r.room);
  const bool ok = find_frame(&r) && read_region(&r);
  mem_free(r.elsewhere);
  mem_free(r.in);
  ZSTD_freeDCtx(r.zstd);
  if (r.taken)
    return err_set(e, "%s: the run had memory at 0x%" PRIx64 ", where this process has other memory", path, r.taken);
  return ok || err_set(e, "%s: the checkpoint is damaged or cut off", path);
}

bool region_load(const char *path, struct err *e)
{
  TRY(file_is_regular(path, e));
  FILE *f = fopen(path, "rbe");
  if (!f) return err_set(e, "%s: %s", path, host_error());
  const bool ok = read_file(f, path, e);
  fclose(f);
  if (ok) region_use(true);
  return ok;
}
