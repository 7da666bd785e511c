/* In the place of CUDA's static runtime in its archive: one section of code with functions of its names, which call what the
 * real one calls and answer what nothing else answers. A real one is in tests/exec (NAME.stripped). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

/* More code than a runtime must have at least, of bytes that occur nowhere else. Two instructions that a linker replaces by
 * others, where it knows the function, part it into 16, 48 and 16 KB. */
#define BYTES(words) ".rept " words "\n.long x\n.set x, (x * 1103515245 + 12345) & 0xffffffff\n.endr\n"
__asm__(".text\n.set x, 1\n" BYTES("0x1000") "mov cudaGetDeviceCount@GOTPCREL(%rip), %rax\n" BYTES("0x3000")
        "call *cudaDriverGetVersion@GOTPCREL(%rip)\n" BYTES("0x1000"));

static int never(void)
{
  pthread_condattr_t a;
  return dlvsym(0, "x", "y") || mkfifo("", 0) || nftw("", 0, 1, 0) || pthread_condattr_setpshared(&a, 0);
}

int cudaGetDeviceCount(int *n)
{
  if (*n == -4711) return never();
  return printf("the runtime inside\n"), 100;
}

int cudaDriverGetVersion(int *version)
{
  return printf("the runtime inside: %d\n", *version), 100;
}
