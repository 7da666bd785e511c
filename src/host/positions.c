#include "host/positions.h"

#include <stdlib.h>

#include "base/host_memory.h"

static struct position *row_of(struct positions *p, uint64_t pc, uint8_t wait)
{
  for (unsigned i = 0; i < p->n; i++)
    if (p->row[i].pc == pc && p->row[i].wait == wait) return &p->row[i];
  p->row = mem_more(p->row, p->n, &p->room, sizeof *p->row);
  p->row[p->n] = (struct position){ .pc = pc, .wait = wait };
  return &p->row[p->n++];
}

void positions_add(struct positions *p, const struct step_cta *c)
{
  for (unsigned k = 0; k < c->n_warps; k++)
    for (unsigned i = 0; i < c->warp[k]->paths.n; i++) {
      const struct step_path *path = &c->warp[k]->paths.p[i];
      /* A path that waits has left its instruction behind. */
      uint64_t pc = path->wait ? code_previous(&c->source->code, path->pc) : path->pc;
      struct position *row = row_of(p, pc, path->wait);
      row->warps++;
      row->lanes += (unsigned)__builtin_popcountll(path->mask);
    }
}

static int by_warps(const void *a, const void *b)
{
  const struct position *p = a, *q = b;
  if (p->warps != q->warps) return p->warps < q->warps ? 1 : -1;
  if (p->pc != q->pc) return p->pc < q->pc ? -1 : 1;
  return (int)p->wait - (int)q->wait;
}

void positions_sort(struct positions *p)
{
  if (p->n) qsort(p->row, p->n, sizeof *p->row, by_warps);
}

void positions_free(struct positions *p)
{
  mem_free(p->row);
  *p = (struct positions){ 0 };
}

const char *path_wait_name(unsigned wait)
{
  switch (wait) {
  case PATH_READY: return "ready";
  case PATH_WAIT_BAR: return "at a barrier";
  case PATH_WAIT_CONVERGE: return "waiting for other lanes";
  default: return "?";
  }
}
