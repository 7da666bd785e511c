#include "cuda/core/mps.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "cuda/core/fault_code.h"
#include "cuda/core/shim.h"
#include "cuda/core/time_share.h"
#include "host/activity.h"
#include "host/mps_link.h"

struct mps_file {
  const void *host;
  uint64_t bytes, offset;
  int file;
};

struct mps {
  struct mps_link *link;
  unsigned slot, server; /* server: its process */
  uint32_t number;       /* among all clients that there have been */
  char name[24];
  struct core_set sms;
  uint64_t limit; /* bytes of device memory; UINT64_MAX: none */
  struct mps_file *file;
  uint32_t n_files, room_files;
  bool told; /* of a fault of another client */
};

/* --- what the environment says ------------------------------------------------------------------ */

/* SMs of an active thread percentage, rounded up; 0: all. (NVIDIA, Multi-Process Service,
 * CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: "the portion of the available threads", rounded up to what the hardware
 * supports.) */
static bool asked_sms(const struct params *p, uint32_t *sms, struct err *e)
{
  static const char name[] = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE";
  const char *text = getenv(name);
  char *end;
  *sms = 0;
  if (!text || !*text) return true;
  const double percent = strtod(text, &end);
  if (*end || end == text || !(percent > 0 && percent <= 100))
    return err_set(e, "%s=%.40s: a percentage, above 0 and up to 100", name, text);
  const double of = ceil(percent * p->gpu_sms / 100 - 1e-9);
  if (percent < 100) *sms = of < 1 ? 1 : (uint32_t)of;
  return true;
}

static bool asked_priority(bool *below, struct err *e)
{
  const char *text = getenv("CUDA_MPS_CLIENT_PRIORITY");
  *below = text && strcmp(text, "1") == 0;
  return !text || !*text || *below || strcmp(text, "0") == 0 ||
         err_set(e, "CUDA_MPS_CLIENT_PRIORITY=%.40s: 0 (normal) or 1 (below normal)", text);
}

/* DEVICE=SIZE,…, a size with G or M behind it; there is device 0 alone. */
static bool asked_limit(uint64_t *limit, struct err *e)
{
  static const char name[] = "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT";
  const char *text = getenv(name), *at = text;
  *limit = UINT64_MAX;
  while (at && *at) {
    char *end;
    const unsigned long long device = strtoull(at, &end, 10);
    const bool named = end != at && *end == '=' && isdigit((unsigned char)end[1]);
    const unsigned long long size = named ? strtoull(end + 1, &end, 10) : 0;
    const unsigned shift = *end == 'G' || *end == 'g' ? 30 : *end == 'M' || *end == 'm' ? 20 : 0;
    if (!named || !shift || size > UINT64_MAX >> 30 || (end[1] != '\0' && end[1] != ','))
      return err_set(e, "%s=%.60s: DEVICE=SIZE, a size in G or M, several with commas", name, text);
    if (device == 0) *limit = size << shift;
    at = end + 1 + (end[1] == ',');
  }
  return true;
}

/* --- joining ------------------------------------------------------------------------------------ */

static struct mps_page *map_page(int pid, int fd)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
  const int f = open(path, O_RDWR | O_CLOEXEC);
  void *at = f < 0 ? MAP_FAILED : mmap(NULL, sizeof(struct mps_page), PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
  if (f >= 0) close(f);
  return at == MAP_FAILED ? NULL : at;
}

static bool refused(struct shim *s, const struct mps_welcome *w, struct err *e)
{
  static const struct {
    CUresult code;
    const char *why;
  } said[] = {
    [MPS_TOO_MANY] = { CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, "all clients that one GPU can have are there" },
    [MPS_NOT_READY] = { CUDA_ERROR_MPS_SERVER_NOT_READY,
                        "the server lets nobody in: a client has faulted, and others that saw it are still there" },
    [MPS_OTHER_BUILD] = { CUDA_ERROR_MPS_CONNECTION_FAILED, "its server is of another build of warpstep" },
  };
  const bool known = w->status > MPS_JOINED && w->status < sizeof said / sizeof *said;
  s->failed_as = known ? said[w->status].code : CUDA_ERROR_MPS_CONNECTION_FAILED;
  return err_set(e, "--share mps: %s", known ? said[w->status].why : "nobody answers");
}

bool mps_start(struct shim *s, struct err *e)
{
  char name[64];
  int pid, fd, to = -1;
  struct mps_page *page = NULL;
  struct mps_welcome w = {.status = MPS_NOT_READY + MPS_OTHER_BUILD};
  if (!s->options.mps) return true;
  if (!exec_options_share(&s->options) || s->boards.n != 1 || s->ranks || s->options.spin_strict)
    return err_set(e, "--share mps: only for one GPU, and launches that all run in time, as they come");
  struct mps *m = shim_alloc(sizeof *m);
  struct mps_join j = {.build = mps_build()};
  TRY(asked_sms(&s->boards.of[0].preset.params, &j.sms, e) && asked_priority(&j.below, e) &&
      asked_limit(&m->limit, e));
  if (sscanf(s->options.mps, "%63[^/]/%d/%d", name, &pid, &fd) == 3 && (page = map_page(pid, fd))) {
    to = share_connect(name, SOCK_STREAM);
    prctl(PR_SET_PTRACER, (unsigned long)pid, 0, 0, 0); /* it moves bytes of the program for its copies */
  }
  if (to >= 0) m->link = mps_link_new(to, page, &j, &w);
  if (!m->link) return refused(s, &w, e);
  m->slot = w.slot;
  m->server = (unsigned)pid;
  m->number = w.number;
  snprintf(m->name, sizeof m->name, "client %u: ", m->number);
  m->sms = w.sms;
  s->mps = m;
  s->enter = mps_look;
  if (j.sms) s->boards.of[0].cores = &m->sms;
  mps_link_print(m->link, &s->print.file);
  return true;
}

bool mps_follow(struct shim *s, struct gmem *image, struct err *e)
{
  return mps_link_memory(s->mps->link, image) ||
         err_set(e, "--share mps: no memory that two processes share: %s", host_error());
}

void mps_serve(struct shim *s, struct board *b)
{
  simulator_serve_by(b->simulator, &mps_link_server, s->mps->link);
}

struct mps_part mps_part_of(const struct shim *s, uint64_t first, uint64_t end, uint64_t page)
{
  return s->mps ? mps_part_of_slot(first, end, page, s->mps->slot) : (struct mps_part){first, end};
}

/* --- parts of the SMs ---------------------------------------------------------------------------- */

unsigned mps_sms(const struct shim *s, const struct context *c)
{
  const struct board *b = &s->boards.of[0];
  const struct core_set *sms = c && c->sms ? c->sms : b->cores;
  return sms ? core_set_count(sms) : b->preset.params.gpu_sms;
}

/* Contexts of the client that are limited and have it. */
static unsigned contexts_on(const struct shim *s, unsigned sm)
{
  unsigned n = 0;
  for (const struct context *c = s->contexts.first; c; c = c->next) n += c->sms && core_set_has(c->sms, sm);
  return n;
}

/* Those that fewest contexts have, as the server chooses among clients. The set stays, as graphs may name it. */
CUresult mps_limit(struct shim *s, struct context *c, unsigned sms)
{
  const struct board *b = &s->boards.of[0];
  struct core_set *out = shim_alloc(sizeof *out);
  const unsigned most = mps_sms(s, NULL);
  unsigned left = sms < most ? sms : most;
  for (unsigned load = 0; left; load++) {
    for (unsigned sm = 0; left && sm < b->preset.params.gpu_sms; sm++)
      if ((!b->cores || core_set_has(b->cores, sm)) && contexts_on(s, sm) == load) core_set_add(out, sm), left--;
  }
  c->sms = out;
  return CUDA_SUCCESS;
}

/* --- memory ------------------------------------------------------------------------------------- */

void mps_mapped(struct shim *s, const void *host, uint64_t bytes, int file, uint64_t offset)
{
  struct mps *m = s->mps;
  m->file = mem_more(m->file, m->n_files, &m->room_files, sizeof *m->file);
  m->file[m->n_files++] = (struct mps_file){host, bytes, offset, fcntl(file, F_DUPFD_CLOEXEC, 0)};
}

void mps_unmapped(struct shim *s, const void *host)
{
  struct mps *m = s->mps;
  for (uint32_t i = 0; m && i < m->n_files; i++) {
    if (m->file[i].host != host) continue;
    close(m->file[i].file);
    m->file[i] = m->file[--m->n_files];
    return;
  }
}

void mps_show(struct shim *s, uint64_t addr, const void *host, uint64_t bytes, const char *name)
{
  struct mps *m = s->mps;
  const uint8_t *at = host;
  for (uint32_t i = 0; i < m->n_files; i++) {
    const struct mps_file *f = &m->file[i];
    const uint64_t in = (uint64_t)(at - (const uint8_t *)f->host);
    if (in >= f->bytes) continue;
    if (!mps_link_show(m->link, addr, bytes, f->file, f->offset + in, name) && shim_first_time(s, "mps_show"))
      shim_say("--share mps: the server cannot map memory of this process: kernels will not find it");
    return;
  }
}

bool mps_take(struct shim *s, const struct board *b, uint64_t bytes)
{
  const struct mps *m = s->mps;
  return b->bytes <= m->limit && bytes <= m->limit - b->bytes &&
         mps_link_take(m->link, bytes, board_memory_bytes(b));
}

void mps_give(struct shim *s, uint64_t bytes)
{
  mps_link_give(s->mps->link, bytes);
}

uint64_t mps_left(const struct shim *s, const struct board *b)
{
  const struct mps *m = s->mps;
  const uint64_t all = board_memory_bytes(b), taken = mps_link_taken(m->link), left = taken < all ? all - taken : 0;
  return earlier(left, b->bytes < m->limit ? m->limit - b->bytes : 0);
}

uint64_t mps_taken(const struct shim *s)
{
  return mps_link_taken(s->mps->link);
}

_Static_assert((int)MPS_MOST_SEEN == (int)MPS_CLIENTS, "all of them");

unsigned mps_clients(const struct shim *s, struct mps_seen seen[MPS_MOST_SEEN])
{
  unsigned n = 0;
  for (unsigned slot = 0; s->mps && slot < MPS_CLIENTS; slot++) {
    seen[n].process = mps_link_client(s->mps->link, slot, &seen[n].bytes);
    n += seen[n].process != 0;
  }
  return n;
}

unsigned mps_server_process(const struct shim *s)
{
  return s->mps->server;
}

bool mps_heap_asked(const struct shim *s, uint64_t heap)
{
  return s->mps && heap && mps_link_heap(s->mps->link) == heap;
}

void mps_name(const struct shim *s, struct activity *a)
{
  if (s->mps) activity_one_of(a, s->mps->number, s->mps->name);
}

/* --- others ------------------------------------------------------------------------------------- */

void mps_look(struct shim *s)
{
  struct mps *m = s->mps;
  const unsigned fault = mps_link_fault(m->link);
  const uint64_t now = mps_link_passed(m->link);
  if (now < SIM_LAST_START_PS / 2) s->time.now = later(s->time.now, now);
  const bool lost = mps_link_lost(m->link);
  if ((!fault && !lost) || m->told) return;
  m->told = true;
  if (s->fault.code != CUDA_SUCCESS) return;
  s->fault.code = lost ? CUDA_ERROR_MPS_RPC_FAILURE : fault_code(fault);
  s->fault.when = s->time.now;
  s->fault.waits = false;
  if (lost) return; /* said */
  fprintf(stderr, "========= a client of the Multi-Process Service has faulted: every later call of the CUDA interface "
          "fails\n");
}

void mps_forget_code(struct shim *s)
{
  if (s->mps) mps_link_forget(s->mps->link);
}
