/* Programs that fault, by the first argument: each ends with one line and 128 + the signal. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const int constant = 5;

__attribute__((noinline)) static int large_frame(void)
{
  volatile char big[1 << 24];
  big[0] = 1;
  return big[0];
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "load")) return *(volatile int *)0x123;
  if (!strcmp(what, "store")) *(volatile int *)(uintptr_t)&constant = 1;
  if (!strcmp(what, "jump")) ((void (*)(void))0x1000)();
  if (!strcmp(what, "illegal")) __asm__ volatile(".4byte 0xffffffff");
  if (!strcmp(what, "break")) __asm__ volatile("ebreak");
  if (!strcmp(what, "misaligned")) __asm__ volatile("amoadd.w zero, zero, (%0)" : : "r"((char *)&lock + 1) : "memory");
  if (!strcmp(what, "abort")) abort();
  if (!strcmp(what, "kernel")) __asm__ volatile("ld a0, (%0)" : : "r"(-4096L) : "a0");
  if (!strcmp(what, "stack")) return large_frame();
  if (!strcmp(what, "memory")) {
    for (;;) memset(malloc(1 << 20), 1, 1 << 20);
  }
  if (!strcmp(what, "stuck")) {
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
  }
  if (!strcmp(what, "loop")) {
    for (;;) __asm__ volatile("");
  }
  return 3;
}
