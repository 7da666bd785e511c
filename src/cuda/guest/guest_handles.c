#include "cuda/guest/guest_handles.h"

#include "base/host_memory.h"

/* No address of the program looks so. */
#define FIRST UINT64_C(0x5748000000000000)

void guest_handles_free(struct guest_handles *h)
{
  mem_free(h->row);
  *h = (struct guest_handles){0};
}

bool guest_handles_is(uint64_t number)
{
  return number >= FIRST && number - FIRST <= UINT32_MAX;
}

uint64_t guest_handles_number(struct guest_handles *h, void *what, enum guest_handle kind)
{
  uint32_t i = 0;
  while (i < h->n && (h->row[i].what != what || h->row[i].kind != kind)) i++;
  if (i == h->n) {
    h->row = mem_more(h->row, h->n, &h->room, sizeof *h->row);
    h->row[h->n++] = (struct guest_handle_row){what, (uint8_t)kind};
  }
  return FIRST + i;
}

void *guest_handles_find(const struct guest_handles *h, uint64_t number, enum guest_handle kind)
{
  if (!guest_handles_is(number) || number - FIRST >= h->n) return NULL;
  const struct guest_handle_row *r = &h->row[number - FIRST];
  return r->kind == (uint8_t)kind ? r->what : NULL;
}

void guest_handles_end(struct guest_handles *h, uint64_t number)
{
  if (guest_handles_is(number) && number - FIRST < h->n) h->row[number - FIRST] = (struct guest_handle_row){0};
}

void guest_handles_reset(struct guest_handles *h)
{
  for (uint32_t i = 0; i < h->n; i++)
    if (h->row[i].kind != GUEST_BINARY && h->row[i].kind != GUEST_CUkernel) h->row[i] = (struct guest_handle_row){0};
}
