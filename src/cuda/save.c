#include "cuda/save.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "host/datafile.h"

enum { NAME_CHARS = 40, MAX_TRIES = 100000 };

struct snapshot *save_before(struct shim *s, const struct cu_module *m, const struct launch_desc *l)
{
  uint64_t number = s->record.n + 1;
  if (!s->options.capture || !choice_has(&s->options.choice, number, l->kernel->name)) return NULL;
  struct snapshot_bytes *code = shim_alloc(m->n_files * sizeof *code);
  for (unsigned i = 0; i < m->n_files; i++)
    code[i] = (struct snapshot_bytes){ m->file[i].elf, m->file[i].bytes };
  struct snapshot *snap = snapshot_take(&s->device, l, s->options.gpu, code, m->n_files);
  free(code);
  snap->number = number;
  return snap;
}

/* The kernel's symbol as part of a file name. */
static void file_name(const char *kernel, char out[NAME_CHARS + 1])
{
  unsigned n = 0;
  for (; *kernel && n < NAME_CHARS; kernel++)
    out[n++] = isalnum((unsigned char)*kernel) || *kernel == '_' ? *kernel : '-';
  out[n] = '\0';
}

/* A path that is not taken: several processes may write into one folder. */
static bool free_path(const struct shim *s, const struct snapshot *snap, char *path, size_t size)
{
  char name[NAME_CHARS + 1];
  file_name(snap->kernel, name);
  for (uint64_t n = snap->number; n < snap->number + MAX_TRIES; n++) {
    int len = snprintf(path, size, "%s/%04llu-%s.case", s->options.capture, (unsigned long long)n,
                       name);
    if (len >= (int)size) return false;
    if (access(path, F_OK) != 0) return true;
  }
  return false;
}

/* FILE BYTES CHECKSUM KERNEL GRID BLOCK */
static bool add_to_manifest(const struct shim *s, const struct snapshot *snap, const char *path,
                            struct err *e)
{
  char list[PATH_MAX];
  uint8_t *data;
  size_t bytes;
  TRY(datafile_read(path, NULL, &data, &bytes, e));
  snprintf(list, sizeof list, "%s/manifest.txt", s->options.capture);
  FILE *f = fopen(list, "a");
  const long before = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : 0;
  if (f)
    fprintf(f, "%s %zu %016llx %s %ux%ux%u %ux%ux%u\n", strrchr(path, '/') + 1, bytes,
            (unsigned long long)checksum64(data, bytes), snap->kernel, snap->grid[0], snap->grid[1],
            snap->grid[2], snap->block[0], snap->block[1], snap->block[2]);
  free(data);
  if (f && fflush(f) == 0 && !ferror(f)) return fclose(f) == 0;
  const int why = errno;
  if (f && (ftruncate(fileno(f), before) != 0 || before == 0)) unlink(list);
  if (f) fclose(f);
  unlink(path); /* a case that the list does not name would not be missed */
  return err_set(e, "%s: cannot write: %s", list, strerror(why));
}

void save_after(struct shim *s, struct snapshot *snap, const struct sim_result *r)
{
  char path[PATH_MAX];
  struct err e = {""};
  if (!snap) return;
  fflush(s->print);
  snapshot_finish(snap, &s->device, r, s->print_text, s->print_bytes);
  bool ok = r->end == RUN_DONE || r->end == RUN_FAULT;
  if (ok && !s->lost && !(free_path(s, snap, path, sizeof path)
                  ? snapshot_write(snap, path, &e) && add_to_manifest(s, snap, path, &e)
                  : err_set(&e, "%s: no room for another case", s->options.capture)))
    shim_cannot_write(s, &e); /* one line: behind it nothing is captured any more */
  snapshot_free(snap);
}
