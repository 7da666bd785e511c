/* Memory and decoded code as a RISC-V core sees them (func/rv64/rv64_core.h). */
#include "func/rv64/rv64_core.h"

#include <string.h>

#include "base/host_memory.h"

enum { NO_PAGE = 1 };

static struct rv64_tlb_entry *tlb_entry(struct rv64_tlb_entry *tlb, uint64_t addr)
{
  return &tlb[(addr >> RV64_PAGE_SHIFT) % RV64_TLB_ENTRIES];
}

static void tlb_drop(struct rv64_tlb_entry *tlb, uint64_t addr)
{
  struct rv64_tlb_entry *e = tlb_entry(tlb, addr);
  if (e->page == (addr & RV64_PAGE_MASK)) e->page = NO_PAGE;
}

static void tlb_clear(struct rv64_tlb_entry *tlb)
{
  for (unsigned i = 0; i < RV64_TLB_ENTRIES; i++) tlb[i].page = NO_PAGE;
}

struct rv64_core *rv64_core_new(const struct rv64_memory *m)
{
  struct rv64_core *c = mem_zeroed(1, sizeof *c);
  c->memory = *m;
  tlb_clear(c->load);
  tlb_clear(c->store);
  return c;
}

static struct rv64_code **code_head(struct rv64_core *c, uint64_t addr)
{
  return &c->code[(addr >> RV64_PAGE_SHIFT) % RV64_CODE_HEADS];
}

static struct rv64_code *code_find(struct rv64_core *c, uint64_t addr)
{
  struct rv64_code *p = *code_head(c, addr);
  while (p && p->base != (addr & RV64_PAGE_MASK)) p = p->next;
  return p;
}

/* The instruction that causes it goes on to read its own operands and length: those stay. */
static void code_reset(struct rv64_code *p)
{
  for (unsigned i = 0; i < RV64_PAGE_PARCELS; i++) p->inst[i].op = RV64_UNDECODED;
  p->inst[RV64_PAGE_PARCELS].op = p->inst[RV64_PAGE_PARCELS + 1].op = RV64_PAGE_END;
}

static void code_free_all(struct rv64_core *c)
{
  for (unsigned i = 0; i < RV64_CODE_HEADS; i++) {
    while (c->code[i]) {
      struct rv64_code *p = c->code[i];
      c->code[i] = p->next;
      mem_free(p);
    }
  }
  c->n_code = 0;
}

void rv64_core_free(struct rv64_core *c)
{
  if (!c) return;
  code_free_all(c);
  mem_free(c);
}

void rv64_forget_code(struct rv64_core *c)
{
  for (unsigned i = 0; i < RV64_CODE_HEADS; i++)
    for (struct rv64_code *p = c->code[i]; p; p = p->next) code_reset(p);
}

/* The last instruction of the page in front of this one may have its second half here. */
static void forget_across(struct rv64_core *c, uint64_t page)
{
  struct rv64_code *p = code_find(c, page - RV64_PAGE_BYTES);
  if (p) p->inst[RV64_PAGE_PARCELS - 1].op = RV64_UNDECODED;
}

void rv64_forget(struct rv64_core *c, uint64_t addr, uint64_t bytes)
{
  tlb_clear(c->load);
  tlb_clear(c->store);
  if (bytes == 0) return;
  const uint64_t first = addr & RV64_PAGE_MASK, last = (addr + (bytes - 1)) & RV64_PAGE_MASK;
  for (unsigned i = 0; i < RV64_CODE_HEADS; i++) {
    for (struct rv64_code **at = &c->code[i]; *at;) {
      struct rv64_code *p = *at;
      if (p->base - first > last - first) {
        at = &p->next;
        continue;
      }
      *at = p->next;
      mem_free(p);
      c->n_code--;
    }
  }
  forget_across(c, first);
}

/* The page at addr, for loads or stores, into the buffer of translations. */
static uint8_t *page_for(struct rv64_core *c, uint64_t addr, enum rv64_access access)
{
  const uint64_t page = addr & RV64_PAGE_MASK;
  uint8_t *host = c->memory.page(c->memory.os, page, access);
  if (!host) {
    c->trap_value = addr;
    return NULL;
  }
  if (access == RV64_WRITE) {
    struct rv64_code *code = code_find(c, page);
    if (code) code_reset(code);
    forget_across(c, page);
  }
  struct rv64_tlb_entry *e = tlb_entry(access == RV64_WRITE ? c->store : c->load, page);
  *e = (struct rv64_tlb_entry){page, (uintptr_t)host - page};
  return host;
}

/* Host addresses of the two parts of an access; bytes in the first of them. False: not allowed. */
static bool access_parts(struct rv64_core *c, uint64_t addr, unsigned bytes, enum rv64_access access,
                         uint8_t *part[2], unsigned *in_first)
{
  const uint64_t offset = addr & ~RV64_PAGE_MASK, room = RV64_PAGE_BYTES - offset;
  *in_first = bytes < room ? bytes : (unsigned)room;
  uint8_t *first = page_for(c, addr, access);
  if (!first) return false;
  part[0] = first + offset;
  part[1] = NULL;
  return *in_first == bytes || (part[1] = page_for(c, addr + room, access)) != NULL;
}

bool rv64_load(struct rv64_core *c, uint64_t addr, void *to, unsigned bytes)
{
  uint8_t *part[2];
  unsigned n;
  if (!access_parts(c, addr, bytes, RV64_READ, part, &n)) return false;
  memcpy(to, part[0], n);
  if (n < bytes) memcpy((uint8_t *)to + n, part[1], bytes - n);
  return true;
}

bool rv64_store(struct rv64_core *c, uint64_t addr, const void *from, unsigned bytes)
{
  uint8_t *part[2];
  unsigned n;
  if (!access_parts(c, addr, bytes, RV64_WRITE, part, &n)) return false;
  memcpy(part[0], from, n);
  if (n < bytes) memcpy(part[1], (const uint8_t *)from + n, bytes - n);
  return true;
}

struct rv64_code *rv64_code_at(struct rv64_core *c, uint64_t pc)
{
  struct rv64_code *p = code_find(c, pc);
  if (p) return p;
  const uint8_t *host = c->memory.page(c->memory.os, pc & RV64_PAGE_MASK, RV64_FETCH);
  if (!host) {
    c->trap_value = pc;
    return NULL;
  }
  if (c->n_code == RV64_CODE_PAGES) code_free_all(c);
  p = mem_alloc(sizeof *p);
  struct rv64_code **head = code_head(c, pc);
  p->base = pc & RV64_PAGE_MASK;
  p->host = host;
  p->next = *head;
  code_reset(p);
  *head = p;
  c->n_code++;
  return p;
}

bool rv64_code_decode(struct rv64_core *c, struct rv64_code *p, struct rv64_inst *to)
{
  const size_t at = (size_t)(to - p->inst);
  uint16_t low, high = 0;
  memcpy(&low, p->host + 2 * at, 2);
  if (!rv64_is_compressed(low)) {
    const uint8_t *rest = p->host + 2 * at + 2;
    if (at == RV64_PAGE_PARCELS - 1) {
      const uint64_t next = p->base + RV64_PAGE_BYTES;
      rest = c->memory.page(c->memory.os, next, RV64_FETCH);
      if (!rest) {
        c->trap_value = next;
        return false;
      }
      tlb_drop(c->store, next);
    }
    memcpy(&high, rest, 2);
  }
  rv64_decode((uint32_t)high << 16 | low, to);
  tlb_drop(c->store, p->base); /* the next store there must be noticed */
  return true;
}
