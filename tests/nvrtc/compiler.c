/* A PTX compiler for the test of tools/nvrtc/driver_ptxas.py: what it makes, and how it fails, is in the PTX.
 *   "cubin"   an ELF header and the options        "empty"   nothing, with success
 *   "huge"    says that it is longer than memory   "fails"   a log
 *   "lost"    made, but cannot be had */
#include <stdio.h>
#include <string.h>

enum { OK, FAILED };
static const char *ptx;
static char made[256];

int nvPTXCompilerCreate(void **handle, size_t n, const char *text)
{
  *handle = made;
  ptx = text;
  return n != strlen(text);
}

int nvPTXCompilerCompile(void *handle, int n, const char *const *option)
{
  if (handle != made || !strcmp(ptx, "fails")) return FAILED;
  strcpy(made, "\177ELF");
  for (int i = 0; i < n; i++) snprintf(made + strlen(made), sizeof made - strlen(made), " %s", option[i]);
  return OK;
}

int nvPTXCompilerGetErrorLogSize(void *handle, size_t *n)
{
  *n = sizeof "line 1: bad";
  return handle != made;
}

int nvPTXCompilerGetErrorLog(void *handle, char *text)
{
  strcpy(text, "line 1: bad");
  return handle != made;
}

int nvPTXCompilerGetCompiledProgramSize(void *handle, size_t *n)
{
  *n = !strcmp(ptx, "empty") ? 0 : !strcmp(ptx, "huge") ? (size_t)-1 : strlen(made);
  return handle != made;
}

int nvPTXCompilerGetCompiledProgram(void *handle, void *cubin)
{
  if (strcmp(ptx, "empty")) memcpy(cubin, made, strlen(made));
  return handle != made || !strcmp(ptx, "lost");
}
