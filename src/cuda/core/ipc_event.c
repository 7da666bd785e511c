#include "cuda/core/ipc_event.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/arith.h"
#include "cuda/core/shim.h"

enum { PAGE = 4096, SLOT = 512, RECORDS = 64, LOOK_NS = 5 * 1000 * 1000 };

/* ps, 53 days: others may have written any time, and sums with this one do not overflow. */
#define LATEST (UINT64_MAX / 4)

/* A record's mark is set before its number is told, so whoever knows the number finds the mark, until it has happened.
 * 64 records later another one has the same mark: who waits then waits for that one, too. */
struct shared_event {
  _Alignas(SLOT) _Atomic uint64_t numbers; /* given out */
  _Atomic uint64_t recorded;          /* so far */
  _Atomic uint64_t open;              /* marks of those that have not happened */
  _Atomic uint64_t end;               /* ps */
  _Atomic uint64_t looked;            /* ns, CLOCK_MONOTONIC: when somebody last looked for recorders that are gone */
  _Atomic uint32_t changes;           /* futex: something has happened */
  _Atomic int32_t recorder[RECORDS];  /* the process that made the record with this mark */
};
_Static_assert(sizeof(struct shared_event) == SLOT && PAGE % SLOT == 0, "slots fill their page");

/* A page of slots, of this process's file or of another's; mapped as long as the process lives. */
struct event_page {
  struct event_page *next;
  dev_t device;
  ino_t inode;
  uint64_t number;
  struct shared_event *slot;
};

struct open_record {
  struct open_record *next;
  struct shim *shim;
  struct shared_record record;
};

/* At the end of its file, which is as long as there were slots. */
struct shared_events {
  int fd;
  uint64_t made;
  struct event_page *pages;
  struct open_record *open;
};

static struct shared_events *events_of(struct shim *s)
{
  if (!s->shared_events) {
    s->shared_events = shim_alloc(sizeof *s->shared_events);
    *s->shared_events = (struct shared_events){.fd = -1};
  }
  return s->shared_events;
}

static struct event_page *page_of(struct shared_events *all, int fd, uint64_t number)
{
  struct stat st;
  if (fstat(fd, &st) != 0 || (uint64_t)st.st_size / PAGE <= number) return NULL;
  for (struct event_page *p = all->pages; p; p = p->next)
    if (p->device == st.st_dev && p->inode == st.st_ino && p->number == number) return p;
  void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(number * PAGE));
  if (at == MAP_FAILED) return NULL;
  struct event_page *p = shim_alloc(sizeof *p);
  *p = (struct event_page){.next = all->pages, .device = st.st_dev, .inode = st.st_ino, .number = number, .slot = at};
  return all->pages = p;
}

static struct shared_event *slot_at(struct shared_events *all, int fd, uint64_t offset)
{
  struct event_page *p = offset % SLOT ? NULL : page_of(all, fd, offset / PAGE);
  return p ? &p->slot[offset % PAGE / SLOT] : NULL;
}

/* It never gets shorter, so that nobody who has mapped it loses a page. */
static int new_file(void)
{
  const int fd = memfd_create("warpstep-events", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0) return fd;
  close(fd);
  return -1;
}

static bool is_sealed(int fd)
{
  const int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && seals & F_SEAL_SHRINK;
}

static bool new_slot(struct shared_events *all, struct event *e)
{
  const uint64_t at = all->made * SLOT;
  if (all->fd < 0) all->fd = new_file();
  if (all->fd < 0 || (at % PAGE == 0 && ftruncate(all->fd, (off_t)(at + PAGE)) != 0)) return false;
  e->shared = slot_at(all, all->fd, at);
  if (!e->shared) return false;
  e->shared_at = at;
  all->made++;
  return true;
}

bool ipc_event_export(struct shim *s, struct event *e, int *fd, uint64_t *offset)
{
  struct shared_events *all = events_of(s);
  if (!e->shared && !new_slot(all, e)) return false;
  *fd = all->fd, *offset = e->shared_at;
  return true;
}

bool ipc_event_import(struct shim *s, struct event *e, int fd, uint64_t offset)
{
  e->shared = is_sealed(fd) ? slot_at(events_of(s), fd, offset) : NULL;
  e->shared_at = offset;
  return e->shared != NULL;
}

static uint64_t mark_of(uint64_t number)
{
  return (uint64_t)1 << number % RECORDS;
}

static int recorder_of(const struct shared_record *r)
{
  return atomic_load(&r->slot->recorder[r->number % RECORDS]);
}

static void happened(const struct shared_record *r)
{
  atomic_fetch_and(&r->slot->open, ~mark_of(r->number));
  atomic_fetch_add(&r->slot->changes, 1);
  syscall(SYS_futex, &r->slot->changes, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void raise_to(_Atomic uint64_t *at, uint64_t value)
{
  uint64_t known = atomic_load(at);
  while (known < value && !atomic_compare_exchange_weak(at, &known, value)) continue;
}

void ipc_record_ended(void *ctx, uint64_t now)
{
  struct open_record *o = ctx;
  raise_to(&o->record.slot->end, now);
  happened(&o->record);
  struct open_record **at = &o->shim->shared_events->open;
  while (*at != o) at = &(*at)->next;
  *at = o->next;
  free(o);
}

struct open_record *ipc_event_record(struct shim *s, struct event *e)
{
  struct shared_event *slot = e->shared;
  struct open_record *o = shim_alloc(sizeof *o);
  const uint64_t number = atomic_fetch_add(&slot->numbers, 1) + 1;
  atomic_store(&slot->recorder[number % RECORDS], getpid());
  atomic_fetch_or(&slot->open, mark_of(number));
  raise_to(&slot->recorded, number);
  *o = (struct open_record){.next = s->shared_events->open, .shim = s, .record = {slot, number}};
  s->shared_events->open = o;
  e->shared_record = number;
  return o;
}

bool ipc_event_is_elsewhere(const struct event *e, struct shared_record *r)
{
  if (!e->shared) return false;
  *r = (struct shared_record){e->shared, atomic_load(&e->shared->recorded)};
  return r->number != e->shared_record;
}

uint64_t ipc_record_end(const struct shared_record *r)
{
  return earlier(atomic_load(&r->slot->end), LATEST);
}

void ipc_record_describe(const struct shared_record *r, char *text, size_t size)
{
  snprintf(text, size, "an event that process %d has recorded", recorder_of(r));
}

/* proc(5), stat: the state follows the name, which ends with the last parenthesis. */
static bool is_gone(int pid)
{
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *f = fopen(path, "r");
  if (!f) return true;
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  const char *name_end = strrchr(text, ')');
  return name_end && name_end[1] == ' ' && (name_end[2] == 'Z' || name_end[2] == 'X');
}

static bool is_open(const struct shared_record *r)
{
  return atomic_load(&r->slot->open) & mark_of(r->number);
}

/* What processes that are gone have recorded has happened: every some milliseconds one of those that ask looks. */
static void look_for_gone(struct shared_event *e)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  const uint64_t now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
  uint64_t last = atomic_load(&e->looked);
  if (now - last < LOOK_NS || !atomic_compare_exchange_strong(&e->looked, &last, now)) return;
  for (uint64_t open = atomic_load(&e->open); open; open &= open - 1) {
    const struct shared_record r = {e, (uint64_t)__builtin_ctzll(open)};
    if (is_gone(recorder_of(&r))) happened(&r);
  }
}

bool ipc_record_is_over(const struct shared_record *r)
{
  if (is_open(r)) look_for_gone(r->slot);
  return !is_open(r);
}

void ipc_record_wait(const struct shared_record *r)
{
  const struct timespec a_while = {.tv_nsec = LOOK_NS};
  const uint32_t changes = atomic_load(&r->slot->changes);
  if (!ipc_record_is_over(r)) syscall(SYS_futex, &r->slot->changes, FUTEX_WAIT, changes, &a_while, NULL, 0);
}

void ipc_events_end(struct shim *s)
{
  if (!s->shared_events) return;
  for (struct open_record *o = s->shared_events->open; o; o = o->next) happened(&o->record);
}
