#include "config/mig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "config/params.h"

struct profile {
  unsigned first, last, whole; /* targets; SMs of the GPU */
  unsigned of;                 /* slices of its memory */
  const char *name;
  bool twice;
  unsigned sms, slices, engines;
};

static const struct profile profiles[] = {
#define MIG_PROFILE(first, last, whole, of, name, twice, sms, slices, engines)                                     \
  {first, last, whole, of, name, twice, sms, slices, engines},
#include "config/mig.def"
#undef MIG_PROFILE
};

enum { N_PROFILES = sizeof profiles / sizeof *profiles, NAME_MAX_BYTES = 32, MIB_PER_GIB = 1024 };

static bool is_of(const struct profile *f, const struct params *p)
{
  return p->arch_sm >= f->first && p->arch_sm <= f->last && p->gpu_sms == f->whole;
}

/* As nvidia-smi calls it: its memory in GB, rounded. */
static const char *name_of(const struct profile *f, const struct params *p, char text[NAME_MAX_BYTES])
{
  const uint64_t half = (uint64_t)MIB_PER_GIB * f->of / 2;
  const uint64_t gb = ((uint64_t)p->gpu_memory_mib * f->slices + half) / ((uint64_t)MIB_PER_GIB * f->of);
  snprintf(text, NAME_MAX_BYTES, "%s.%ugb", f->name, (unsigned)gb);
  return text;
}

static const struct profile *find(const struct params *p, const char *name, struct err *e)
{
  char text[NAME_MAX_BYTES], known[400] = "";
  size_t n = 0;
  for (unsigned i = 0; i < N_PROFILES; i++) {
    if (!is_of(&profiles[i], p)) continue;
    if (strcmp(name, name_of(&profiles[i], p, text)) == 0) return &profiles[i];
    n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", text);
  }
  if (!n) err_set(e, "mig '%.60s': no instances of %s are known", name, p->name);
  else err_set(e, "mig '%.60s': %s has the instances %s", name, p->name, known);
  return NULL;
}

/* Where two partitions of L2 are, an instance that has not all of it is in one (guess). */
bool mig_values(const struct params *p, const char *profile, struct mig_value v[MIG_VALUES], struct err *e)
{
  const struct profile *f = find(p, profile, e);
  if (!f) return false;
  const uint64_t k = f->slices, of = f->of, gpcs = div_up((uint64_t)f->sms * p->gpu_gpcs, p->gpu_sms);
  const struct mig_value all[MIG_VALUES] = {
      {"gpu.sms", f->sms},
      {"gpu.gpcs", gpcs},
      {"gpu.memory_mib", p->gpu_memory_mib * k / of},
      {"l2.bytes", p->l2_bytes * k / of},
      {"l2.slices", p->l2_slices * k / of},
      {"l2.partitions", k == of ? p->l2_partitions : 1},
      {"l2.bytes_per_cycle", p->l2_bytes_per_cycle * k / of},
      {"dram.channels", p->dram_channels * k / of},
      {"dram.bus_bits", p->dram_bus_bits * k / of},
      {"dma.engines", earlier(f->engines, p->dma_engines)},
  };
  memcpy(v, all, sizeof all);
  return true;
}

/* "3g": the number of slices of SMs. */
static unsigned gpu_slices(const struct profile *f)
{
  return (unsigned)(f->name[0] - '0');
}

/* Of an A30 four, of larger GPUs seven. */
unsigned mig_gpu_slices(const struct params *p)
{
  for (unsigned i = 0; i < N_PROFILES; i++)
    if (is_of(&profiles[i], p)) return profiles[i].of == 4 ? 4 : 7;
  return 0;
}

static bool add_instance(const struct params *p, const char *name, struct mig_instance *to, struct err *e)
{
  const struct profile *f = find(p, name, e);
  if (!f) return false;
  *to = (struct mig_instance){.sms = f->sms, .engines = f->engines, .gpu_slices = gpu_slices(f),
                              .memory_slices = f->slices,
                              .memory_mib = (uint64_t)p->gpu_memory_mib * f->slices / f->of};
  snprintf(to->profile, sizeof to->profile, "%s", name);
  return true;
}

static unsigned memory_slices(const struct params *p)
{
  for (unsigned i = 0; i < N_PROFILES; i++)
    if (is_of(&profiles[i], p)) return profiles[i].of;
  return 0;
}

enum { EVERY_GPU = -1 };

/* "2:" in front of an entry: it and what follows are of GPU 2. */
static bool take_number(const char **at, const struct mig_list *l, long *gpu, struct err *e)
{
  char *end;
  const size_t digits = strspn(*at, "0123456789");
  if (!digits || (*at)[digits] != ':') return true;
  *gpu = strtol(*at, &end, 10);
  if (*gpu >= (long)l->n_gpus)
    return err_set(e, "mig %.60s: there is no GPU %.*s, of %u", l->text, (int)earlier(digits, 20), *at, l->n_gpus);
  *at = end + 1;
  return true;
}

static bool has_room(const struct params *p, const struct mig_instance *of, unsigned n)
{
  unsigned sms = 0, memory = 0;
  for (unsigned i = 0; i < n; i++) sms += of[i].gpu_slices, memory += of[i].memory_slices;
  return sms <= mig_gpu_slices(p) && memory <= memory_slices(p);
}

static bool too_few(const struct params *p, const struct mig_list *l, struct err *e)
{
  return err_set(e, "mig %.60s: %s has %u slices of SMs and %u of memory, too few for these", l->text, p->name,
                 mig_gpu_slices(p), memory_slices(p));
}

bool mig_cut(const struct params *p, struct mig_list l, unsigned gpu, struct mig_instance to[MIG_MAX_INSTANCES],
             unsigned *n, struct err *e)
{
  char name[MIG_PROFILE_TEXT];
  long of = EVERY_GPU;
  *n = 0;
  for (const char *at = l.text;; at++) {
    TRY(take_number(&at, &l, &of, e));
    const size_t length = strcspn(at, ",");
    struct mig_instance x;
    snprintf(name, sizeof name, "%.*s", (int)earlier(length, sizeof name - 1), at);
    if (of == EVERY_GPU || of == (long)gpu) {
      TRY(add_instance(p, name, &x, e));
      if (*n == MIG_MAX_INSTANCES) return too_few(p, &l, e);
      to[(*n)++] = x;
    }
    at += length;
    if (!*at) return has_room(p, to, *n) || too_few(p, &l, e);
  }
}
