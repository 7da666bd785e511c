/* Files and folders: what is written is read back, by every way of reading. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int by_name(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(const char *path)
{
  char *name[16];
  int n = 0;
  DIR *d = opendir(path);
  for (struct dirent *e; d && (e = readdir(d)) && n < 16;) name[n++] = strdup(e->d_name);
  closedir(d);
  qsort(name, (size_t)n, sizeof *name, by_name);
  for (int i = 0; i < n; i++) printf("  %s\n", name[i]);
}

int main(void)
{
  char dir[] = "/tmp/rv64-files-XXXXXX", path[64], other[64], buf[64] = "", two[8] = "";
  struct stat st;
  if (!mkdtemp(dir)) return 1;
  snprintf(path, sizeof path, "%s/a", dir);
  snprintf(other, sizeof other, "%s/b", dir);
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0640);
  struct iovec v[2] = {{"hello ", 6}, {"world\n", 6}};
  printf("writev %zd\n", writev(fd, v, 2));
  printf("seek %ld\n", (long)lseek(fd, 6, SEEK_SET));
  printf("read %zd %s", read(fd, buf, sizeof buf), buf);
  printf("pread %zd\n", pread(fd, buf, 5, 0));
  struct iovec w[2] = {{buf, 5}, {two, 7}};
  lseek(fd, 0, SEEK_SET);
  printf("readv %zd '%.5s' '%.6s'\n", readv(fd, w, 2), buf, two);
  printf("fstat %d size %ld mode %o\n", fstat(fd, &st), (long)st.st_size, st.st_mode & 0777);
  printf("truncate %d\n", ftruncate(fd, 4));
  printf("again %d\n", open(path, O_CREAT | O_EXCL | O_WRONLY, 0600) < 0 ? errno : 0);
  printf("dup %zd\n", write(dup(fd), "xyz", 3));
  close(fd);
  printf("closed %d\n", write(fd, "x", 1) < 0 ? errno : 0);
  printf("stat %d size %ld\n", stat(path, &st), (long)st.st_size);
  printf("rename %d\n", rename(path, other));
  printf("access %d %d\n", access(path, R_OK), access(other, R_OK));
  list(dir);
  FILE *f = fopen(other, "a+");
  for (int i = 0; i < 3000; i++) fprintf(f, "line %d\n", i);
  rewind(f);
  unsigned lines = 0, sum = 0;
  for (int c; (c = fgetc(f)) != EOF; lines += c == '\n') sum = sum * 31 + (unsigned)c;
  fclose(f);
  printf("lines %u sum %u\n", lines, sum);
  printf("bad pointer %d\n", write(1, (void *)8, 4) < 0 ? errno : 0);
  printf("unlink %d rmdir %d\n", unlink(other), rmdir(dir));
  printf("gone %d\n", stat(dir, &st) < 0 ? errno : 0);
  return 0;
}
