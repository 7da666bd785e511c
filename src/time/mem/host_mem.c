#include "time/mem/host_mem.h"

#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "time/link/line_home.h"

void host_mem_init(struct host_mem *h, uint32_t mbps, picos latency, line_apply_fn *apply)
{
  *h = (struct host_mem){.rate.femtos_per_byte = div_up(1000000000, (uint64_t)mbps), .latency = latency,
                         .apply = apply};
}

void host_mem_images(struct host_mem *h, struct gmem *const *image)
{
  h->image = image;
}

void host_mem_program(struct host_mem *h, const struct program_memory *program)
{
  h->program = program;
}

/* Of guest memory, or of the program. */
static bool fetch(const struct host_mem *h, const struct link_msg *m, const struct link_bytes *b, uint8_t *to)
{
  if (!m->program) return gmem_read(h->image[m->from], b->addr, to, b->n);
  if (h->program) return h->program->read(h->program->ctx, b->addr, to, b->n);
  memcpy(to, (const void *)(uintptr_t)b->addr, b->n);
  return true;
}

static bool store(const struct host_mem *h, const struct link_msg *m, const struct link_bytes *b)
{
  if (m->in_place) return true;
  if (!m->program) {
    span_list_add(h->written, b->addr, b->n);
    return gmem_write(h->image[m->from], b->addr, b + 1, b->n);
  }
  if (h->program) return h->program->write(h->program->ctx, b->addr, b + 1, b->n);
  memcpy((void *)(uintptr_t)b->addr, b + 1, b->n);
  return true;
}

static void read_bytes(struct host_mem *h, struct fabric *f, const struct link_msg *m, const struct link_bytes *b,
                       picos at)
{
  uint8_t bytes[LINK_BODY_MAX];
  bool ok = fetch(h, m, b, bytes);
  uint32_t n = ok ? (uint32_t)b->n : 0;
  h->stats.reads++;
  h->stats.read_bytes += n;
  fabric_answer(f, m, LINK_DATA, (uint32_t)b->n, n, bytes, at);
}

static void write_bytes(struct host_mem *h, struct fabric *f, const struct link_msg *m, const struct link_bytes *b,
                        picos at)
{
  static const uint8_t failed = 1;
  bool ok = store(h, m, b);
  h->stats.writes++;
  h->stats.written_bytes += b->n;
  fabric_answer(f, m, LINK_DONE, 0, ok ? 0 : 1, &failed, at);
}

static void store_line(struct host_mem *h, struct fabric *f, const struct link_msg *m, const struct link_store *s,
                       picos at)
{
  static const uint8_t failed = 1;
  bool ok = line_home_store(h->image[m->from], s);
  span_list_add(h->written, s->line.addr, sizeof s->bytes);
  h->stats.writes++;
  h->stats.written_bytes += m->payload;
  fabric_answer(f, m, LINK_DONE, 0, ok ? 0 : 1, &failed, at);
}

static void atomic(struct host_mem *h, struct fabric *f, const struct link_msg *m, const struct link_bytes *b, picos at)
{
  uint8_t before[LINE_OP_BYTES];
  struct line_op op;
  memcpy(&op, b + 1, earlier(sizeof op, m->body - sizeof *b));
  bool ok = h->apply && line_home_atomic(h->image[m->from], h->apply, b->addr, &op, before);
  span_list_add(h->written, b->addr, LINE_OP_BYTES);
  h->stats.atomics++;
  if (b->n) fabric_answer(f, m, LINK_DATA, m->payload, ok ? sizeof before : 0, before, at);
  else fabric_answer(f, m, LINK_DONE, 0, ok ? 0 : 1, before, at);
}

picos host_mem_serve(void *ctx, struct fabric *f, const struct link_msg *m, picos now)
{
  struct host_mem *h = ctx;
  const struct link_bytes *b = link_msg_body(m);
  BUG_ON(m->body < sizeof *b || b->n > LINK_BODY_MAX);
  picos at = server_take(&h->rate, now, b->n);
  if (m->kind == LINK_STORE) store_line(h, f, m, link_msg_body(m), at + h->latency);
  else if (m->kind == LINK_ATOMIC) atomic(h, f, m, b, at + h->latency);
  else if (m->kind == LINK_READ) read_bytes(h, f, m, b, at + h->latency);
  else write_bytes(h, f, m, b, at + h->latency);
  return at;
}
