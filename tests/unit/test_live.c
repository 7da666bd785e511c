/* Live registers of programs worked out by hand: loops, guards, calls, tables of branches. The instruction set is made
 * up: flow of control is data, so that nothing but the analysis is tested. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "isa/isa.h"
#include "isa/live.h"

enum { BYTES = 16, MOST = 16, SP = 1 };

struct line {
  struct inst in;
  struct code_flow flow;
};

static struct code_flow flow(const void *decoded, uint64_t i, const struct inst *at)
{
  (void)at;
  return ((const struct line *)decoded)[i].flow;
}

static const struct isa_abi abi = {
  .reserved = {.file = FILE_R, .index = SP, .width = 1},
  .parameters = {.file = FILE_R, .index = 4, .width = 12},
  .link = {.file = FILE_R, .index = 20, .width = 2},
};
static const struct isa made_up = {.name = "made up", .flow = flow, .abi = &abi};

/* --- lines: d = results, s = sources, R(first, width) … ------------------------------------------------ */

#define R(i, w)  {.file = FILE_R, .index = (i), .width = (w)}
#define UR(i, w) {.file = FILE_UR, .index = (i), .width = (w)}
#define P(i)     {.file = FILE_P, .index = (i), .width = 1}
#define UP(i)    {.file = FILE_UP, .index = (i), .width = 1}
#define DST(...) .dst = {__VA_ARGS__}, .n_dst = sizeof((struct operand[]){__VA_ARGS__}) / sizeof(struct operand)
#define SRC(...) .src = {__VA_ARGS__}, .n_src = sizeof((struct operand[]){__VA_ARGS__}) / sizeof(struct operand)
#define DO(...)  {.in = {.guard = GUARD_NONE, __VA_ARGS__}}
#define IF(p, ...) {.in = {.guard = (p), __VA_ARGS__}}
#define TO(k, line, maybe) .flow = {.kind = (k), .target = (line) * BYTES, .conditional = (maybe)}
#define ALWAYS(k, line)      {.in = {.guard = GUARD_NONE}, TO(k, line, false)}
#define WHEN(p, k, line)     {.in = {.guard = (p)}, TO(k, line, true)}
#define VIA(k, first, width) {.in = {.guard = GUARD_NONE, SRC(R(first, width))}, TO(k, 0, false)}
#define END                  ALWAYS(CODE_END, 0)
#define BACK(first)          VIA(CODE_RETURN, first, 2)

static struct live_count live[MOST];

static void analyse(struct line *l, size_t n, const struct live_program *p)
{
  struct inst inst[MOST];
  for (size_t i = 0; i < n; i++) {
    inst[i] = l[i].in;
    inst[i].pc = i * BYTES;
    inst[i].bytes = inst[i].next = BYTES;
  }
  struct code_view code = {.end = n * BYTES, .shift = 4, .inst = inst, .isa = &made_up, .decoded = l};
  memset(live, 0xff, sizeof live);
  assert_true(live_registers(&code, p, live));
}

/* Numbers of one file, an instruction each. */
static void expect(enum live_file file, const uint8_t *numbers, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (live[i].of[file] != numbers[i]) fail_msg("line %zu: %u instead of %u", i, live[i].of[file], numbers[i]);
}

#define ANALYSE(lines)      analyse(lines, sizeof(lines) / sizeof(lines[0]), &(struct live_program){0})
#define EXPECT(file, ...)   expect(file, (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

/* --- programs ------------------------------------------------------------------------------------------ */

/* A pair is two registers; what nobody reads has its place where it is written alone; the stack pointer counts always. */
static void test_straight(void **state)
{
  (void)state;
  struct line l[] = {
    DO(DST(R(2, 2))),                 /* R1 R2 R3 */
    DO(DST(R(8, 4)), SRC(R(2, 2))),   /* R1 R2 R3 R8-11 */
    DO(DST(R(5, 1)), SRC(R(8, 1))),   /* R1 R5 R8 R9: R5 is dead, R9 is read below */
    DO(DST(R(9, 1)), SRC(R(9, 1))),   /* R1 R9 */
    DO(SRC(R(9, 1))),                 /* R1 R9 */
    END,                              /* R1 */
  };
  ANALYSE(l);
  EXPECT(LIVE_R, 3, 7, 4, 2, 2, 1);
}

/* Files are counted for themselves. */
static void test_files(void **state)
{
  (void)state;
  struct line l[] = {
    DO(DST(UR(4, 2))),
    DO(DST(P(0), UP(3))),
    IF(0, DST(R(2, 1)), SRC(UR(4, 2))),
    DO(SRC(R(2, 1), UP(3))),
    END,
  };
  ANALYSE(l);
  EXPECT(LIVE_UR, 2, 2, 2, 0, 0);
  EXPECT(LIVE_P, 0, 1, 1, 0, 0);
  EXPECT(LIVE_UP, 0, 1, 1, 1, 0);
  /* Threads for which P0 is false keep the R2 of before: it is live from the first line on. */
  EXPECT(LIVE_R, 2, 2, 2, 2, 1);
}

/* A value that is read in a loop lives through all of it, also behind its read; what the loop makes for itself does not. */
static void test_loop(void **state)
{
  (void)state;
  struct line l[] = {
    DO(DST(R(2, 1))),                       /* 0: R1 R2 */
    DO(DST(R(3, 1))),                       /* 1: R1 R2 R3 */
    DO(DST(R(4, 1)), SRC(R(2, 1))),         /* 2: R1 R2 R3 R4, the loop */
    DO(DST(R(3, 1)), SRC(R(3, 1), R(4, 1))), /* 3: R1 R2 R3 R4 */
    DO(DST(P(1)), SRC(R(3, 1))),            /* 4: R1 R2 R3 */
    WHEN(1, CODE_JUMP, 2),                  /* 5: R1 R2 R3 */
    DO(SRC(R(3, 1))),                       /* 6: R1 R3 */
    END,
  };
  ANALYSE(l);
  EXPECT(LIVE_R, 2, 3, 4, 4, 3, 3, 2, 1);
  EXPECT(LIVE_P, 0, 0, 0, 0, 1, 1, 0, 0);
}

/* Two calls of one function, whose caller keeps R6 over the first of them alone. The function reads R4, overwrites R5, and
 * returns by R20 and R21. Inside it R6 is occupied; before the second call it is not. */
static void test_calls(void **state)
{
  (void)state;
  struct line l[] = {
    DO(DST(R(6, 1))),                     /* 0: R1 R6 */
    DO(DST(R(4, 1), R(20, 2))),           /* 1: R1 R4 R6 R20 R21 */
    ALWAYS(CODE_CALL, 7),                 /* 2: R1 R4 R6 R20 R21 */
    DO(DST(R(4, 1)), SRC(R(5, 1), R(6, 1))), /* 3: R1 R4 R5 R6 */
    DO(DST(R(20, 2))),                    /* 4: R1 R4 R20 R21 */
    ALWAYS(CODE_CALL, 7),                 /* 5: R1 R4 R20 R21 */
    END,                                  /* 6: R1 */
    DO(DST(R(5, 1)), SRC(R(4, 1))),       /* 7: R1 R4 R5 R6 R20 R21 */
    BACK(20),                             /* 8: R1 R5 R6 R20 R21 */
  };
  ANALYSE(l);
  EXPECT(LIVE_R, 2, 5, 5, 4, 4, 4, 1, 6, 5);
}

/* Whoever calls itself: what the function does on the way back is not known when it is first looked at. */
static void test_recursion(void **state)
{
  (void)state;
  struct line l[] = {
    DO(DST(R(4, 1), R(20, 2))),        /* 0: R1 R4 R20 R21 */
    ALWAYS(CODE_CALL, 3),              /* 1: R1 R4 R20 R21 */
    END,                               /* 2: R1 */
    DO(DST(P(0)), SRC(R(4, 1))),       /* 3: R1 R4 R16 R20 R21: R16 is kept for a caller that called from here */
    WHEN(0, CODE_RETURN, 0),           /* 4: R1 R4 R16 R20 R21 */
    DO(DST(R(16, 1)), SRC(R(20, 1))),  /* 5: R1 R4 R16 R20 R21 */
    ALWAYS(CODE_CALL, 3),              /* 6: R1 R4 R16 R20 R21 */
    DO(DST(R(20, 1)), SRC(R(16, 1))),  /* 7: R1 R16 R20 R21 */
    BACK(20),                          /* 8: R1 R16 R20 R21 */
  };
  l[4].in.src[0] = (struct operand)R(20, 2);
  l[4].in.n_src = 1;
  ANALYSE(l);
  /* 7 reads R16 behind the inner call, so in the function R16 is live where it returns, and so is what leads there. */
  EXPECT(LIVE_R, 4, 4, 1, 5, 5, 5, 5, 4, 4);
}

/* A branch through a register goes to the targets of its table; without one, whatever is read anywhere may be read. */
static struct live_list table(const void *context, uint64_t pc)
{
  (void)context;
  static const uint64_t to[] = {3 * BYTES, 5 * BYTES};
  return pc == 2 * BYTES ? (struct live_list){to, 2} : (struct live_list){0};
}

static void test_tables(void **state)
{
  (void)state;
  struct line l[] = {
    DO(DST(R(2, 1), R(4, 1), R(6, 1))), /* 0 */
    DO(DST(R(8, 2))),                   /* 1 */
    VIA(CODE_JUMP_REGISTER, 8, 2),      /* 2 */
    DO(SRC(R(2, 1))),                   /* 3: R1 R2 */
    END,
    DO(SRC(R(4, 1))),                   /* 5: R1 R4 */
    END,
    DO(SRC(R(6, 1))),                   /* 7: nobody comes here */
    END,
  };
  analyse(l, 9, &(struct live_program){.targets = table});
  EXPECT(LIVE_R, 4, 5, 5, 2, 1, 2, 1, 2, 1);
  ANALYSE(l);
  EXPECT(LIVE_R, 4, 6, 6, 2, 1, 2, 1, 2, 1);
}

/* A call through a register goes to any function whose address is taken: all that one of them reads is live, and only what
 * all of them overwrite is not. */
static void test_pointers(void **state)
{
  (void)state;
  struct line l[] = {
    DO(DST(R(4, 3), R(8, 2), R(20, 2))),  /* 0 */
    VIA(CODE_CALL_REGISTER, 8, 2),        /* 1 */
    DO(SRC(R(10, 1), R(11, 1))),          /* 2: R1 R10 R11 */
    END,
    DO(DST(R(10, 1), R(11, 1)), SRC(R(4, 1))), /* 4 */
    BACK(20),
    DO(DST(R(10, 1)), SRC(R(5, 1))),      /* 6 */
    BACK(20),
  };
  static const uint64_t taken[] = {4 * BYTES, 6 * BYTES};
  analyse(l, 8, &(struct live_program){.taken = {taken, 2}});
  /* Before the call: R1, R4 and R5, R8 and R9, R20 and R21, and R11, which the second function leaves as it was. R6 is
   * written at line 0 and nobody reads it. */
  EXPECT(LIVE_R, 9, 8, 3, 1, 6, 5, 6, 5);
}

/* No function's address is taken, as far as the file says: the call may read all that the code reads anywhere. */
static void test_unknown_function(void **state)
{
  (void)state;
  struct line l[] = {
    DO(DST(R(4, 1), R(8, 2))),     /* 0: R1 R4 R8 R9 */
    VIA(CODE_CALL_REGISTER, 8, 2), /* 1: R1 R4 R8 R9 */
    END,
    DO(SRC(R(4, 1))),              /* 3 */
    END,
  };
  ANALYSE(l);
  EXPECT(LIVE_R, 4, 4, 1, 2, 1);
}

/* A function in front of who calls it, and one between that only passes on what the first one reads. */
static void test_order(void **state)
{
  (void)state;
  struct line l[] = {
    DO(SRC(R(7, 1))),                   /* 0: R1 R7 R20 R21 R30 R31 */
    BACK(20),                           /* 1: R1 R20 R21 R30 R31 */
    ALWAYS(CODE_CALL, 0),               /* 2: R1 R7 R20 R21 R30 R31 */
    BACK(30),                           /* 3: R1 R30 R31 */
    DO(DST(R(7, 1), R(20, 2), R(30, 2))), /* 4: R1 R7 R20 R21 R30 R31 */
    ALWAYS(CODE_CALL, 2),               /* 5: R1 R7 R20 R21 R30 R31 */
    END,
  };
  ANALYSE(l);
  EXPECT(LIVE_R, 6, 5, 6, 3, 6, 6, 1);
}

/* A service reads so many parameters and returns. */
static void test_service(void **state)
{
  (void)state;
  struct line l[] = {
    DO(DST(R(4, 4), R(20, 2))),
    ALWAYS(CODE_CALL, 3),
    END,
    {.in = {.guard = GUARD_NONE}, .flow = {.kind = CODE_RETURN, .parameters = 2}},
  };
  ANALYSE(l);
  EXPECT(LIVE_R, 7, 5, 1);
}

/* An end that only some threads reach: the others go on. A target outside of the code may read anything. */
static void test_ends(void **state)
{
  (void)state;
  struct line l[] = {
    DO(DST(R(2, 1), R(3, 1))),  /* 0: R1 R2 R3 */
    WHEN(0, CODE_END, 0),       /* 1: R1 R2 R3 */
    DO(SRC(R(2, 1))),           /* 2: R1 R2 R3 */
    WHEN(1, CODE_JUMP, 100),    /* 3: R1 R2 R3 */
    DO(SRC(R(3, 1))),           /* 4: R1 R3 */
    END,
  };
  ANALYSE(l);
  EXPECT(LIVE_R, 3, 3, 3, 3, 2, 1);
}

/* Sets that do not tell the flow of control. */
static void test_not_told(void **state)
{
  (void)state;
  struct inst in = {.guard = GUARD_NONE};
  static const struct isa silent = {.name = "silent"};
  struct code_view code = {.end = BYTES, .shift = 4, .inst = &in, .isa = &silent, .decoded = &in};
  assert_false(live_registers(&code, &(struct live_program){0}, live));
  code.isa = NULL;
  assert_false(live_registers(&code, &(struct live_program){0}, live));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_straight), cmocka_unit_test(test_files),    cmocka_unit_test(test_loop),
    cmocka_unit_test(test_calls),    cmocka_unit_test(test_recursion), cmocka_unit_test(test_tables),
    cmocka_unit_test(test_pointers), cmocka_unit_test(test_service),  cmocka_unit_test(test_ends),
    cmocka_unit_test(test_not_told), cmocka_unit_test(test_unknown_function), cmocka_unit_test(test_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
