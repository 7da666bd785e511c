/* Memory of a Linux process of the simulated CPU where qemu-user, which the programs of tests/rv64 are held against, has other
 * bounds: the heap's end, places that a program insists on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/linux/linux_file.h"
#include "host/linux/linux_object.h"
#include "host/linux/linux_syscall.h"

enum { PAGE = 4096, START = 0x100000, MOST = 64 << 20 };

static struct linux_process *process(void)
{
  struct linux_process *p = calloc(1, sizeof *p);
  linux_vm_init(&p->vm, gmem_new(12), MOST);
  for (int i = 0; i < LINUX_FILES; i++) p->file[i].host = -1;
  p->vm.brk_start = p->vm.brk = START;
  return p;
}

static void end(struct linux_process *p)
{
  struct gmem *image = p->vm.image;
  linux_vm_free(&p->vm);
  gmem_free(image);
  free(p);
}

static int64_t brk_to(struct linux_process *p, uint64_t to)
{
  return linux_sys_brk(p, (const uint64_t[6]){to});
}

static int64_t map_at(struct linux_process *p, uint64_t at, uint64_t bytes, uint64_t flags)
{
  return linux_sys_mmap(p, (const uint64_t[6]){at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, UINT64_MAX, 0});
}

/* The heap may grow to a quarter of the address space above where position-independent programs lie, and takes no page before it
 * is touched. */
static void heap(void **state)
{
  const uint64_t most = LINUX_PIE_BASE + LINUX_TASK_SIZE / 4;
  struct linux_process *p = process();
  uint8_t byte = 7;
  (void)state;
  assert_int_equal(brk_to(p, 0), START);
  assert_int_equal(brk_to(p, START - 1), START);
  assert_int_equal(brk_to(p, most + 1), START);
  assert_int_equal(brk_to(p, most), most);
  assert_true(linux_vm_write(&p->vm, most - 1, &byte, 1));
  assert_false(linux_vm_write(&p->vm, most, &byte, 1));
  assert_int_equal(brk_to(p, START + 1), START + 1); /* rights are those of whole pages */
  assert_true(linux_vm_write(&p->vm, START + PAGE - 1, &byte, 1));
  assert_false(linux_vm_write(&p->vm, START + PAGE, &byte, 1));
  assert_int_equal(brk_to(p, START), START);
  assert_false(linux_vm_write(&p->vm, START, &byte, 1));
  assert_int_equal(map_at(p, START + 4 * PAGE, PAGE, MAP_FIXED), START + 4 * PAGE);
  assert_int_equal(brk_to(p, START + 5 * PAGE), START); /* something is in the way */
  assert_int_equal(brk_to(p, START + 4 * PAGE), START + 4 * PAGE);
  end(p);
}

/* Areas that do not touch each other, until there are too many: then none is split either, until one has gone. */
static void many_areas(void **state)
{
  struct linux_process *p = process();
  uint64_t at = START;
  (void)state;
  for (; linux_vm_map(&p->vm, at, 3 * PAGE, 0); at += 4 * PAGE) continue;
  assert_in_range(p->vm.n, 60000, 65530); /* Linux: vm.max_map_count is 65,530 */
  assert_false(linux_vm_protect(&p->vm, START + PAGE, PAGE, PROT_READ));
  linux_vm_unmap(&p->vm, at - 4 * PAGE, PAGE * 4);
  assert_true(linux_vm_protect(&p->vm, START, 3 * PAGE, PROT_READ));
  end(p);
}

static void places(void **state)
{
  struct linux_process *p = process();
  const uint64_t last = LINUX_TASK_SIZE - PAGE;
  (void)state;
  assert_int_equal(map_at(p, START, PAGE, MAP_FIXED_NOREPLACE), START);
  assert_int_equal(map_at(p, START, PAGE, MAP_FIXED_NOREPLACE), -EEXIST);
  assert_int_equal(map_at(p, START - PAGE, 2 * PAGE, MAP_FIXED_NOREPLACE), -EEXIST);
  assert_int_equal(map_at(p, START, PAGE, MAP_FIXED), START);
  assert_int_equal(map_at(p, START + 1, PAGE, MAP_FIXED), -EINVAL);
  assert_int_equal(map_at(p, last, PAGE, MAP_FIXED), last);
  assert_int_equal(map_at(p, last, 2 * PAGE, MAP_FIXED), -ENOMEM);
  assert_int_equal(map_at(p, LINUX_TASK_SIZE + PAGE, PAGE, MAP_FIXED), -ENOMEM);
  assert_int_equal(map_at(p, 0, LINUX_TASK_SIZE + 1, 0), -ENOMEM);
  assert_int_equal(map_at(p, 0, 0, 0), -EINVAL);
  assert_int_equal(map_at(p, START + 1, PAGE, 0), START + PAGE); /* a wish, rounded up */
  const int64_t other = map_at(p, START, 3 * PAGE, 0);           /* taken: somewhere else */
  assert_true(other > 0 && other % PAGE == 0 && other != START);
  assert_int_equal(linux_sys_mprotect(p, (const uint64_t[6]){START, 0, PROT_READ}), 0);
  assert_int_equal(linux_sys_mprotect(p, (const uint64_t[6]){START, 2 * PAGE, PROT_READ}), 0);
  assert_int_equal(linux_sys_mprotect(p, (const uint64_t[6]){START, 3 * PAGE, PROT_READ}), -ENOMEM); /* a hole behind it */
  assert_int_equal(linux_sys_mprotect(p, (const uint64_t[6]){START, PAGE, 0x100}), -EINVAL);
  assert_int_equal(linux_sys_munmap(p, (const uint64_t[6]){last, 2 * PAGE}), -EINVAL);
  assert_int_equal(linux_sys_munmap(p, (const uint64_t[6]){last, PAGE}), 0);
  end(p);
}

/* What a system call transfers, as pieces of the host's memory: pages that lie side by side are one piece, each byte is in one,
 * and what cannot be read ends it. */
static void buffers(void **state)
{
  enum { PAGES = 6, BYTES = PAGES * PAGE };
  struct linux_process *p = process();
  struct iovec iov[LINUX_IOV];
  static uint8_t in[BYTES], out[BYTES];
  uint64_t covered = 0, at = 0;
  (void)state;
  for (unsigned i = 0; i < BYTES; i++) in[i] = (uint8_t)(i * 7 + i / PAGE);
  assert_int_equal(map_at(p, START, BYTES, MAP_FIXED), START);
  assert_true(linux_vm_write(&p->vm, START, in, BYTES));
  const int n = linux_file_buffer(p, START + 5, BYTES - 9, RV64_READ, iov, &covered);
  assert_int_equal(covered, BYTES - 9);
  for (int i = 0; i < n; i++) {
    memcpy(out + at, iov[i].iov_base, iov[i].iov_len);
    at += iov[i].iov_len;
    if (i) assert_true((uint8_t *)iov[i - 1].iov_base + iov[i - 1].iov_len != iov[i].iov_base);
  }
  assert_int_equal(at, covered);
  assert_memory_equal(out, in + 5, covered);
  assert_int_equal(linux_sys_munmap(p, (const uint64_t[6]){START + 4 * PAGE, PAGE}), 0);
  linux_file_buffer(p, START + 5, BYTES - 9, RV64_READ, iov, &covered);
  assert_int_equal(covered, 4 * PAGE - 5);
  assert_int_equal(linux_file_buffer(p, START + 4 * PAGE, 1, RV64_READ, iov, &covered), 0);
  assert_int_equal(covered, 0);
  assert_int_equal(linux_sys_mprotect(p, (const uint64_t[6]){START, PAGE, PROT_READ}), 0);
  assert_int_equal(linux_file_buffer(p, START, 1, RV64_WRITE, iov, &covered), 0);
  assert_int_equal(linux_file_buffer(p, START, 1, RV64_READ, iov, &covered), 1);
  end(p);
}

/* A terminal's settings, as the kernel's `struct termios`, which is the same on RISC-V, and no byte behind it. */
static void terminal(void **state)
{
  struct linux_process *p = process();
  struct termios have, got;
  uint8_t behind[8], untouched[8];
  const int host = open("/dev/ptmx", O_RDWR | O_NOCTTY);
  (void)state;
  if (host < 0) {
    end(p);
    skip(); /* no terminals on this machine */
  }
  p->file[5].host = host;
  assert_int_equal(ioctl(host, TCGETS, &have), 0);
  have.c_cc[VMIN] ^= 0x55;
  have.c_lflag ^= ECHO;
  assert_int_equal(ioctl(host, TCSETS, &have), 0);
  memset(untouched, 0xa5, sizeof untouched);
  assert_int_equal(map_at(p, START, PAGE, MAP_FIXED), START);
  assert_true(linux_vm_write(&p->vm, START + sizeof got, untouched, sizeof untouched));
  assert_int_equal(linux_sys_ioctl(p, (const uint64_t[6]){5, TCGETS, START}), 0);
  assert_true(linux_vm_read(&p->vm, &got, START, sizeof got));
  assert_true(linux_vm_read(&p->vm, behind, START + sizeof got, sizeof behind));
  assert_memory_equal(&got, &have, sizeof got);
  assert_memory_equal(behind, untouched, sizeof behind);
  assert_int_equal(linux_sys_ioctl(p, (const uint64_t[6]){5, TCGETS, START + PAGE - 8}), -EFAULT);
  close(host);
  p->file[6].host = open("/dev/null", O_RDWR);
  assert_int_equal(linux_sys_ioctl(p, (const uint64_t[6]){6, TCGETS, START}), -ENOTTY);
  assert_int_equal(linux_sys_ioctl(p, (const uint64_t[6]){7, TCGETS, START}), -EBADF);
  close(p->file[6].host);
  end(p);
}

/* A place in a file that has gone since: its name is all there is to say, and nothing of files read before is. */
static void gone(void **state)
{
  struct linux_process *p = process();
  char name[] = "/tmp/warpstep-object-XXXXXX", said[300], want[300];
  static uint8_t bytes[2 * PAGE];
  (void)state;
  const int file = mkstemp(name);
  assert_true(file >= 0);
  assert_int_equal(write(file, bytes, sizeof bytes), sizeof bytes);
  close(file);
  linux_object_note(p, name, START, START + sizeof bytes, 0);
  snprintf(want, sizeof want, "0x%x in %s", START + 16, strrchr(name, '/') + 1);
  linux_object_describe(p, START + 16, said, sizeof said);
  assert_string_equal(said, want);
  unlink(name);
  linux_object_describe(p, START + 16, said, sizeof said);
  assert_string_equal(said, want);
  linux_object_describe(p, START + sizeof bytes, said, sizeof said); /* behind it */
  snprintf(want, sizeof want, "0x%x", (unsigned)(START + sizeof bytes));
  assert_string_equal(said, want);
  linux_objects_free(p);
  end(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(heap),    cmocka_unit_test(many_areas), cmocka_unit_test(places),
                                     cmocka_unit_test(buffers), cmocka_unit_test(terminal),   cmocka_unit_test(gone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
