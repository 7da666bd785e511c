/* Questions to a parsed module. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "isa/sass/syscall.h"
#include "load/load_internal.h"
#include "load/plain_name.h"

static const char *const service_name[SYSCALL_COPY] = {
  [SYSCALL_VPRINTF] = "vprintf", [SYSCALL_MALLOC] = "malloc", [SYSCALL_FREE] = "free",
  [SYSCALL_ASSERTFAIL] = "__assertfail",
  [SYSCALL_SET_CONDITION] = "cudaGraphSetConditional", [SYSCALL_DRIVER_PRIVATE] = "device runtime",
  [SYSCALL_TEX_GRAD] = "tex_grad_", [SYSCALL_TEX_GRAD_ARRAY] = "tex_grad_acube_", /* and the type */
#define DEVICE_RUNTIME(number, name, arguments) [DEVICE_##number] = name,
#include "isa/sass/device_runtime.def"
};

/* Names that compiler output and the device runtime's library (cudadevrt, CUDA 13.0) leave open, the library beside
 * code of -G others: cnpLaunchDeviceV2 … */
static const char private_prefix[] = "__cuda_syscall_", debug_prefix[] = "cnp";

static const char *after(const char *name, const char *prefix)
{
  size_t n = strlen(prefix);
  return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

bool load_device_runtime(const char *name, unsigned *number)
{
  const char *rest = after(name, "__cudaCDP2");
  if (!rest) rest = after(name, "cuda");
  for (*number = SYSCALL__COMMON; rest && *number < SYSCALL_COPY; (*number)++) {
    const char *tail = after(rest, service_name[*number]);
    if (tail && (*tail == '\0' || strcmp(tail, "_ptsz") == 0)) return true;
  }
  return false;
}

static unsigned private_service(const char *name)
{
  const unsigned copy = copy_service_named(name);
  if (copy < COPY_KINDS) return SYSCALL_COPY + copy * COPY_WORDS;
  if (after(name, service_name[SYSCALL_TEX_GRAD_ARRAY])) return SYSCALL_TEX_GRAD_ARRAY;
  return after(name, service_name[SYSCALL_TEX_GRAD]) ? SYSCALL_TEX_GRAD : SYSCALL_DRIVER_PRIVATE;
}

bool load_service(const char *name, unsigned *number)
{
  const char *rest = after(name, private_prefix);
  for (*number = 0; *number < SYSCALL_TEX_GRAD; (*number)++)
    if (strcmp(service_name[*number], name) == 0) return true;
  if (!rest && (rest = after(name, debug_prefix)) && !isupper((unsigned char)*rest)) rest = NULL;
  if (rest) *number = private_service(rest);
  return rest || load_device_runtime(name, number);
}

uint64_t load_service_pc(const struct module *m, unsigned number)
{
  if (number < SYSCALL__COMMON) return MODULE_CODE_BASE + number * (uint64_t)INST_BYTES;
  if (number < SYSCALL_COPY)
    return m->device_runtime ? m->device_runtime + (number - SYSCALL__COMMON) * (uint64_t)INST_BYTES : 0;
  return m->copies ? m->copies + (number - SYSCALL_COPY) * (uint64_t)INST_BYTES : 0;
}

bool module_syncs_grid(const struct module *m)
{
  unsigned number;
  for (uint32_t i = 0; m->device_runtime && i < m->elf.n_symbols; i++)
    if (load_device_runtime(m->elf.symbol[i].name, &number) &&
        (number == DEVICE_GRID_SYNC || number == DEVICE_GRID_SYNC_GRID))
      return true;
  return false;
}

bool module_uses_device_runtime(const struct module *m)
{
  return m->device_runtime != 0;
}

const char *module_name(const struct module *m)
{
  return m->name;
}

unsigned module_sm(const struct module *m)
{
  return m->elf.sm;
}

unsigned module_kernel_count(const struct module *m)
{
  return m->n_kernels;
}

const struct module_kernel *module_kernel_at(const struct module *m, unsigned i)
{
  return i < m->n_kernels ? &m->kernel[i] : NULL;
}

unsigned module_symbol_count(const struct module *m)
{
  return m->n_symbols;
}

const struct module_symbol *module_symbol_at(const struct module *m, unsigned i)
{
  return i < m->n_symbols ? &m->symbol[i] : NULL;
}

const struct module_symbol *module_variable(const struct module *m, const char *name)
{
  for (unsigned i = 0; i < m->n_symbols; i++) {
    const struct module_symbol *s = &m->symbol[i];
    if ((s->space == MODULE_GLOBAL || s->space == MODULE_CONST) && strcmp(s->name, name) == 0)
      return s;
  }
  return NULL;
}

int32_t module_kernel_of_text(const struct module *m, uint32_t section)
{
  return section < m->elf.n_sections ? m->text_kernel[section] : ALL_KERNELS;
}

/* Index of the kernel called name (all of it), or ALL_KERNELS. */
static int32_t module_kernel_index(const struct module *m, const char *name)
{
  for (unsigned i = 0; i < m->n_kernels; i++)
    if (strcmp(m->kernel[i].name, name) == 0) return (int32_t)i;
  return ALL_KERNELS;
}

int32_t module_kernel_of_section(const struct module *m, const struct elf_section *s,
                                 const char *name)
{
  if (s->info >= m->elf.n_sections || m->place[s->info].kind != PLACE_TEXT)
    return module_kernel_index(m, name);
  int32_t k = m->text_kernel[s->info];
  return k != ALL_KERNELS && strcmp(m->kernel[k].name, name) == 0 ? k : ALL_KERNELS;
}

static bool plain_name_is(const char *symbol, const char *name)
{
  size_t n;
  const char *plain = plain_name(symbol, &n);
  return strlen(name) == n && strncmp(plain, name, n) == 0;
}

unsigned module_kernel_matches(const struct module *m, const char *name, bool *exact)
{
  *exact = module_kernel_index(m, name) != ALL_KERNELS;
  if (*exact) return 1;
  unsigned n = 0;
  for (unsigned i = 0; i < m->n_kernels; i++) n += plain_name_is(m->kernel[i].name, name);
  return n;
}

static void list_kernels(const struct module *m, const char *problem, const char *name,
                         struct err *e)
{
  char list[300] = "", hint[NEAREST_HINT];
  struct nearest near;
  size_t used = 0;
  nearest_start(&near, name ? name : "");
  for (unsigned i = 0; i < m->n_kernels; i++) {
    plain_name_offer(&near, m->kernel[i].name);
    if (used >= sizeof list) continue;
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                             m->kernel[i].name);
  }
  if (m->n_kernels == 0)
    err_set(e, "%s: has no kernels; compile a file with a __global__ function", m->name);
  else if (!name)
    err_set(e, "%s: several kernels; choose one with its name (--kernel): %s%s", m->name, list,
            used >= sizeof list ? " …" : "");
  else
    err_set(e, "%s: %s '%.80s'; choose one of: %s%s%s", m->name, problem, name, list,
            used >= sizeof list ? " …" : "", nearest_hint(&near, hint));
}

const struct module_kernel *module_kernel(const struct module *m, const char *name, struct err *e)
{
  if (!name) {
    list_kernels(m, NULL, NULL, e);
    return NULL;
  }
  int32_t exact = module_kernel_index(m, name);
  if (exact != ALL_KERNELS) return &m->kernel[exact];
  const struct module_kernel *found = NULL;
  unsigned n = 0;
  for (unsigned i = 0; i < m->n_kernels; i++)
    if (plain_name_is(m->kernel[i].name, name)) {
      found = &m->kernel[i];
      n++;
    }
  if (n == 1) return found;
  list_kernels(m, n ? "several kernels are called" : "has no kernel", name, e);
  return NULL;
}

int module_where(const struct module *m, uint64_t pc, char *buf, size_t size)
{
  for (unsigned i = 0; i < SYSCALL__N; i++)
    if (pc && pc == load_service_pc(m, i))
      return snprintf(buf, size, "%s", i < SYSCALL_COPY ? service_name[i] : "cp_async_bulk");
  unsigned lo = 0, hi = m->n_functions; /* first function behind pc */
  while (lo < hi) {
    unsigned mid = (lo + hi) / 2;
    if (m->function[mid].pc <= pc) lo = mid + 1;
    else hi = mid;
  }
  if (lo == 0 || pc >= m->code_end)
    return snprintf(buf, size, "pc 0x%llx (outside the module's code)", (unsigned long long)pc);
  const struct module_function *f = &m->function[lo - 1];
  return snprintf(buf, size, "%s+0x%llx", f->name, (unsigned long long)(pc - f->pc));
}

uint64_t module_section_start(const struct module *m, uint64_t pc)
{
  for (uint32_t i = 1; i < m->elf.n_sections; i++)
    if (m->place[i].kind == PLACE_TEXT && pc >= m->place[i].offset &&
        pc - m->place[i].offset < m->elf.section[i].size)
      return m->place[i].offset;
  return 0;
}

bool module_next_text(const struct module *m, uint32_t *cursor, struct module_text *text)
{
  while (++*cursor < m->elf.n_sections) {
    const struct elf_section *s = &m->elf.section[*cursor];
    if (m->place[*cursor].kind != PLACE_TEXT) continue;
    *text = (struct module_text){ s->name, s->data, s->size };
    return true;
  }
  return false;
}
