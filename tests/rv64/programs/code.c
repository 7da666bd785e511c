/* Code that is written, run, and written again: the result of each version. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
  uint32_t *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  long sum = 0;
  for (uint32_t i = 0; i < 200; i++) {
    code[0] = 0x00050513u | i << 20; /* addi a0, a0, i */
    code[1] = 0x00008067u;           /* ret */
    __builtin___clear_cache((char *)code, (char *)code + 8);
    sum += ((long (*)(long))code)(1000);
  }
  printf("sum %ld\n", sum);
  /* An instruction across two pages, of which the second half changes. */
  uint16_t *cross = (uint16_t *)((char *)code + 4094);
  long last = 0;
  for (uint32_t i = 1; i < 100; i++) {
    const uint32_t add = 0x00050513u | i << 20, ret = 0x00008067u;
    memcpy(cross, &add, 4);
    memcpy(cross + 2, &ret, 4);
    __builtin___clear_cache((char *)cross, (char *)cross + 8);
    last = ((long (*)(long))cross)(last);
  }
  printf("last %ld\n", last);
  mprotect(code, 8192, PROT_READ | PROT_EXEC);
  printf("again %ld\n", ((long (*)(long))code)(5));
  return 0;
}
