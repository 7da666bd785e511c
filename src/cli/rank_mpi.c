#include "cli/rank_mpi.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"

extern char **environ;

/* Open MPI's mpi.h: handles are pointers, those of constants addresses of variables of these names. */
struct rank_mpi {
  int (*init)(int *, char ***);
  int (*size)(void *, int *);
  int (*rank)(void *, int *);
  int (*gather)(const void *, int, void *, void *, int, void *, void *);
  int (*gatherv)(const void *, int, void *, void *, const int *, const int *, void *, void *);
  int (*finalize)(void);
  void *world, *byte;
  int n, own;
};

static void *open_library(void)
{
  static const char *const names[] = {"libmpi.so.40", "libmpi.so"};
  const char *given = getenv("WARPSTEP_MPI");
  if (given) return dlopen(given, RTLD_NOW | RTLD_GLOBAL);
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    void *l = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
    if (l) return l;
  }
  return NULL;
}

/* ISO C has no way from an object's address to a function's. */
static void find(void *library, const char *name, void *to)
{
  void *at = dlsym(library, name);
  memcpy(to, &at, sizeof at);
}

static bool load(struct rank_mpi *m, struct err *e)
{
  void *l = open_library();
  if (!l) return err_set(e, "--ranks mpi: no library of Open MPI (libmpi.so.40; Debian: openmpi-bin): %s", dlerror());
  find(l, "MPI_Init", &m->init);
  find(l, "MPI_Comm_size", &m->size);
  find(l, "MPI_Comm_rank", &m->rank);
  find(l, "MPI_Allgather", &m->gather);
  find(l, "MPI_Allgatherv", &m->gatherv);
  find(l, "MPI_Finalize", &m->finalize);
  m->world = dlsym(l, "ompi_mpi_comm_world");
  m->byte = dlsym(l, "ompi_mpi_byte");
  return (m->init && m->size && m->rank && m->gather && m->gatherv && m->finalize && m->world && m->byte) ||
         err_set(e, "--ranks mpi: the library of MPI that was found is not Open MPI's");
}

struct rank_mpi *rank_mpi_begin(unsigned *rank, unsigned *n, struct err *e)
{
  struct rank_mpi *m = mem_zeroed(1, sizeof *m);
  if (!getenv("OMPI_COMM_WORLD_SIZE")) {
    err_set(e, "--ranks mpi: not started by Open MPI: mpirun -n N warpstep exec --ranks mpi ...");
    mem_free(m);
    return NULL;
  }
  if (!load(m, e)) {
    mem_free(m);
    return NULL;
  }
  m->init(NULL, NULL); /* errors end the process: MPI's default */
  m->size(m->world, &m->n);
  m->rank(m->world, &m->own);
  *rank = (unsigned)m->own;
  *n = (unsigned)m->n;
  return m;
}

void rank_mpi_frames(struct rank_mpi *m, const struct rank_frame *mine, struct rank_frame *all)
{
  m->gather(mine, sizeof *mine, m->byte, all, sizeof *all, m->byte, m->world);
}

void rank_mpi_bytes(struct rank_mpi *m, const void *mine, const struct rank_frame *frame, void *all)
{
  int bytes[RANKS_MAX], at[RANKS_MAX];
  uint64_t sum = 0;
  for (int i = 0; i < m->n; i++) {
    bytes[i] = (int)frame[i].bytes;
    at[i] = (int)sum;
    sum += frame[i].bytes;
    if (sum > INT_MAX) BUG("more than 2 GiB in one meeting of ranks");
  }
  if (sum) m->gatherv(mine, bytes[m->own], m->byte, all, bytes, at, m->byte, m->world);
}

void rank_mpi_end(struct rank_mpi *m)
{
  if (!m) return;
  m->finalize();
  mem_free(m);
}

void rank_mpi_clean_environment(void)
{
  static const char *const of_mpi[] = {"OMPI_", "PMIX_", "PMI_", "PRTE_", "ORTE_"};
  for (char **v = environ; *v;) {
    char name[256];
    const size_t n = strcspn(*v, "=");
    bool drop = false;
    for (unsigned i = 0; i < sizeof of_mpi / sizeof *of_mpi; i++)
      drop |= strncmp(*v, of_mpi[i], strlen(of_mpi[i])) == 0;
    if (drop && n < sizeof name) {
      memcpy(name, *v, n);
      name[n] = '\0';
      unsetenv(name); /* the others move up */
    } else v++;
  }
}
