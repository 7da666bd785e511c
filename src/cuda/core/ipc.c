#include "cuda/core/ipc.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/core/board_ranks.h"
#include "cuda/core/checked.h"
#include "cuda/core/peer_access.h"
#include "cuda/core/shim.h"
#include "cuda/core/synchronize.h"

enum { LAZY_PEER_ACCESS = 1, HANDLE_MEMORY = 0x77730001, HANDLE_EVENT, HANDLE_POINTER };

/* What is in a handle. */
struct ipc_handle {
  uint32_t kind, page_bits;
  int32_t pid, fd;
  uint64_t device, inode; /* of the file: a process that ended may have given its numbers to another */
  uint64_t addr, bytes;   /* in the exporting process */
  uint32_t node;          /* of the machine, whose memory it is */
  uint32_t zero;          /* handles are compared by their bytes, of which none may be padding */
};
_Static_assert(sizeof(struct ipc_handle) == offsetof(struct ipc_handle, zero) + sizeof(uint32_t), "no padding");
_Static_assert(sizeof(struct ipc_handle) <= sizeof(CUipcMemHandle), "fits its handle");
_Static_assert(sizeof(struct ipc_handle) <= sizeof(CUipcEventHandle), "fits its handle");
_Static_assert(sizeof(struct ipc_handle) <= sizeof(CUmemPoolPtrExportData), "fits its handle");

/* Memory of another process that is open here. */
struct ipc_open {
  struct ipc_open *next;
  struct ipc_handle handle;
  uint64_t addr;
  unsigned users;
};

/* Shares the memory of a block and describes where it is. */
static CUresult describe(struct shim *s, struct ipc_handle *h, uint32_t kind, const struct block *b)
{
  struct stat st;
  parts_settle(s);
  int fd = gmem_share(b->board->device.mem, b->device, b->bytes);
  peers_refresh(s, b->board, b->device, b->bytes);
  checked_freed(s->checked, b->device); /* others write it, too */
  if (fd < 0 || fstat(fd, &st) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *h = (struct ipc_handle){ .kind = kind, .page_bits = s->boards.page_bits, .node = b->board->node, .pid = getpid(),
                            .fd = fd,
                            .device = st.st_dev, .inode = st.st_ino, .addr = b->addr, .bytes = b->bytes };
  return CUDA_SUCCESS;
}

static bool is_named(const struct ipc_handle *h, int fd, struct stat *st)
{
  return fd >= 0 && fstat(fd, st) == 0 && st->st_dev == h->device && st->st_ino == h->inode;
}

/* Whether fd is the file of the handle, and has its bytes. */
static bool is_file_of(const struct shim *s, const struct ipc_handle *h, int fd)
{
  struct stat st;
  return is_named(h, fd, &st) && h->page_bits == s->boards.page_bits && h->bytes && h->addr <= (uint64_t)st.st_size &&
         h->bytes <= (uint64_t)st.st_size - h->addr;
}

/* The file of a process that lives, as it names it; -1: it is not there any more. */
static int open_handle(const struct ipc_handle *h)
{
  char path[64];
  struct stat st;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)h->pid, (int)h->fd);
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0 || is_named(h, fd, &st)) return fd;
  close(fd);
  return -1;
}

/* Whose memory it is, by its place in the machine; the program may not see that GPU. */
static struct board *board_of_handle(struct shim *s, const struct ipc_handle *h)
{
  for (unsigned i = 0; i < s->boards.n; i++)
    if (s->boards.of[i].node == h->node) return &s->boards.of[i];
  return board_current(s);
}

static uint64_t open_file(struct shim *s, enum block_kind kind, int fd, const struct ipc_handle *h)
{
  struct board *b = board_of_handle(s, h);
  return memory_open(s, kind, b, fd, h->addr, h->bytes, board_bit(b) | board_bit(board_current(s)));
}

CUresult ipc_export_memory(struct shim *s, CUipcMemHandle *out, uint64_t addr)
{
  const CUresult served = board_ranks_refuse(s, "memory for other processes");
  if (served != CUDA_SUCCESS) return served;
  const struct block *b = memory_find(s, addr);
  struct ipc_handle h;
  if (!out || !b || b->kind != BLOCK_DEVICE || b->owner) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = describe(s, &h, HANDLE_MEMORY, b);
  memset(out, 0, sizeof *out);
  if (r == CUDA_SUCCESS) memcpy(out, &h, sizeof h);
  return r;
}

static CUresult open_first(struct shim *s, CUdeviceptr *addr, const struct ipc_handle *h)
{
  const int fd = open_handle(h);
  *addr = is_file_of(s, h, fd) ? open_file(s, BLOCK_OPENED, fd, h) : 0;
  if (fd >= 0) close(fd);
  if (!*addr) return CUDA_ERROR_INVALID_HANDLE;
  struct ipc_open *o = shim_alloc(sizeof *o);
  *o = (struct ipc_open){ .next = s->ipc_open, .handle = *h, .addr = *addr, .users = 1 };
  s->ipc_open = o;
  return CUDA_SUCCESS;
}

CUresult ipc_open_memory(struct shim *s, CUdeviceptr *addr, const CUipcMemHandle *in, unsigned flags)
{
  const CUresult served = board_ranks_refuse(s, "memory of other processes");
  if (served != CUDA_SUCCESS) return served;
  struct ipc_handle h;
  memcpy(&h, in, sizeof h);
  if (!addr || (flags & ~(unsigned)LAZY_PEER_ACCESS)) return CUDA_ERROR_INVALID_VALUE;
  if (h.kind != HANDLE_MEMORY) return CUDA_ERROR_INVALID_HANDLE;
  if (h.pid == getpid()) return CUDA_ERROR_INVALID_CONTEXT; /* not in the process that exported it */
  for (struct ipc_open *o = s->ipc_open; o; o = o->next) {
    if (memcmp(&o->handle, &h, sizeof h) != 0) continue;
    o->users++;
    *addr = o->addr;
    memory_open_for(s, o->addr, board_bit(board_current(s)));
    return CUDA_SUCCESS;
  }
  return open_first(s, addr, &h);
}

CUresult ipc_close_memory(struct shim *s, uint64_t addr)
{
  for (struct ipc_open **at = &s->ipc_open; *at; at = &(*at)->next) {
    struct ipc_open *o = *at;
    if (o->addr != addr) continue;
    if (--o->users) return CUDA_SUCCESS;
    stream_wait_memory(s, addr);
    memory_free(s, addr, 1u << BLOCK_OPENED);
    *at = o->next;
    free(o);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult ipc_export_event(struct shim *s, CUipcEventHandle *out, CUevent event)
{
  unsigned flags;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (!event_flags(s, event, &flags) || !(flags & EVENT_INTERPROCESS)) return CUDA_ERROR_INVALID_HANDLE;
  struct stat st;
  int fd;
  struct ipc_handle h = { .kind = HANDLE_EVENT, .pid = getpid() };
  const CUresult r = event_export(s, event, &fd, &h.addr);
  if (r != CUDA_SUCCESS) return r;
  if (fstat(fd, &st) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  h.fd = fd, h.device = st.st_dev, h.inode = st.st_ino;
  memset(out, 0, sizeof *out);
  memcpy(out, &h, sizeof h);
  return CUDA_SUCCESS;
}

CUresult ipc_open_event(struct shim *s, CUevent *out, const CUipcEventHandle *in)
{
  struct ipc_handle h;
  memcpy(&h, in, sizeof h);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (h.kind != HANDLE_EVENT) return CUDA_ERROR_INVALID_HANDLE;
  if (h.pid == getpid()) return CUDA_ERROR_INVALID_CONTEXT; /* not in the process that exported it */
  const int fd = open_handle(&h);
  CUresult r = fd < 0 ? CUDA_ERROR_INVALID_HANDLE : event_create(s, out, EVENT_INTERPROCESS | EVENT_DISABLE_TIMING);
  if (r == CUDA_SUCCESS && !ipc_event_import(s, *out, fd, h.addr)) {
    event_destroy(s, *out);
    r = CUDA_ERROR_INVALID_HANDLE;
  }
  if (fd >= 0) close(fd);
  return r;
}

CUresult ipc_export_pointer(struct shim *s, CUmemPoolPtrExportData *out, uint64_t addr)
{
  const struct block *b = memory_find(s, addr);
  struct ipc_handle h;
  if (!out || !b || b->addr != addr || !pool_is_shared(b)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = describe(s, &h, HANDLE_POINTER, b);
  memset(out, 0, sizeof *out);
  if (r == CUDA_SUCCESS) memcpy(out, &h, sizeof h);
  return r;
}

CUresult ipc_import_pointer(struct shim *s, CUdeviceptr *addr, CUmemoryPool pool, const CUmemPoolPtrExportData *in)
{
  struct ipc_handle h;
  if (!addr || !in) return CUDA_ERROR_INVALID_VALUE;
  memcpy(&h, in, sizeof h);
  int fd = pool_file(s, pool);
  if (h.kind != HANDLE_POINTER || !is_file_of(s, &h, fd)) return CUDA_ERROR_INVALID_VALUE;
  *addr = open_file(s, BLOCK_IMPORTED, fd, &h);
  return *addr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The memory itself goes with all other. */
static void reset(struct shim *s, struct board *b)
{
  for (struct ipc_open **at = &s->ipc_open; *at;) {
    struct ipc_open *o = *at;
    if (memory_find(s, o->addr)->board != b) {
      at = &o->next;
      continue;
    }
    *at = o->next;
    free(o);
  }
}

const struct shim_part ipc_part = { .reset = reset };
