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

#include "cuda/core/visible_boards.h"

enum { GPUS = 4, UUID_TEXT = 40 };

static struct machine_preset *machine(void)
{
  struct machine_preset *m = calloc(1, sizeof *m);
  m->n_gpus = GPUS;
  m->params = calloc(GPUS, sizeof *m->params);
  for (unsigned i = 0; i < GPUS; i++) strcpy(m->params[i].name, "rtx-3070");
  return m;
}

static void check(const struct machine_preset *m, const char *text, unsigned n, const unsigned *want)
{
  unsigned node[MACHINE_MAX_GPUS] = {99, 99, 99, 99};
  const unsigned have = visible_boards(m, text, node);
  if (have != n || (n && memcmp(node, want, n * sizeof *want) != 0)) fail_msg("'%s': %u, %u %u", text ? text : "NULL", have, node[0], node[1]);
}

static void by_number(void **state)
{
  struct machine_preset *m = machine();
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
  free(m->params);
  free(m);
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
  struct machine_preset *m = machine();
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
  m->n_gpus = 1;
  check(m, "GPU-7", 1, (unsigned[]){0});
  check(m, "GPU-", 0, NULL);
  free(m->params);
  free(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_number), cmocka_unit_test(by_uuid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
