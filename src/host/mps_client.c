#include "host/mps_client.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/guest_regions.h"
#include "base/host_memory.h"
#include "base/place.h"
#include "host/mps_managed.h"
#include "load/code_copy.h"
#include "time/gpu/gpu.h"

enum { PROGRAM_BITS = 48, BANKS = 8, BELOW_NORMAL = 1 << 16, PLANES_MOST = 1 << 20 };

struct mps_mapping {
  struct mps_mapping *next;
  uint64_t addr, bytes;
  void *host;
};

struct mps_program_code {
  struct mps_program_code *next;
  uint64_t id;
  struct code_copy *copy;
};

struct mps_launch {
  struct launch launch;
  struct mps_client *client;
  uint64_t who; /* the client's */
  struct device_runtime runtime;
  uint8_t *bytes; /* banks, name, textures */
  struct tex_table textures;
  struct core_set cores;
  bool beside, prepared;
  int priority;
};

struct mps_client *mps_client_new(unsigned number, pid_t process, unsigned page_bits, const struct mps_asker *asker)
{
  struct mps_client *c = mem_zeroed(1, sizeof *c);
  c->number = number;
  c->page_bits = page_bits;
  c->process = process;
  c->asker = asker;
  return c;
}

static void hide(struct mps_client *c, uint64_t addr, uint64_t bytes, struct gmem *all)
{
  gmem_mirror(all, c->image, addr, bytes, true); /* what is not there any more, is not shown */
}

static void unmap(struct mps_client *c, struct mps_mapping **at, struct gmem *all)
{
  struct mps_mapping *m = *at;
  *at = m->next;
  hide(c, m->addr, m->bytes, all);
  gmem_unmap(c->image, m->host, m->bytes);
  mem_free(m);
}

static void free_image(struct mps_client *c, struct gmem *all)
{
  struct gmem_range r;
  for (size_t at = 0; gmem_next_range(c->image, &at, &r);) gmem_mirror(all, NULL, r.addr, r.bytes, false);
  while (c->mapping) {
    (void)gmem_release(c->image, c->mapping->addr);
    unmap(c, &c->mapping, all);
  }
  gmem_free(c->image);
}

void mps_client_free(struct mps_client *c, struct gmem *all)
{
  if (c->image) free_image(c, all);
  mem_free(c->range);
  for (struct mps_program_code *next; c->code; c->code = next) {
    next = c->code->next;
    code_copy_free(c->code->copy);
    mem_free(c->code);
  }
  func_heap_free(c->heap);
  if (c->print) fclose(c->print);
  free(c->printed);
  mps_client_told(c);
  mem_free(c->ends);
  mem_free(c);
}

/* --- memory ------------------------------------------------------------------------------------- */

static const struct mps_part region[] = {{DEVICE_FIRST, DEVICE_END}, {RESERVED, RESERVED_END},
                                         {HOST_MAPPINGS, HOST_MAPPINGS_END}};
enum { REGIONS = sizeof region / sizeof *region };

static struct mps_part part_of(const struct mps_client *c, unsigned i)
{
  return mps_part_of_slot(region[i].first, region[i].end, UINT64_C(1) << c->page_bits, c->slot);
}

bool mps_client_owns(const struct mps_client *c, uint64_t addr, uint64_t bytes)
{
  for (unsigned i = 0; i < REGIONS; i++) {
    const struct mps_part p = part_of(c, i);
    if (addr >= p.first && addr < p.end && bytes <= p.end - addr) return true;
  }
  return false;
}

static int open_of(const struct mps_client *c, int file)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)c->process, file);
  return open(path, O_RDWR | O_CLOEXEC);
}

bool mps_client_memory(struct mps_client *c, const void *m, size_t bytes)
{
  struct mps_memory x;
  if (bytes != sizeof x || c->image) return false;
  memcpy(&x, m, sizeof x);
  const int file = x.page_bits == c->page_bits ? open_of(c, x.file) : -1;
  if (file < 0) return false;
  c->image = gmem_new(c->page_bits);
  gmem_follow(c->image, file);
  return true;
}

bool mps_client_allocated(struct mps_client *c, const void *m, size_t bytes, struct gmem *all)
{
  struct mps_allocated x;
  if (bytes != sizeof x || !c->image) return false;
  memcpy(&x, m, sizeof x);
  x.name[sizeof x.name - 1] = '\0';
  if (!x.bytes || x.addr % 512 || !mps_client_owns(c, x.addr, x.bytes)) return false;
  gmem_set_next_address(c->image, x.addr);
  if (gmem_alloc(c->image, x.bytes, x.name) != x.addr) return false;
  gmem_mirror(all, c->image, x.addr, x.bytes, true);
  return true;
}

bool mps_client_released(struct mps_client *c, const void *m, size_t bytes, struct gmem *all)
{
  uint64_t addr;
  struct gmem_place was;
  if (bytes != sizeof addr || !c->image) return false;
  memcpy(&addr, m, sizeof addr);
  if (!gmem_place_below(c->image, addr, &was) || was.addr != addr || !gmem_release(c->image, addr)) return false;
  struct mps_mapping **at = &c->mapping;
  while (*at && (*at)->addr != addr) at = &(*at)->next;
  if (*at) unmap(c, at, all);
  else hide(c, addr, was.bytes, all);
  return true;
}

/* At a multiple of the GPU's page; NULL: it cannot be. */
static void *map_aligned(int file, const struct mps_shown *x, size_t page)
{
  if (!x->bytes || x->bytes > UINT64_MAX / 2) return NULL;
  uint8_t *room = mmap(NULL, x->bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return NULL;
  const size_t head = -(uintptr_t)room & (page - 1);
  uint8_t *at = mmap(room + head, x->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file,
                     (off_t)x->offset);
  if (at == MAP_FAILED) munmap(room, x->bytes + page);
  if (at == MAP_FAILED) return NULL;
  if (head) munmap(room, head);
  if (head < page) munmap(at + x->bytes, page - head);
  return at;
}

bool mps_client_show(struct mps_client *c, const struct mps_shown *x, struct gmem *all)
{
  const bool own = c->image && mps_client_owns(c, x->addr, x->bytes);
  const int file = own ? open_of(c, x->file) : -1;
  if (file < 0) return false;
  void *host = map_aligned(file, x, (size_t)1 << gmem_page_bits(c->image));
  close(file);
  if (!host) return false;
  if (!gmem_map_host(c->image, x->addr, host, x->bytes, x->name)) {
    munmap(host, x->bytes);
    return false;
  }
  struct mps_mapping *m = mem_zeroed(1, sizeof *m);
  *m = (struct mps_mapping){c->mapping, x->addr, x->bytes, host};
  c->mapping = m;
  gmem_mirror(all, c->image, x->addr, x->bytes, true);
  return true;
}

/* Clients' addresses do not meet, so one table has the pages of all. */
bool mps_client_placed(const struct mps_client *c, struct simulator *s, const void *m, size_t bytes)
{
  enum { HOST_NODE = 1 }; /* of a GPU's own machine: the node behind it is its socket */
  struct mps_placed x;
  const uint64_t page = (UINT64_C(1) << PLACE_PAGE_BITS) - 1;
  if (bytes != sizeof x) return false;
  memcpy(&x, m, sizeof x);
  if (((x.addr | x.bytes) & page) || !mps_client_owns(c, x.addr, x.bytes)) return false;
  simulator_place(s, x.addr, x.bytes, x.at_host ? HOST_NODE : -1);
  return true;
}

void mps_client_unplace(const struct mps_client *c, struct simulator *s)
{
  for (unsigned i = 0; i < REGIONS; i++) {
    const struct mps_part p = part_of(c, i);
    simulator_place(s, p.first, p.end - p.first, -1);
  }
}

/* --- code --------------------------------------------------------------------------------------- */

bool mps_client_code(struct mps_client *c, const void *m, size_t bytes)
{
  uint64_t id;
  if (bytes < sizeof id) return false;
  memcpy(&id, m, sizeof id);
  struct code_copy *copy = code_copy_take((const uint8_t *)m + sizeof id, bytes - sizeof id);
  if (!copy) return false;
  struct mps_program_code *p = mem_zeroed(1, sizeof *p);
  *p = (struct mps_program_code){c->code, id, copy};
  c->code = p;
  return true;
}

static const struct code_view *code_of(const struct mps_client *c, uint64_t id)
{
  const struct mps_program_code *p = c->code;
  while (p && p->id != id) p = p->next;
  return p ? code_copy_view(p->copy) : NULL;
}

/* --- work --------------------------------------------------------------------------------------- */

/* The next bytes of a message; NULL: there are not so many. Aligned for any type. */
struct rest {
  uint8_t *at;
  size_t bytes;
};

static uint8_t *next(struct rest *r, size_t bytes)
{
  uint8_t *p = r->at;
  if (bytes > r->bytes) return NULL;
  r->at += bytes;
  r->bytes -= bytes;
  return p;
}

static bool take_banks(struct func_params *p, struct rest *r)
{
  for (unsigned i = 0; i < BANKS; i++) {
    if (!p->bank[i]) continue;
    uint8_t *copy = next(r, p->bank_bytes[i]);
    if (!copy) return false;
    p->bank[i] = copy;
  }
  return true;
}

static bool take_textures(struct mps_launch *l, uint32_t n, struct rest *r)
{
  const struct tex_object *from = (const void *)next(r, n * sizeof *from);
  if (!from) return false;
  struct tex_object *to = mem_alloc(n * sizeof *to);
  l->textures = (struct tex_table){to, n};
  memcpy(to, from, n * sizeof *to);
  for (uint32_t i = 0; i < n; i++) to[i].name = to[i].surface ? "surface object" : "texture object";
  return true;
}

/* The device's heap, which a launch finds as the one before has left it. */
static void heap_for(struct mps_client *c, const struct mps_open *m)
{
  if (c->heap_at == m->heap) return;
  func_heap_free(c->heap);
  c->heap_at = m->heap;
  c->heap = m->heap ? func_heap_new(m->heap, m->heap_bytes) : NULL;
}

static void open_print(struct mps_client *c)
{
  if (c->print) return;
  c->print = open_memstream(&c->printed, &c->printed_bytes);
  NO_MEMORY_IF(!c->print);
}

/* --- the device runtime, which is the client's --------------------------------------------------- */

static uint64_t ask(void *launch, const struct device_call *call)
{
  const struct mps_launch *l = launch;
  return l->client->asker->ask(l->client->asker->ctx, l->client, l->who, call);
}

bool mps_client_thread(struct mps_client *c, const void *m, size_t bytes, uint64_t *answer)
{
  struct mps_thread_op o;
  if (!c->call || bytes < sizeof o) return false;
  memcpy(&o, m, sizeof o);
  if (o.bytes != bytes - sizeof o || o.bytes > MPS_THREAD_BYTES) return false;
  switch (o.kind) {
  case MPS_THREAD_WRITE:
    *answer = device_call_write(c->call, o.value, (const uint8_t *)m + sizeof o, o.bytes);
    return true;
  case MPS_THREAD_TAKE: *answer = device_call_take(c->call, o.value); return true;
  case MPS_THREAD_GIVE: *answer = device_call_give(c->call, o.value); return true;
  default: return false;
  }
}

bool mps_client_reply(struct mps_client *c, const void *m, size_t bytes)
{
  if (!c->call || bytes != sizeof c->reply) return false;
  memcpy(&c->reply, m, bytes);
  c->call = NULL;
  return true;
}

/* --- a launch ------------------------------------------------------------------------------------ */

static bool fill(struct mps_client *c, struct mps_launch *l, const struct mps_open *m, struct rest *r)
{
  struct func_params *p = &l->launch.params;
  const struct code_view *code = code_of(c, m->code);
  *p = m->p;
  if (!code || !c->image || !take_banks(p, r)) return false;
  p->kernel_name = (const char *)next(r, m->name_bytes);
  if (!p->kernel_name || !m->name_bytes || p->kernel_name[m->name_bytes - 1]) return false;
  if (!take_textures(l, m->n_textures, r) || r->bytes) return false;
  heap_for(c, m);
  open_print(c);
  p->code = *code;
  p->reach = (struct code_reach){0}; /* all of it came */
  p->image = c->image;
  p->own_space = true;
  p->print = &c->print;
  p->heap = c->heap;
  p->rooms = NULL; /* the client's device has some, in its process */
  l->client = c;
  l->who = m->who;
  l->runtime = (struct device_runtime){l, ask};
  p->runtime = m->p.runtime ? &l->runtime : NULL;
  p->textures = &l->textures;
  return true;
}

static void describe(struct mps_client *c, struct mps_launch *l, const struct mps_open *m)
{
  struct step_source *s = func_source(l->launch.func);
  l->launch.grid_barrier = m->gang;
  l->cores = m->cores;
  l->beside = m->beside;
  l->prepared = m->prepared;
  l->priority = m->priority - (c->join.below ? BELOW_NORMAL : 0);
  s->window = m->window;
  s->shared_share = m->shared_share;
  s->cores = m->some_cores ? &l->cores : NULL;
  s->space = (uint8_t)c->slot;
}

static void free_launch(struct mps_launch *l)
{
  func_launch_free(l->launch.func);
  mem_free((void *)(uintptr_t)l->textures.object);
  mem_free(l->bytes);
  mem_free(l);
}

static struct mps_launch *new_launch(struct mps_client *c, const struct mps_open *m, const void *rest, size_t bytes)
{
  struct mps_launch *l = mem_zeroed(1, sizeof *l);
  struct err e = {""};
  l->bytes = mem_alloc(bytes + 16);
  memcpy(l->bytes, rest, bytes);
  if (fill(c, l, m, &(struct rest){l->bytes, bytes})) l->launch.func = func_launch_new(&l->launch.params, &e);
  if (l->launch.func) {
    describe(c, l, m);
    return l;
  }
  mem_free((void *)(uintptr_t)l->textures.object);
  mem_free(l->bytes);
  mem_free(l);
  return NULL;
}

struct mps_work *mps_client_launch(struct mps_client *c, const void *message, size_t bytes, const struct params *p)
{
  struct mps_open m;
  if (bytes < sizeof m) return NULL;
  memcpy(&m, message, sizeof m);
  if (m.p.n_workers != p->gpu_sms || m.p.slots_per_worker > p->sm_max_ctas || m.start_ps > MPS_TIME_MOST) return NULL;
  struct mps_launch *l = new_launch(c, &m, (const uint8_t *)message + sizeof m, bytes - sizeof m);
  if (!l) return NULL;
  struct mps_work *w = mem_zeroed(1, sizeof *w);
  *w = (struct mps_work){.client = c, .who = (void *)(uintptr_t)m.who, .start = m.start_ps, .launch = l};
  return w;
}

/* Bytes from the first to behind the last of one side; 0: no address space has so many, or rows lie on one another. */
static uint64_t extent(const struct live_side *s, const struct live_copy *c)
{
  if ((c->height | c->depth) >> 62) return 0;
  if ((c->height > 1 && s->pitch < c->width) || (c->depth > 1 && s->slice < c->width)) return 0;
  const unsigned __int128 rows = (unsigned __int128)(c->height - 1) * s->pitch;
  const unsigned __int128 planes = (unsigned __int128)(c->depth - 1) * s->slice;
  const unsigned __int128 all = rows + planes + c->width; /* less than 2^126 + 2^126 + 2^64 */
  return all >> 64 ? 0 : (uint64_t)all;
}

static bool is_own_side(const struct mps_client *c, const struct live_side *s, uint64_t bytes)
{
  const uint64_t end = UINT64_C(1) << PROGRAM_BITS;
  if (!bytes) return false;
  if (s->place == LIVE_PROGRAM) return s->addr < end && bytes <= end - s->addr;
  return (s->place == LIVE_DEVICE || s->place == LIVE_AT_HOST) && mps_client_owns(c, s->addr, bytes);
}

/* Whether it stays within what is the client's, with numbers that the GPU's model has a meaning for. */
static bool is_own_copy(const struct mps_client *c, const struct live_copy *x)
{
  const bool in_memory = x->dst.place == LIVE_DEVICE || x->src.place == LIVE_DEVICE;
  if (!x->width || !x->height || !x->depth || x->start_ps > MPS_TIME_MOST) return false;
  if (x->height > 1 && x->depth > PLANES_MOST) return false; /* each is a copy of its own */
  if (x->engine >= LIVE_TO_PEER || x->priority < -BELOW_NORMAL || x->priority > BELOW_NORMAL) return false;
  if (x->fill) return (x->fill == 1 || x->fill == 2 || x->fill == 4) && is_own_side(c, &x->dst, extent(&x->dst, x));
  return in_memory && is_own_side(c, &x->dst, extent(&x->dst, x)) && is_own_side(c, &x->src, extent(&x->src, x));
}

static void name_program(struct live_side *s, unsigned number)
{
  if (s->place == LIVE_PROGRAM) s->addr |= (uint64_t)(number + 1) << PROGRAM_BITS;
}

struct mps_work *mps_client_copy(struct mps_client *c, unsigned number, const void *message, size_t bytes)
{
  struct live_copy x;
  if (bytes != sizeof x) return NULL;
  memcpy(&x, message, bytes);
  if (!is_own_copy(c, &x)) return NULL;
  struct mps_work *w = mem_zeroed(1, sizeof *w);
  *w = (struct mps_work){.client = c, .who = x.who, .start = x.start_ps, .copy = x};
  w->copy.who = w;
  w->copy.priority -= c->join.below ? BELOW_NORMAL : 0;
  name_program(&w->copy.dst, number);
  if (w->copy.fill) w->copy.src.place = LIVE_DEVICE; /* a pattern is nowhere */
  else name_program(&w->copy.src, number);
  return w;
}

struct mps_work *mps_client_prefetch(struct mps_client *c, const void *message, size_t bytes)
{
  struct live_prefetch p;
  if (bytes != sizeof p) return NULL;
  memcpy(&p, message, bytes);
  if (p.start_ps > MPS_TIME_MOST || !mps_managed_has(c, p.addr, p.bytes)) return NULL;
  struct mps_work *w = mem_zeroed(1, sizeof *w);
  *w = (struct mps_work){.client = c, .who = p.who, .start = p.start_ps, .prefetch = p};
  w->prefetch.who = w;
  return w;
}

bool mps_work_before(const struct mps_work *a, const struct mps_work *b)
{
  if (a->start != b->start) return a->start < b->start;
  if (a->client != b->client) return a->client->process < b->client->process;
  return a->sequence < b->sequence;
}

struct live_launch mps_work_launch(const struct mps_work *w, struct gmem *all)
{
  struct mps_launch *l = w->launch;
  return (struct live_launch){.launch = &l->launch, .start_ps = w->start, .priority = l->priority, .beside = l->beside,
                              .prepared = l->prepared,
                              .who = (void *)(uintptr_t)w, .image = all};
}

void mps_work_free(struct mps_work *w)
{
  w->client->n_work--;
  if (w->launch) free_launch(w->launch);
  mem_free(w);
}

/* Of launches that shared the GPU with whatever there is, what can be told apart. */
/* Of a launch that was alone: its counters lie in one block, which begins with those of the first group. */
static void keep_counted(struct mps_ended *e, const struct sim_result *r, const struct usage *u)
{
  struct mps_end *x = &e->end;
  unsigned n = 0;
  if (r->together > 1 || !r->n_groups || !r->profile) return;
  const struct usage_point *point = u ? usage_points(u, &n) : NULL;
  x->count_bytes = gpu_count_bytes();
  x->n_insts = r->profile->n_insts;
  x->book_bytes = gpu_books_size(x->n_insts);
  x->n_points = n;
  e->counted = mem_alloc(mps_counted_bytes(x));
  memcpy(e->counted, r->group[0].data, x->count_bytes);
  memcpy(e->counted + x->count_bytes, r->profile->by_inst, x->book_bytes);
  if (n) memcpy(e->counted + x->count_bytes + x->book_bytes, point, n * sizeof *point);
}

static void keep_end(struct mps_client *c, void *who, const struct live_end *x, const struct usage *u)
{
  c->ends = mem_more(c->ends, c->n_ends, &c->room_ends, sizeof *c->ends);
  struct mps_ended *e = &c->ends[c->n_ends++];
  *e = (struct mps_ended){.end.end = *x};
  struct sim_result *r = &e->end.end.result;
  snprintf(e->end.limiter, sizeof e->end.limiter, "%s", r->limiter ? r->limiter : "");
  e->end.end.who = who;
  if (!x->copy) keep_counted(e, r, u);
  if (x->stays) e->stays = *x->stays;
  e->end.n_stays = e->stays.n_stays, e->end.n_states = e->stays.n_states, e->end.lost = e->stays.lost;
  e->end.end.stays = NULL;
  if (!e->counted && r->together < 2) r->together = 2;
  r->isa = NULL, r->mix = r->thread_mix = NULL, r->where = NULL, r->limiter = NULL, r->n_groups = 0;
  r->instances = NULL, r->profile = NULL, r->hazards = NULL, r->fault.source = NULL;
  memset(r->group, 0, sizeof r->group);
}

void mps_client_ended(struct mps_work *w, const struct live_end *x, const struct usage *u)
{
  struct sm_stay_list nobodys = {0};
  if (!w->client->gone) keep_end(w->client, w->who, x, u);
  else if (x->stays) nobodys = *x->stays;
  sm_stay_list_free(&nobodys);
  mps_work_free(w);
}

void mps_client_told(struct mps_client *c)
{
  while (c->n_ends) {
    struct mps_ended *e = &c->ends[--c->n_ends];
    mem_free(e->counted);
    sm_stay_list_free(&e->stays);
  }
}

/* --- what kernels print ------------------------------------------------------------------------- */

const char *mps_client_printed(struct mps_client *c, uint32_t *bytes)
{
  if (c->print) fflush(c->print);
  *bytes = c->print ? (uint32_t)c->printed_bytes : 0;
  return c->printed;
}

void mps_client_print_over(struct mps_client *c)
{
  if (c->print) rewind(c->print);
}

/* --- bytes of programs -------------------------------------------------------------------------- */

static const struct mps_client *whose(void *list, uint64_t addr, struct iovec *there, uint64_t bytes)
{
  struct mps_client *const *client = list;
  const uint64_t number = (addr >> PROGRAM_BITS) - 1;
  const uint64_t at = addr & ((UINT64_C(1) << PROGRAM_BITS) - 1);
  *there = (struct iovec){(void *)(uintptr_t)at, bytes};
  return number < MPS_PROCESSES ? client[number] : NULL;
}

static bool read_program(void *list, uint64_t addr, void *to, uint64_t bytes)
{
  struct iovec there, here = {to, bytes};
  const struct mps_client *c = whose(list, addr, &there, bytes);
  return c && process_vm_readv(c->process, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static bool write_program(void *list, uint64_t addr, const void *from, uint64_t bytes)
{
  struct iovec there, here = {(void *)(uintptr_t)from, bytes};
  const struct mps_client *c = whose(list, addr, &there, bytes);
  return c && process_vm_writev(c->process, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static bool reaches_program(void *list, uint64_t addr, uint64_t bytes, bool writes)
{
  (void)list, (void)addr, (void)bytes, (void)writes;
  return true; /* each byte is looked at when it moves */
}

struct program_memory mps_client_program(struct mps_client **list)
{
  return (struct program_memory){list, read_program, write_program, reaches_program};
}
