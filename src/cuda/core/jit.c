#include "cuda/core/jit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* CUjit_option */
enum {
  JIT_MAX_REGISTERS = 0,
  JIT_THREADS_PER_BLOCK = 1,
  JIT_WALL_TIME = 2,
  JIT_INFO_BUFFER = 3,
  JIT_INFO_SIZE = 4,
  JIT_ERROR_BUFFER = 5,
  JIT_ERROR_SIZE = 6,
  JIT_OPT_LEVEL = 7,
  JIT_TARGET_FROM_CONTEXT = 8,
  JIT_TARGET = 9,
  JIT_DEBUG = 11,
  JIT_VERBOSE = 12,
  JIT_LINE_INFO = 13,
  JIT_MIN_CTAS = 31,
  JIT_MAX_THREADS = 32,
  JIT_OVERRIDE_DIRECTIVES = 33,
};

enum { MAX_OPT_LEVEL = 4 };

/* Option values are pointers that hold numbers. */
static unsigned number(const void *value)
{
  return (unsigned)(uintptr_t)value;
}

static uint64_t now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* CUDA Driver API, cuLinkAddData: what an input must not state. */
static bool is_of_link(int option)
{
  return option == JIT_WALL_TIME || option == JIT_INFO_BUFFER || option == JIT_ERROR_BUFFER ||
         option == JIT_TARGET_FROM_CONTEXT || option == JIT_TARGET;
}

bool jit_read(struct jit *j, unsigned n, const int *option, void *const *value, bool input)
{
  for (unsigned i = 0; i < n; i++) {
    if (input && is_of_link(option[i])) return false;
    switch (option[i]) {
    case JIT_MAX_REGISTERS: j->max_registers = number(value[i]); break;
    case JIT_THREADS_PER_BLOCK: j->threads_per_block = number(value[i]); break;
    case JIT_INFO_BUFFER: j->info = value[i]; break;
    case JIT_INFO_SIZE: j->info_bytes = number(value[i]); break;
    case JIT_ERROR_BUFFER: j->error = value[i]; break;
    case JIT_ERROR_SIZE: j->error_bytes = number(value[i]); break;
    case JIT_OPT_LEVEL:
      if (number(value[i]) > MAX_OPT_LEVEL) return false;
      j->opt_level = (int)number(value[i]) + 1;
      break;
    case JIT_TARGET_FROM_CONTEXT: j->target = 0; break;
    case JIT_TARGET: j->target = number(value[i]); break;
    case JIT_DEBUG: j->debug = number(value[i]); break;
    case JIT_VERBOSE: j->verbose = number(value[i]); break;
    case JIT_LINE_INFO: j->line_info = number(value[i]); break;
    case JIT_MIN_CTAS: j->min_ctas = number(value[i]); break;
    case JIT_MAX_THREADS: j->max_threads = number(value[i]); break;
    case JIT_OVERRIDE_DIRECTIVES: j->override_directives = number(value[i]); break;
    default: break; /* caching, fallback, link-time optimisation: no meaning here */
    }
  }
  if (!j->info) j->info_bytes = 0;
  if (!j->error) j->error_bytes = 0;
  if (j->started == 0) j->started = now();
  return true;
}

void jit_write(const struct jit *j, unsigned n, const int *option, void **value)
{
  const float ms = (float)(now() - j->started) / 1e6f;
  for (unsigned i = 0; i < n; i++) {
    if (option[i] == JIT_INFO_SIZE) value[i] = (void *)(uintptr_t)j->info_used;
    if (option[i] == JIT_ERROR_SIZE) value[i] = (void *)(uintptr_t)j->error_used;
    if (option[i] == JIT_WALL_TIME) {
      value[i] = NULL;
      memcpy(&value[i], &ms, sizeof ms);
    }
  }
}

static bool append(char *to, size_t room, size_t *used, const char *text)
{
  if (!to || room == 0) return false;
  const size_t at = *used ? *used - 1 : 0;
  const char *newline = at && to[at - 1] != '\n' ? "\n" : "";
  snprintf(to + at, room - at, "%s%s", newline, text);
  *used = at + strlen(to + at) + 1;
  return true;
}

bool jit_log_info(struct jit *j, const char *text)
{
  return append(j->info, j->info_bytes, &j->info_used, text);
}

bool jit_log_error(struct jit *j, const char *text)
{
  return append(j->error, j->error_bytes, &j->error_used, text);
}
