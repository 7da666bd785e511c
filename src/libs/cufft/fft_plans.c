#include "libs/cufft/fft_plans.h"

#include <pthread.h>
#include <stdlib.h>

enum { MOST_DEVICES = 64 };

/* Handles are numbers, and calls have nothing else that could carry the plans, or the kernels that they share. */
static struct {
  pthread_mutex_t lock;
  struct fft_plan **plan; /* handle - 1 is its place */
  int room;
  struct kernel_set *kernels[MOST_DEVICES];
} the_plans = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int free_place(void)
{
  for (int i = 0; i < the_plans.room; i++)
    if (!the_plans.plan[i]) return i;
  const int room = the_plans.room ? 2 * the_plans.room : 16;
  struct fft_plan **more = realloc(the_plans.plan, (size_t)room * sizeof *more);
  if (!more) return -1;
  for (int i = the_plans.room; i < room; i++) more[i] = NULL;
  const int first = the_plans.room;
  the_plans.plan = more;
  the_plans.room = room;
  return first;
}

/* The kernels of the calling thread's device are there. */
static fft_status open_kernels(int device)
{
  if (the_plans.kernels[device]) return FFT_SUCCESS;
  struct kernel_set *s = malloc(sizeof *s);
  if (!s) return FFT_ALLOC_FAILED;
  if (!kernel_set_open(s) || s->capability < 75) {
    free(s);
    return FFT_SETUP_FAILED;
  }
  the_plans.kernels[device] = s;
  return FFT_SUCCESS;
}

static fft_status add(int *handle, int device)
{
  const fft_status s = open_kernels(device);
  const int i = s ? -1 : free_place();
  if (s) return s;
  if (i < 0) return FFT_ALLOC_FAILED;
  the_plans.plan[i] = calloc(1, sizeof **the_plans.plan);
  if (!the_plans.plan[i]) return FFT_ALLOC_FAILED;
  the_plans.plan[i]->device = device;
  the_plans.plan[i]->own_room_wanted = true;
  *handle = i + 1;
  return FFT_SUCCESS;
}

fft_status fft_plans_add(int *handle)
{
  int device;
  if (cudaGetDevice(&device) != DRIVER_OK || device < 0 || device >= MOST_DEVICES) return FFT_SETUP_FAILED;
  pthread_mutex_lock(&the_plans.lock);
  const fft_status s = add(handle, device);
  pthread_mutex_unlock(&the_plans.lock);
  return s;
}

struct fft_plan *fft_plans_find(int handle)
{
  pthread_mutex_lock(&the_plans.lock);
  struct fft_plan *p = handle >= 1 && handle <= the_plans.room ? the_plans.plan[handle - 1] : NULL;
  pthread_mutex_unlock(&the_plans.lock);
  return p;
}

void fft_plans_remove(int handle)
{
  pthread_mutex_lock(&the_plans.lock);
  free(the_plans.plan[handle - 1]);
  the_plans.plan[handle - 1] = NULL;
  pthread_mutex_unlock(&the_plans.lock);
}

int fft_plans_sms(const struct fft_plan *p)
{
  return the_plans.kernels[p->device]->sms;
}

bool fft_plans_launch(const struct fft_plan *p, enum lib_kernel k, struct launch_shape shape, const void *args)
{
  pthread_mutex_lock(&the_plans.lock); /* a kernel is loaded at its first launch */
  const bool done = kernel_set_launch(the_plans.kernels[p->device], k, shape, p->stream, args);
  pthread_mutex_unlock(&the_plans.lock);
  return done;
}
