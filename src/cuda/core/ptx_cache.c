#include "cuda/core/ptx_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/host_memory.h"
#include "base/output.h"
#include "cuda/core/shim.h"

#define SUFFIX ".translation"
#define DEFAULT_BYTES (UINT64_C(1) << 30)

enum { NAME_DIGITS = 16, NAME_BYTES = NAME_DIGITS + sizeof SUFFIX };

/* At the start of a file; the question, the log and the machine code follow. */
struct header {
  char magic[16];
  uint64_t question_bytes, log_bytes, cubin_bytes;
  uint64_t sum; /* of what follows */
};

static const char magic[16] = "warpstep PTX 1\n";

struct kept_place {
  char dir[PATH_MAX], name[NAME_BYTES], path[PATH_MAX + NAME_BYTES];
  char *question;
  size_t question_bytes;
};

static bool choose_folder(char *dir, size_t size)
{
  const char *off = getenv("CUDA_CACHE_DISABLE"), *chosen = getenv("CUDA_CACHE_PATH");
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int n = 0;
  if (off && strcmp(off, "0") != 0 && off[0]) return false;
  if (chosen && chosen[0])
    n = snprintf(dir, size, "%s", chosen);
  else if (xdg && xdg[0] == '/')
    n = snprintf(dir, size, "%s/warpstep/ptx", xdg);
  else if (home && home[0] == '/')
    n = snprintf(dir, size, "%s/.cache/warpstep/ptx", home);
  return n > 0 && (size_t)n < size;
}

static uint64_t most_bytes(void)
{
  const char *text = getenv("CUDA_CACHE_MAXSIZE");
  char *end;
  if (!text || text[0] < '0' || text[0] > '9') return DEFAULT_BYTES;
  const uint64_t bytes = strtoull(text, &end, 10);
  return *end ? DEFAULT_BYTES : bytes;
}

/* All that the translation hangs on, as bytes. */
static char *whole_question(const struct ptx_question *q, size_t *bytes)
{
  struct stat s;
  char *text = NULL;
  if (stat(q->assembler, &s) != 0) return NULL;
  FILE *f = open_memstream(&text, bytes);
  NO_MEMORY_IF(!f);
  fprintf(f, "%s%c%jd %jd.%09ld", q->assembler, 0, (intmax_t)s.st_size, (intmax_t)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
  for (const char *const *o = q->options; *o; o++) fprintf(f, "%c%s", 0, *o);
  fprintf(f, "%c%c%s", 0, 0, q->ptx);
  NO_MEMORY_IF(fclose(f) != 0);
  return text;
}

/* False: there is no place for it. The question is the caller's to free. */
static bool find_place(const struct ptx_question *q, struct kept_place *p)
{
  if (!choose_folder(p->dir, sizeof p->dir)) return false;
  p->question = whole_question(q, &p->question_bytes);
  if (!p->question) return false;
  snprintf(p->name, sizeof p->name, "%0*" PRIx64 SUFFIX, NAME_DIGITS, checksum64(p->question, p->question_bytes));
  snprintf(p->path, sizeof p->path, "%s/%s", p->dir, p->name);
  return true;
}

static bool read_bytes(FILE *f, void *to, size_t bytes)
{
  return fread(to, 1, bytes, f) == bytes;
}

/* Whether the sizes are those of the file: they are not believed before. */
static bool sizes_fit(const struct header *h, uint64_t file_bytes)
{
  uint64_t left = file_bytes;
  const uint64_t part[] = {sizeof *h, h->question_bytes, h->log_bytes, h->cubin_bytes};
  for (unsigned i = 0; i < sizeof part / sizeof *part; i++) {
    if (part[i] > left) return false;
    left -= part[i];
  }
  return left == 0;
}

static bool same_question(FILE *f, const struct kept_place *p, uint64_t *sum)
{
  char *kept = shim_alloc(p->question_bytes + 1);
  const bool same = read_bytes(f, kept, p->question_bytes) && memcmp(kept, p->question, p->question_bytes) == 0;
  *sum = checksum64(kept, same ? p->question_bytes : 0);
  free(kept);
  return same;
}

static bool read_answer(FILE *f, const struct kept_place *p, struct ptx_answer *a)
{
  struct header h;
  struct stat s;
  uint64_t sum;
  if (fstat(fileno(f), &s) != 0 || !S_ISREG(s.st_mode) || (uint64_t)s.st_size > most_bytes()) return false;
  if (!read_bytes(f, &h, sizeof h)) return false;
  if (memcmp(h.magic, magic, sizeof magic) != 0 || !sizes_fit(&h, (uint64_t)s.st_size)) return false;
  if (h.question_bytes != p->question_bytes || !same_question(f, p, &sum)) return false;
  struct ptx_answer kept = {.log_bytes = h.log_bytes, .cubin_bytes = h.cubin_bytes};
  kept.log = shim_alloc(kept.log_bytes + 1);
  kept.cubin = shim_alloc(kept.cubin_bytes + 1);
  kept.log[kept.log_bytes] = kept.cubin[kept.cubin_bytes] = '\0';
  bool ok = read_bytes(f, kept.log, kept.log_bytes) && read_bytes(f, kept.cubin, kept.cubin_bytes);
  sum = checksum64_more(checksum64_more(sum, kept.log, kept.log_bytes), kept.cubin, kept.cubin_bytes);
  if (ok && sum == h.sum) {
    *a = kept;
    return true;
  }
  free(kept.log);
  free(kept.cubin);
  return false;
}

/* A pipe of this name is not waited for. */
static FILE *open_kept(const char *path)
{
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
  if (!f && fd >= 0) close(fd);
  return f;
}

bool ptx_cache_find(const struct ptx_question *q, struct ptx_answer *a)
{
  struct kept_place p;
  bool found = false;
  if (!find_place(q, &p)) return false;
  FILE *f = open_kept(p.path);
  if (f) {
    found = read_answer(f, &p, a);
    if (found) futimens(fileno(f), NULL); /* used now: it goes last */
    fclose(f);
  }
  free(p.question);
  return found;
}

static void make_folders(const char *dir)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", dir);
  for (char *at = path + 1; *at; at++) {
    if (*at != '/') continue;
    *at = '\0';
    mkdir(path, 0700);
    *at = '/';
  }
  mkdir(path, 0700);
}

static bool is_ours(const char *name)
{
  return strlen(name) == NAME_BYTES - 1 && strspn(name, "0123456789abcdef") == NAME_DIGITS &&
         strcmp(name + NAME_DIGITS, SUFFIX) == 0;
}

struct kept_file {
  struct timespec used;
  uint64_t bytes;
  char name[NAME_BYTES];
};

struct content {
  struct kept_file *file; /* but the one that stays */
  size_t n, room;
  uint64_t bytes; /* of all */
};

static int by_use(const void *x, const void *y)
{
  const struct timespec *a = &((const struct kept_file *)x)->used, *b = &((const struct kept_file *)y)->used;
  if (a->tv_sec != b->tv_sec) return a->tv_sec < b->tv_sec ? -1 : 1;
  return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

static void add_file(struct content *c, const char *name, const struct stat *s)
{
  if (c->n == c->room) {
    c->room = c->room ? 2 * c->room : 64;
    NO_MEMORY_IF(!(c->file = realloc(c->file, c->room * sizeof *c->file)));
  }
  struct kept_file *f = &c->file[c->n++];
  f->used = s->st_mtim;
  f->bytes = (uint64_t)s->st_size;
  snprintf(f->name, sizeof f->name, "%s", name);
}

static void look_through(DIR *d, const char *stays, struct content *c)
{
  struct dirent *e;
  struct stat s;
  while ((e = readdir(d))) {
    if (!is_ours(e->d_name) || fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(s.st_mode)) continue;
    c->bytes += (uint64_t)s.st_size;
    if (strcmp(e->d_name, stays) != 0) add_file(c, e->d_name, &s);
  }
}

/* What was used longest ago goes; what cannot go (of other users) is passed over. */
static void make_room(const struct kept_place *p, uint64_t most)
{
  struct content c = {.n = 0};
  DIR *d = opendir(p->dir);
  if (!d) return;
  look_through(d, p->name, &c);
  if (c.bytes > most && c.n) qsort(c.file, c.n, sizeof *c.file, by_use);
  for (size_t i = 0; c.bytes > most && i < c.n; i++)
    if (unlinkat(dirfd(d), c.file[i].name, 0) == 0 || errno == ENOENT) c.bytes -= c.file[i].bytes;
  free(c.file);
  closedir(d);
}

static bool write_answer(FILE *f, const struct kept_place *p, const struct ptx_answer *a)
{
  struct header h = {.question_bytes = p->question_bytes, .log_bytes = a->log_bytes, .cubin_bytes = a->cubin_bytes};
  memcpy(h.magic, magic, sizeof magic);
  h.sum = checksum64(p->question, p->question_bytes);
  h.sum = checksum64_more(checksum64_more(h.sum, a->log, a->log_bytes), a->cubin, a->cubin_bytes);
  return fwrite(&h, 1, sizeof h, f) == sizeof h && fwrite(p->question, 1, p->question_bytes, f) == p->question_bytes &&
         fwrite(a->log, 1, a->log_bytes, f) == a->log_bytes && fwrite(a->cubin, 1, a->cubin_bytes, f) == a->cubin_bytes;
}

/* Pipes would be waited for, and links lead elsewhere. */
static bool may_be_replaced(const char *path)
{
  struct stat s;
  return lstat(path, &s) != 0 || S_ISREG(s.st_mode);
}

void ptx_cache_keep(const struct ptx_question *q, const struct ptx_answer *a)
{
  struct kept_place p;
  struct output o;
  struct err e = {0};
  const uint64_t most = most_bytes();
  if (!find_place(q, &p)) return;
  if (sizeof(struct header) + p.question_bytes + a->log_bytes + a->cubin_bytes <= most) {
    make_folders(p.dir);
    FILE *f = may_be_replaced(p.path) ? output_open(&o, p.path, &e) : NULL;
    if (f && output_close(&o, write_answer(f, &p, a), &e)) make_room(&p, most);
  }
  free(p.question);
}
