/* How a program begins (host/linux/linux_start.h). Stack and auxiliary vector: System V ABI for RISC-V, and Linux 6.1,
 * fs/binfmt_elf.c.
 */
#include "host/linux/linux_start.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/linux/linux_elf.h"
#include "host/linux/linux_object.h"

enum { REG_SP = 2, MOST_STRINGS = 1 << 20 /* bytes */, MOST_WORDS = 65536 };

/* Words for the top of the stack, from the lowest address on, and where strings go, downwards. */
struct stack {
  struct linux_vm *vm;
  uint64_t at;    /* of the last string */
  uint64_t *word; /* MOST_WORDS of them */
  size_t n;
  bool full;
};

static void push_word(struct stack *s, uint64_t word)
{
  if (s->n == MOST_WORDS)
    s->full = true;
  else
    s->word[s->n++] = word;
}

/* Bytes at the next lower address, which is returned. */
static uint64_t push_bytes(struct stack *s, const void *bytes, size_t n)
{
  s->full = s->full || n > MOST_STRINGS || LINUX_STACK_TOP - s->at > MOST_STRINGS;
  if (s->full) return 0;
  s->at -= n;
  s->full = !linux_vm_write(s->vm, s->at, bytes, n);
  return s->at;
}

static void push_strings(struct stack *s, char *const *text)
{
  for (; *text; text++) push_word(s, push_bytes(s, *text, strlen(*text) + 1));
  push_word(s, 0);
}

/* Libraries of the host are none of the guest's. */
static bool goes_to_guest(const char *variable)
{
  return strncmp(variable, "LD_PRELOAD=", 11) != 0 && strncmp(variable, "LD_LIBRARY_PATH=", 16) != 0;
}

static void push_environment(struct stack *s, char *const *env)
{
  for (; env && *env; env++)
    if (goes_to_guest(*env)) push_word(s, push_bytes(s, *env, strlen(*env) + 1));
  push_word(s, 0);
}

static void push_pair(struct stack *s, uint64_t key, uint64_t value)
{
  push_word(s, key);
  push_word(s, value);
}

/* Extensions as bits of AT_HWCAP, one per letter. */
static uint64_t capabilities(void)
{
  uint64_t bits = 0;
  for (const char *c = "imafdc"; *c; c++) bits |= (uint64_t)1 << (*c - 'a');
  return bits;
}

struct linux_program {
  struct linux_elf elf;
  uint64_t bias, interpreter; /* interpreter: its bias */
  uint64_t entry;             /* where execution begins */
};

static bool make_stack(struct linux_process *p, const struct linux_program *g, char *const *argv, struct err *e)
{
  static const uint8_t random[16] = {0x27, 0x18, 0x28, 0x18, 0x28, 0x45, 0x90, 0x45,
                                     0x23, 0x53, 0x60, 0x28, 0x74, 0x71, 0x35, 0x26};
  struct stack s = {.vm = &p->vm, .at = LINUX_STACK_TOP - 8, .word = malloc(MOST_WORDS * sizeof(uint64_t))};
  if (!s.word) return err_set(e, "no memory");
  size_t argc = 0;
  while (argv[argc]) argc++;
  const uint64_t name = push_bytes(&s, argv[0], strlen(argv[0]) + 1);
  const uint64_t seed = push_bytes(&s, random, sizeof random);
  push_word(&s, argc);
  push_strings(&s, argv);
  push_environment(&s, p->options.env);
  push_pair(&s, AT_HWCAP, capabilities());
  push_pair(&s, AT_PAGESZ, RV64_PAGE_BYTES);
  push_pair(&s, AT_CLKTCK, 100);
  push_pair(&s, AT_PHDR, g->elf.phdr ? g->bias + g->elf.phdr : 0);
  push_pair(&s, AT_PHENT, sizeof(Elf64_Phdr));
  push_pair(&s, AT_PHNUM, g->elf.phdr ? g->elf.n_phdr : 0);
  push_pair(&s, AT_BASE, g->interpreter);
  push_pair(&s, AT_FLAGS, 0);
  push_pair(&s, AT_ENTRY, g->bias + g->elf.entry);
  push_pair(&s, AT_UID, getuid());
  push_pair(&s, AT_EUID, geteuid());
  push_pair(&s, AT_GID, getgid());
  push_pair(&s, AT_EGID, getegid());
  push_pair(&s, AT_SECURE, 0);
  push_pair(&s, AT_RANDOM, seed);
  push_pair(&s, AT_EXECFN, name);
  push_pair(&s, AT_NULL, 0);
  const uint64_t sp = (s.at - s.n * sizeof *s.word) & ~(uint64_t)15;
  const bool ok = !s.full && linux_vm_write(&p->vm, sp, s.word, s.n * sizeof *s.word);
  free(s.word);
  p->core->hart.x[REG_SP] = sp;
  return ok || err_set(e, "the arguments and the environment are larger than 1 MiB");
}

/* One file into memory; position-independent ones at `at`, 0: below all mappings. */
static bool load(struct linux_process *p, const char *path, uint64_t at, struct linux_elf *f, uint64_t *bias,
                 struct err *e)
{
  struct linux_image im;
  TRY(linux_image_read(&im, path, e));
  bool ok = linux_elf_parse(f, im.data, im.bytes, path, e);
  if (ok) {
    if (f->position_independent && !at) at = linux_vm_place(&p->vm, f->high - f->low);
    *bias = f->position_independent ? at - f->low : 0;
    ok = linux_elf_map(f, im.data, im.bytes, *bias, &p->vm, path, e);
  }
  linux_image_free(&im);
  return ok;
}

/* The name of the interpreter as the host finds it. */
static void find_interpreter(const struct linux_process *p, const char *name, char *path, size_t size)
{
  if (p->options.sysroot) {
    const int n = snprintf(path, size, "%s%s", p->options.sysroot, name);
    if (n > 0 && (size_t)n < size && access(path, R_OK) == 0) return;
  }
  snprintf(path, size, "%s", name);
}

static bool load_all(struct linux_process *p, struct linux_program *g, const char *path, struct err *e)
{
  char interpreter[PATH_MAX];
  struct linux_elf f;
  TRY(load(p, path, LINUX_PIE_BASE, &g->elf, &g->bias, e));
  linux_object_note_whole(p, path, &g->elf, g->bias);
  p->vm.brk_start = p->vm.brk = g->bias + g->elf.high;
  g->entry = g->bias + g->elf.entry;
  if (!g->elf.interpreter[0]) return true;
  find_interpreter(p, g->elf.interpreter, interpreter, sizeof interpreter);
  if (access(interpreter, R_OK) != 0)
    return err_set(e, "%s: needs %s, which is not there: give the folder of RISC-V libraries with --sysroot", path,
                   g->elf.interpreter);
  TRY(load(p, interpreter, 0, &f, &g->interpreter, e));
  linux_object_note_whole(p, interpreter, &f, g->interpreter);
  g->entry = g->interpreter + f.entry;
  return true;
}

/* What signal handlers return to: li a7, 139; ecall. Unwinders know these two words. */
static bool make_trampoline(struct linux_process *p)
{
  static const uint32_t code[] = {0x08b00893, 0x00000073};
  p->trampoline = LINUX_MMAP_TOP;
  return linux_vm_map(&p->vm, p->trampoline, RV64_PAGE_BYTES, LINUX_PROT_READ | LINUX_PROT_EXEC) &&
         linux_vm_force(&p->vm, p->trampoline, code, sizeof code);
}

bool linux_start(struct linux_process *p, char *const *argv, struct err *e)
{
  struct linux_program g = {0};
  if (!realpath(argv[0], p->program)) return err_set(e, "%s: there is no such file", argv[0]);
  TRY(load_all(p, &g, argv[0], e));
  const unsigned prot = LINUX_PROT_READ | LINUX_PROT_WRITE | (g.elf.stack_exec ? LINUX_PROT_EXEC : 0u);
  if (!linux_vm_map(&p->vm, LINUX_STACK_TOP - LINUX_STACK_SIZE, LINUX_STACK_SIZE, prot) || !make_trampoline(p))
    return err_set(e, "%s: does not fit into the address space", argv[0]);
  TRY(make_stack(p, &g, argv, e));
  p->core->hart.pc = g.entry;
  return true;
}
