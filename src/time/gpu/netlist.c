#include "time/gpu/netlist.h"

static const struct part_ops sm_ops = {sm_run, sm_progress, sm_busy, sm_dump};
static const struct part_ops mem_side_ops = {mem_side_run, mem_side_progress, mem_side_busy,
                                             mem_side_dump};
static const struct part_ops dispatcher_ops = {dispatcher_run, dispatcher_progress, dispatcher_busy,
                                               dispatcher_dump};

static bool perform(void *ctx, unsigned sm, uint32_t txn, enum req_kind kind, picos now,
                    struct gmem_view *direct)
{
  struct netlist *n = ctx;
  return sm_perform(&n->sm[sm], txn, kind, now, direct);
}

void netlist_build(struct netlist *n, const struct params *p)
{
  *n = (struct netlist){.n_sms = p->gpu_sms};
  n->sm = ARENA_ARRAY(&n->arena, struct sm, n->n_sms);
  n->sm_part = ARENA_ARRAY(&n->arena, struct part, n->n_sms);
  mem_side_init(&n->mem, &n->arena, p, n->n_sms);
  n->mem.perform = perform;
  n->mem.ctx = n;
  dispatcher_init(&n->dispatcher, &n->arena, p, n->n_sms);
  for (unsigned i = 0; i < n->n_sms; i++) {
    struct sm *m = &n->sm[i];
    struct part *part = &n->sm_part[i];
    sm_init(m, &n->arena, p, i);
    *part = (struct part){&sm_ops, m, TIME_NEVER};
    n->mem.port[i].in = &m->mem.out;
    n->mem.port[i].out = &m->mem.in;
    n->mem.port[i].log = &m->log;
    n->dispatcher.port[i].launches = &m->launches;
    n->dispatcher.port[i].done = &m->done;
    m->mem.in.wake = &part->next;
    m->launches.wake = &part->next;
  }
  n->serial[SERIAL_MEM_SIDE] = (struct part){&mem_side_ops, &n->mem, TIME_NEVER};
  n->serial[SERIAL_DISPATCHER] = (struct part){&dispatcher_ops, &n->dispatcher, TIME_NEVER};
}

void netlist_check_hazards(struct netlist *n, const struct params *p)
{
  for (unsigned i = 0; i < n->n_sms; i++)
    for (unsigned c = 0; c < p->sm_sub_cores; c++) {
      struct hazard *h = hazard_new(&n->arena, p);
      n->sm[i].sub_core[c].hazard = h;
      n->sm[i].mem.client[c].hazard = h;
    }
}

void netlist_free(struct netlist *n)
{
  for (unsigned i = 0; i < n->n_sms; i++) gmem_log_free(&n->sm[i].log);
  arena_free(&n->arena);
}

bool netlist_check_laws(const struct netlist *n, const struct sm_stats *sum, struct err *e)
{
  if (sum->l1_miss_sectors > n->mem.stats.l2_read_sectors)
    return err_set(e, "law broken: L1 misses %llu > L2 reads %llu (sectors)",
                   (unsigned long long)sum->l1_miss_sectors,
                   (unsigned long long)n->mem.stats.l2_read_sectors);
  if (sum->l1_write_sectors != n->mem.stats.l2_write_sectors)
    return err_set(e, "law broken: SMs wrote %llu sectors, L2 received %llu",
                   (unsigned long long)sum->l1_write_sectors,
                   (unsigned long long)n->mem.stats.l2_write_sectors);
  if (sum->ctas != n->dispatcher.n_ctas)
    return err_set(e, "law broken: %llu CTAs launched of a grid of %llu",
                   (unsigned long long)sum->ctas, (unsigned long long)n->dispatcher.n_ctas);
  return true;
}
