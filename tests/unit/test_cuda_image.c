/* Images that a program names by their address alone: what their headers claim is measured before it is believed
 * (docs/guest-numbers.md). Each ends where the process's memory ends. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "cuda/core/image_size.h"
#include "cuda_rig.h"

CUresult cuModuleLoadData(CUmodule *, const void *);
CUresult cuModuleLoadFatBinary(CUmodule *, const void *);

enum { PAGE = 4096 };

static bool protect; /* the page behind is there, but may not be read */

/* n bytes that end with the last page that may be read. */
static uint8_t *at_the_end(const void *from, size_t n)
{
  size_t room = (n + PAGE - 1) / PAGE * PAGE;
  uint8_t *p = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(p != MAP_FAILED);
  if (protect) mprotect(p + room, PAGE, PROT_NONE);
  else munmap(p + room, PAGE);
  return memcpy(p + room - n, from, n);
}

static void release(const uint8_t *p, size_t n)
{
  size_t room = (n + PAGE - 1) / PAGE * PAGE;
  munmap((void *)(uintptr_t)(p + n - room), room + (protect ? PAGE : 0));
}

static uint8_t *vecadd(size_t *bytes)
{
  FILE *f = fopen(WS_SOURCE_DIR "/kernels/vecadd/vecadd.sm_86.cubin", "rb");
  uint8_t *data = malloc(1 << 20);
  assert_non_null(f);
  *bytes = fread(data, 1, 1 << 20, f);
  fclose(f);
  return data;
}

static CUresult load(const void *from, size_t n)
{
  CUmodule m;
  uint8_t *p = at_the_end(from, n);
  CUresult r = cuModuleLoadData(&m, p);
  if (r == CUDA_SUCCESS) OK(cuModuleUnload(m));
  release(p, n);
  return r;
}

/* A whole cubin loads, up against the end of memory; one byte less does not. */
static void whole_and_cut(void **state)
{
  size_t n;
  uint8_t *cubin = vecadd(&n);
  (void)state;
  OK(load(cubin, n));
  for (size_t cut = 1; cut < n; cut = 2 * cut + 1) assert_int_equal(load(cubin, n - cut), CUDA_ERROR_INVALID_IMAGE);
  assert_int_equal(load(cubin, 10), CUDA_ERROR_INVALID_IMAGE);
  free(cubin);
}

static CUresult with_header(uint8_t *cubin, size_t n, size_t offset, uint64_t value, size_t bytes)
{
  uint64_t was = 0;
  memcpy(&was, cubin + offset, bytes);
  memcpy(cubin + offset, &value, bytes);
  CUresult r = load(cubin, n);
  memcpy(cubin + offset, &was, bytes);
  return r;
}

/* Tables and sections anywhere, and sums that do not fit 64 bits. */
static void forged_elf(void **state)
{
  static const uint64_t wild[] = {UINT64_MAX, UINT64_MAX - 63, (uint64_t)1 << 63, (uint64_t)1 << 40, (uint64_t)1 << 32, 1 << 30};
  size_t n;
  uint8_t *cubin = vecadd(&n);
  Elf64_Ehdr h;
  (void)state;
  memcpy(&h, cubin, sizeof h);
  for (unsigned i = 0; i < sizeof wild / sizeof wild[0]; i++) {
    assert_int_equal(with_header(cubin, n, offsetof(Elf64_Ehdr, e_shoff), wild[i], 8), CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(with_header(cubin, n, offsetof(Elf64_Ehdr, e_phoff), wild[i], 8), CUDA_ERROR_INVALID_IMAGE);
    for (unsigned k = 1; k < h.e_shnum; k++) {
      size_t section = h.e_shoff + k * sizeof(Elf64_Shdr);
      if (((Elf64_Shdr *)(void *)(cubin + section))->sh_type == SHT_NOBITS) continue;
      assert_int_equal(with_header(cubin, n, section + offsetof(Elf64_Shdr, sh_offset), wild[i], 8), CUDA_ERROR_INVALID_IMAGE);
      assert_int_equal(with_header(cubin, n, section + offsetof(Elf64_Shdr, sh_size), wild[i], 8), CUDA_ERROR_INVALID_IMAGE);
    }
  }
  assert_int_equal(with_header(cubin, n, offsetof(Elf64_Ehdr, e_shnum), UINT16_MAX, 2), CUDA_ERROR_INVALID_IMAGE);
  assert_int_equal(with_header(cubin, n, offsetof(Elf64_Ehdr, e_shentsize), UINT16_MAX, 2), CUDA_ERROR_INVALID_IMAGE);
  free(cubin);
}

static void containers_and_text(void **state)
{
  uint8_t container[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
  uint64_t body = 1 << 20;
  static const struct {
    uint32_t magic, version;
    const void *data, *extra;
  } nowhere = {0x466243b1, 1, (const void *)8, NULL};
  struct image_extent x;
  CUmodule m;
  (void)state;
  memcpy(container + 8, &body, 8);
  assert_int_equal(load(container, 16), CUDA_ERROR_INVALID_IMAGE);
  uint8_t *p = at_the_end(container, 16);
  assert_int_equal(cuModuleLoadFatBinary(&m, p), CUDA_ERROR_INVALID_IMAGE);
  release(p, 16);
  assert_int_equal(cuModuleLoadData(&m, &nowhere), CUDA_ERROR_INVALID_IMAGE);
  assert_int_equal(load(".version 8.0", 12), CUDA_ERROR_INVALID_IMAGE); /* no 0 behind it */
  p = at_the_end("text", 5);
  assert_true(image_measure(p, IMAGE_UNKNOWN, &x));
  assert_int_equal(x.kind, IMAGE_TEXT);
  assert_int_equal(x.n, 5);
  assert_false(image_measure(p, 4, &x)); /* no room for the 0 */
  release(p, 5);
}

/* The same where the page behind is there, as in the reserve of an allocator. */
static void no_rights(void **state)
{
  protect = true;
  whole_and_cut(state);
  forged_elf(state);
  containers_and_text(state);
  protect = false;
}

/* Files one behind the other, as a link makes them. */
static void joined(void **state)
{
  uint64_t image[5] = {0, 0, 1, 8, 0};
  struct image_extent x;
  (void)state;
  memcpy(image, image_joined_magic, sizeof image_joined_magic);
  assert_true(image_measure(image, sizeof image, &x));
  assert_int_equal(x.kind, IMAGE_JOINED);
  assert_int_equal(x.n, sizeof image);
  static const uint64_t wild[] = {9, UINT64_MAX, UINT64_MAX - 8, (uint64_t)1 << 63};
  for (unsigned i = 0; i < sizeof wild / sizeof wild[0]; i++) {
    image[3] = wild[i];
    assert_false(image_measure(image, sizeof image, &x));
  }
  image[3] = 8;
  for (unsigned i = 0; i < sizeof wild / sizeof wild[0]; i++) {
    image[2] = wild[i];
    assert_false(image_measure(image, sizeof image, &x));
  }
  image[2] = 0;
  assert_false(image_measure(image, sizeof image, &x));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_and_cut),
      cmocka_unit_test(forged_elf),
      cmocka_unit_test(containers_and_text),
      cmocka_unit_test(no_rights),
      cmocka_unit_test(joined),
  };
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
