/* CUDA_VISIBLE_DEVICES (CUDA C++ Programming Guide, "CUDA Environment Variables"): which of four GPUs a program sees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuda/core/board.h"
#include "cuda/core/visible_boards.h"

enum { GPUS = 4, UUID_TEXT = 40 };

static struct boards *machine(void)
{
  struct boards *m = calloc(1, sizeof *m);
  m->machine.n_gpus = GPUS;
  m->machine.params = calloc(GPUS, sizeof *m->machine.params);
  for (unsigned i = 0; i < GPUS; i++) strcpy(m->machine.params[i].name, "rtx-3070");
  return m;
}

static void machine_free(struct boards *m)
{
  free(m->machine.params);
  free(m);
}

static void check(const struct boards *m, const char *text, unsigned n, const unsigned *want)
{
  unsigned node[MACHINE_MAX_GPUS] = {99, 99, 99, 99};
  int instance = 99;
  const unsigned have = visible_boards(m, text, node, &instance);
  assert_int_equal(instance, -1);
  if (have != n || (n && memcmp(node, want, n * sizeof *want) != 0)) fail_msg("'%s': %u, %u %u", text ? text : "NULL", have, node[0], node[1]);
}

static void by_number(void **state)
{
  struct boards *m = machine();
  (void)state;
  check(m, NULL, 4, (unsigned[]){0, 1, 2, 3});
  check(m, "", 0, NULL);
  check(m, "2", 1, (unsigned[]){2});
  check(m, "3,0,1,2", 4, (unsigned[]){3, 0, 1, 2});
  check(m, " 1, 3", 2, (unsigned[]){1, 3});
  check(m, "0,4,1", 1, (unsigned[]){0}); /* what follows the first that is none does not count */
  check(m, "1,-1,2", 1, (unsigned[]){1});
  check(m, "x,0", 0, NULL);
  check(m, "1x,0", 0, NULL);
  check(m, "0,,1", 1, (unsigned[]){0});
  check(m, "0,1,0", 0, NULL); /* the same twice: none */
  check(m, "NoDevFiles", 0, NULL);
  check(m, "0,1,2,3,0", 4, (unsigned[]){0, 1, 2, 3}); /* no more than there are */
  machine_free(m);
}

/* GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, as nvidia-smi -L has it. */
static void text_of(const CUuuid *u, char text[UUID_TEXT + 1])
{
  const unsigned char *b = (const unsigned char *)u->bytes;
  snprintf(text, UUID_TEXT + 1, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3], b[4],
           b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static void by_uuid(void **state)
{
  struct boards *m = machine();
  char text[GPUS][UUID_TEXT + 1], list[128];
  (void)state;
  for (unsigned i = 0; i < GPUS; i++) {
    const CUuuid u = board_uuid("rtx-3070", i), again = board_uuid("rtx-3070", i), other = board_uuid("rtx-3080", i);
    text_of(&u, text[i]);
    assert_memory_equal(&u, &again, sizeof u);
    assert_memory_not_equal(&u, &other, sizeof u);
    assert_memory_equal(u.bytes, "warpstep", 8);
    for (unsigned k = 0; k < i; k++) assert_string_not_equal(text[i], text[k]);
    check(m, text[i], 1, (unsigned[]){i});
  }
  assert_memory_equal(text[0], "GPU-77617270-7374-6570-", 23);
  snprintf(list, sizeof list, "%s,1,%s", text[3], text[0]);
  check(m, list, 3, (unsigned[]){3, 1, 0});
  text[2][strlen(text[2]) - 4] = '\0'; /* a beginning that only one has */
  check(m, text[2], 1, (unsigned[]){2});
  for (char *c = text[1] + 4; *c; c++)
    if (*c >= 'a' && *c <= 'f') *c = (char)(*c - 'a' + 'A');
  check(m, text[1], 1, (unsigned[]){1});
  check(m, "GPU-77617270", 0, NULL); /* of several */
  check(m, "GPU-", 0, NULL);
  check(m, "GPU-00000000", 0, NULL);
  strcat(strcpy(list, text[0]), "0"); /* too long */
  check(m, list, 0, NULL);
  m->machine.n_gpus = 1;
  check(m, "GPU-7", 1, (unsigned[]){0});
  check(m, "GPU-", 0, NULL);
  machine_free(m);
}

/* GPU 1 has two instances of one size, GPU 3 one; 0 and 2 are whole. */
static struct boards *cut_machine(void)
{
  static const struct board_instance mig[] = {
      {1, 0, {.profile = "1g.5gb"}}, {1, 1, {.profile = "1g.5gb"}}, {3, 0, {.profile = "1g.5gb"}}};
  struct boards *m = machine();
  memcpy(m->mig, mig, sizeof mig);
  m->n_mig = sizeof mig / sizeof *mig;
  return m;
}

static void one(const struct boards *m, const char *text, int want)
{
  unsigned node[MACHINE_MAX_GPUS];
  int instance = 99;
  assert_int_equal(visible_boards(m, text, node, &instance), 1);
  assert_int_equal(instance, want);
  assert_int_equal(node[0], m->mig[want].node);
}

/* A program has one instance, and then no whole GPU; or whole GPUs (NVIDIA's MIG user guide, "CUDA Device Enumeration"). */
static void instances(void **state)
{
  struct boards *m = cut_machine();
  char uuid[3][BOARD_UUID_TEXT], gpu[BOARD_UUID_TEXT], list[4 * BOARD_UUID_TEXT];
  (void)state;
  for (unsigned i = 0; i < 3; i++) {
    instance_uuid_text(m, i, uuid[i]);
    for (unsigned k = 0; k < i; k++) assert_string_not_equal(uuid[i], uuid[k]);
    one(m, uuid[i], (int)i);
  }
  one(m, NULL, 0);
  one(m, "1", 0);
  one(m, "3", 2);
  one(m, "0,3,1", 2); /* the first of all, whole GPUs are not seen beside it */
  snprintf(list, sizeof list, "2,%s,%s,0", uuid[1], uuid[0]);
  one(m, list, 1);
  board_uuid_text("rtx-3070", 1, gpu);
  snprintf(list, sizeof list, "MIG-%s/2/0", gpu);
  one(m, list, 1);
  check(m, gpu, 0, NULL); /* it is cut */
  check(m, "2,0", 2, (unsigned[]){2, 0});
  check(m, "0,9,1", 1, (unsigned[]){0});
  check(m, "MIG-7", 0, NULL); /* of several */
  check(m, "", 0, NULL);
  machine_free(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_number), cmocka_unit_test(by_uuid), cmocka_unit_test(instances)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
