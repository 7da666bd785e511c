/* Functions of the program that streams call: for simulated RISC-V CPUs a thread of this library waits for them and calls
 * them, as the driver's does elsewhere. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef void host_function(void *data);
typedef void callback(void *stream, int status, void *data);

struct due {
  host_function *fn;
  void *data;
};

int __warpstep_launch_host(void *stream, host_function *fn, void *data);
int __warpstep_wait_function(void);
int __warpstep_next_function(struct due *);
int cudaLaunchHostFunc(void *stream, host_function *fn, void *data);
int cudaStreamAddCallback(void *stream, callback *fn, void *data, unsigned flags);

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2 };

static void *call_all(void *unused)
{
  struct due d;
  while (__warpstep_wait_function() == 0)
    for (;;) {
      if (__warpstep_next_function(&d) != 0) return NULL;
      if (!d.fn) break;
      d.fn(d.data);
    }
  return unused;
}

static void start(void)
{
  pthread_t t;
  if (pthread_create(&t, NULL, call_all, NULL) == 0) pthread_detach(t);
}

int cudaLaunchHostFunc(void *stream, host_function *fn, void *data)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (!fn) return INVALID_VALUE;
  pthread_once(&once, start);
  return __warpstep_launch_host(stream, fn, data);
}

struct added {
  callback *fn;
  void *stream, *data;
};

static void call_added(void *p)
{
  const struct added a = *(struct added *)p;
  free(p);
  a.fn(a.stream, 0, a.data);
}

int cudaStreamAddCallback(void *stream, callback *fn, void *data, unsigned flags)
{
  if (!fn || flags) return INVALID_VALUE;
  struct added *a = malloc(sizeof *a);
  if (!a) return OUT_OF_MEMORY;
  *a = (struct added){fn, stream, data};
  const int r = cudaLaunchHostFunc(stream, call_added, a);
  if (r) free(a);
  return r;
}
