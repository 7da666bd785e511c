/* Entry points of the library for simulated RISC-V CPUs that ask nobody, and those that give texts: these must lie in the
 * program's own memory. */
#include <stddef.h>

enum { CODES = 1000, BYTES = 160 };

int __warpstep_error_name(int code, char *text, size_t bytes);
int __warpstep_error_text(int code, char *text, size_t bytes);
const char *cudaGetErrorName(int code);
const char *cudaGetErrorString(int code);

/* A place of its own for each code, as programs keep what they get. */
static const char *text_of(int code, char (*place)[BYTES], int (*get)(int, char *, size_t))
{
  char *text = place[code >= 0 && code < CODES ? code : CODES];
  if (!text[0]) get(code, text, BYTES);
  return text[0] ? text : "no CUDA-capable device is detected";
}

const char *cudaGetErrorName(int code)
{
  static char names[CODES + 1][BYTES];
  return text_of(code, names, __warpstep_error_name);
}

const char *cudaGetErrorString(int code)
{
  static char texts[CODES + 1][BYTES];
  return text_of(code, texts, __warpstep_error_text);
}

struct channel {
  int x, y, z, w, kind;
};
struct channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind);

struct channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
  return (struct channel){x, y, z, w, kind};
}
