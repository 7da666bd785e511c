#include "cli/region.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"

/* Far from where Linux puts programs, libraries and stacks, and from what sanitizers keep for themselves. */
#define REGION_AT    ((uintptr_t)0x200000000000)
#define REGION_BYTES ((uintptr_t)1 << 44)

/* Blocks have one of these sizes, their head included: multiples of 16 up to 256, then four for each power of two. What
 * is larger than the last is mapped by itself. */
enum { STEP = 16, FINE = 256, FINE_CLASSES = FINE / STEP, CLASSES = FINE_CLASSES + 36, OWN_CLASS = CLASSES };
enum { CHUNK = 1 << 20, MOST_GAPS = 512, MOST_NOTED = 1024 };

/* Before each block. */
struct region_block {
  uint64_t bytes;  /* from `from` to the end of the block */
  uint32_t class;  /* OWN_CLASS: mapped by itself */
  uint32_t behind; /* where the block begins: so far before here */
};
_Static_assert(sizeof(struct region_block) == STEP, "blocks stay aligned for every type");

struct free_block {
  struct free_block *next;
};

struct region {
  pthread_mutex_t lock; /* helpers of a run take memory, too */
  void *root;
  uintptr_t next;               /* nothing beyond has ever been handed out */
  uintptr_t chunk, chunk_bytes; /* what is being cut into blocks */
  struct free_block *free[CLASSES];
  struct region_range gap[MOST_GAPS]; /* pages that were given back */
  unsigned n_gaps;
  struct region_range noted[MOST_NOTED];
  unsigned n_noted;
  bool shared;
  int streams;
};

static bool in_use;

static struct region *region(void)
{
  return (struct region *)REGION_AT;
}

bool region_has(const void *p)
{
  return (uintptr_t)p - REGION_AT < REGION_BYTES;
}

bool region_in_use(void)
{
  return in_use;
}

void region_use(bool on)
{
  in_use = on;
}

bool region_reserve(struct err *e)
{
  const void *at = mmap((void *)REGION_AT, REGION_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == (void *)REGION_AT) return true;
  return err_set(e, "checkpoints need 16 TiB of addresses from 0x%llx on, of which only what is used costs memory: %s",
                 (unsigned long long)REGION_AT, strerror(errno));
}

bool region_new(struct err *e)
{
  TRY(region_reserve(e));
  struct region *r = region();
  BUG_ON(pthread_mutex_init(&r->lock, NULL) != 0);
  r->next = REGION_AT + align_up(sizeof *r, REGION_PAGE);
  in_use = true;
  return true;
}

uintptr_t region_first(void)
{
  return REGION_AT;
}

uintptr_t region_end(void)
{
  return region()->next;
}

uintptr_t region_limit(void)
{
  return REGION_AT + REGION_BYTES;
}

bool region_looks_right(void)
{
  const struct region *r = region();
  return r->next > REGION_AT && r->next <= region_limit() && r->next % REGION_PAGE == 0 && region_has(r->root);
}

void region_set_root(void *p)
{
  region()->root = p;
}

void *region_root(void)
{
  return region()->root;
}

void region_count_stream(int more)
{
  region()->streams += more;
}

int region_streams(void)
{
  return region()->streams;
}

/* The host gives pages when they are first touched, and takes them all when it has too few: only addresses run out. */
static _Noreturn void full(void)
{
  static const char line[] = "warpstep: out of host memory: the region of a run that can be saved is full\n";
  const ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
  (void)ignored;
  _exit(NO_MEMORY_EXIT_STATUS);
}

/* ---- pages ---- */

static void *map(struct region *r, size_t bytes)
{
  for (unsigned i = r->n_gaps; i-- > 0;) {
    struct region_range *g = &r->gap[i];
    if (g->bytes < bytes) continue;
    void *at = (void *)g->at;
    g->at += bytes;
    g->bytes -= bytes;
    if (!g->bytes) *g = r->gap[--r->n_gaps];
    return at;
  }
  if (bytes > region_limit() - r->next) full();
  void *at = (void *)r->next;
  r->next += bytes;
  return at;
}

/* Zeros again, and readable, whatever they were. When there are too many gaps, addresses are lost, no memory. */
static void unmap(struct region *r, uintptr_t at, size_t bytes)
{
  const void *fresh = mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (fresh != (void *)at) full();
  for (unsigned i = 0; i < r->n_gaps; i++) {
    struct region_range *g = &r->gap[i];
    if (g->at + g->bytes != at && at + bytes != g->at) continue;
    if (at < g->at) g->at = at;
    g->bytes += bytes;
    return;
  }
  if (r->n_gaps < MOST_GAPS) r->gap[r->n_gaps++] = (struct region_range){at, bytes};
}

static size_t whole_pages(size_t bytes)
{
  if (bytes > REGION_BYTES) full();
  return align_up(bytes, REGION_PAGE);
}

void *region_map(size_t bytes)
{
  struct region *r = region();
  pthread_mutex_lock(&r->lock);
  void *p = map(r, whole_pages(bytes));
  pthread_mutex_unlock(&r->lock);
  return p;
}

void region_unmap(void *p, size_t bytes)
{
  struct region *r = region();
  pthread_mutex_lock(&r->lock);
  unmap(r, (uintptr_t)p, whole_pages(bytes));
  pthread_mutex_unlock(&r->lock);
}

/* ---- mappings elsewhere ---- */

static void note(struct region *r, uintptr_t from, uintptr_t to)
{
  if (from >= to) return;
  if (r->n_noted < MOST_NOTED) r->noted[r->n_noted++] = (struct region_range){from, to - from};
  else r->shared = true; /* no more can be kept */
}

/* Of a noted range that is cut, what lies before and behind stays. */
static void forget(struct region *r, uintptr_t from, uintptr_t to)
{
  for (unsigned i = r->n_noted; i-- > 0;) {
    const struct region_range was = r->noted[i];
    if (was.at >= to || was.at + was.bytes <= from) continue;
    r->noted[i] = r->noted[--r->n_noted];
    note(r, was.at, from);
    note(r, to, was.at + was.bytes);
  }
}

/* Of a range that was noted, too, the new mapping has taken the place. */
void region_note(void *p, size_t bytes)
{
  struct region *r = region();
  const uintptr_t from = (uintptr_t)p, to = from + whole_pages(bytes);
  pthread_mutex_lock(&r->lock);
  forget(r, from, to);
  note(r, from, to);
  pthread_mutex_unlock(&r->lock);
}

void region_forget(void *p, size_t bytes)
{
  struct region *r = region();
  const uintptr_t from = (uintptr_t)p, to = from + whole_pages(bytes);
  pthread_mutex_lock(&r->lock);
  forget(r, from, to);
  pthread_mutex_unlock(&r->lock);
}

const struct region_range *region_noted(unsigned i)
{
  return i < region()->n_noted ? &region()->noted[i] : NULL;
}

void region_note_shared(void)
{
  region()->shared = true;
}

bool region_is_shared(void)
{
  return region()->shared;
}

/* ---- blocks ---- */

/* The smallest class for so many bytes, and its size; OWN_CLASS: none. */
static unsigned class_of(size_t *bytes)
{
  if (*bytes <= FINE) {
    *bytes = *bytes ? align_up(*bytes, STEP) : STEP;
    return (unsigned)(*bytes / STEP - 1);
  }
  size_t power = FINE;
  for (unsigned c = FINE_CLASSES; c < CLASSES; power *= 2)
    for (unsigned quarter = 1; quarter <= 4; quarter++, c++)
      if (*bytes <= power + power / 4 * quarter) {
        *bytes = power + power / 4 * quarter;
        return c;
      }
  return OWN_CLASS;
}

static void *cut(struct region *r, size_t bytes)
{
  if (r->chunk_bytes < bytes) {
    r->chunk = (uintptr_t)map(r, CHUNK);
    r->chunk_bytes = CHUNK;
  }
  void *p = (void *)r->chunk;
  r->chunk += bytes;
  r->chunk_bytes -= bytes;
  return p;
}

/* Room for so many bytes, head included. */
static struct region_block *take(size_t bytes, bool *is_zero)
{
  struct region *r = region();
  const unsigned class = class_of(&bytes);
  *is_zero = false;
  pthread_mutex_lock(&r->lock);
  struct region_block *b;
  if (class == OWN_CLASS) {
    bytes = whole_pages(bytes);
    b = map(r, bytes);
    *is_zero = true;
  } else if (r->free[class]) {
    b = (struct region_block *)(void *)r->free[class];
    r->free[class] = r->free[class]->next;
  } else {
    b = cut(r, bytes);
    *is_zero = true;
  }
  pthread_mutex_unlock(&r->lock);
  *b = (struct region_block){.bytes = bytes, .class = class};
  return b;
}

void *region_take(size_t bytes, bool zeroed)
{
  bool is_zero;
  if (bytes > REGION_BYTES) full();
  struct region_block *b = take(bytes + sizeof *b, &is_zero);
  if (zeroed && !is_zero) memset(b + 1, 0, bytes);
  return b + 1;
}

void *region_take_aligned(size_t align, size_t bytes)
{
  bool is_zero;
  if (bytes > REGION_BYTES) full();
  BUG_ON(align > UINT32_MAX); /* `behind` could not say where the block begins */
  if (align <= STEP) return region_take(bytes, false);
  struct region_block *const b = take(bytes + align + sizeof *b, &is_zero), was = *b;
  struct region_block *head = (struct region_block *)(void *)align_up((uintptr_t)(b + 1), align) - 1;
  *head = was;
  head->behind = (uint32_t)((uintptr_t)head - (uintptr_t)b);
  return head + 1;
}

void region_give(void *p)
{
  struct region *r = region();
  struct region_block *b = (struct region_block *)p - 1;
  const unsigned class = b->class;
  const size_t bytes = b->bytes;
  b = (struct region_block *)(void *)((char *)b - b->behind);
  pthread_mutex_lock(&r->lock);
  if (class == OWN_CLASS) {
    unmap(r, (uintptr_t)b, bytes);
  } else {
    BUG_ON(class > OWN_CLASS);
    struct free_block *f = (struct free_block *)(void *)b;
    f->next = r->free[class];
    r->free[class] = f;
  }
  pthread_mutex_unlock(&r->lock);
}

void *region_resize(void *p, size_t bytes)
{
  if (!p) return region_take(bytes, false);
  const struct region_block *b = (struct region_block *)p - 1;
  const size_t have = b->bytes - b->behind - sizeof *b;
  if (bytes <= have && bytes >= have / 2) return p;
  void *more = region_take(bytes, false);
  memcpy(more, p, bytes < have ? bytes : have);
  region_give(p);
  return more;
}
