/* Arguments, environment, auxiliary vector, exit status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

static void goodbye(void)
{
  printf("goodbye\n");
}

int main(int argc, char **argv)
{
  struct utsname u;
  atexit(goodbye);
  for (int i = 1; i < argc; i++) printf("%d: '%s'\n", i, argv[i]);
  printf("RV64_TEST=%s\n", getenv("RV64_TEST"));
  printf("page %lu, hwcap %d%d%d%d%d%d, secure %lu\n", getauxval(AT_PAGESZ), (int)(getauxval(AT_HWCAP) >> ('i' - 'a') & 1),
         (int)(getauxval(AT_HWCAP) >> ('m' - 'a') & 1), (int)(getauxval(AT_HWCAP) >> ('a' - 'a') & 1),
         (int)(getauxval(AT_HWCAP) >> ('f' - 'a') & 1), (int)(getauxval(AT_HWCAP) >> ('d' - 'a') & 1),
         (int)(getauxval(AT_HWCAP) >> ('c' - 'a') & 1), getauxval(AT_SECURE));
  printf("uname %d %s %s\n", uname(&u), u.sysname, u.machine);
  printf("ids %d %d\n", getuid() == geteuid(), (int)sysconf(_SC_PAGESIZE));
  printf("stack aligned %d\n", ((unsigned long)__builtin_frame_address(0) & 15) == 0);
  printf("terminal %d\n", isatty(0) && isatty(1));
  return 42;
}
