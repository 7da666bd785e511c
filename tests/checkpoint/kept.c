/* A RISC-V program with open files, for checkpoints.py: it reads a file piece by piece and, between computing, appends
 * to another one through a descriptor and its duplicate, with a folder and a character device open. kept pipe, kept
 * removed: with something open that cannot be opened again. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "warpstep/region.h"

static uint32_t mix(uint32_t x, int rounds)
{
  for (int i = 0; i < rounds; i++) x = x * 1664525u + 1013904223u, x ^= x >> 13;
  return x;
}

int main(int argc, char **argv)
{
  char piece[16], line[64];
  uint32_t sum = 1;
  int ends[2];
  const int in = open("in", O_RDONLY), out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0644), copy = dup(out);
  const int null = open("/dev/null", O_WRONLY);
  DIR *folder = opendir(".");
  if (in < 0 || out < 0 || copy < 0 || null < 0 || !folder) return 2;
  if (argc > 1 && !strcmp(argv[1], "pipe") && pipe(ends) != 0) return 2;
  if (argc > 1 && !strcmp(argv[1], "removed") && (open("gone", O_RDWR | O_CREAT, 0644) < 0 || unlink("gone") != 0))
    return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 0; read(in, piece, sizeof piece) == sizeof piece; i++) {
    if (i == 4) warpstep_region_begin();
    for (unsigned k = 0; k < sizeof piece; k++) sum = mix(sum + (unsigned char)piece[k], 200);
    const int n = snprintf(line, sizeof line, "%d %08x at %ld\n", i, sum, (long)lseek(in, 0, SEEK_CUR));
    if (write(i % 2 ? copy : out, line, (size_t)n) != n || write(null, line, (size_t)n) != n) return 3;
    printf("piece %d: %.4s\n", i, piece);
    if (i == 8) warpstep_region_end();
  }
  printf("at %ld of out, entries %d\n", (long)lseek(copy, 0, SEEK_CUR), readdir(folder) != NULL);
  return 0;
}
