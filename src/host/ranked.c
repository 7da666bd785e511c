#include "host/ranked.h"

#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "time/dma/dma.h"
#include "time/link/fabric.h"

/* Windows of the program's memory lie above all of its addresses, apart from each other. */
#define WINDOWS_FIRST (UINT64_C(1) << 56)
enum { WINDOW_ALIGN = RANKED_PAGE };

/* Whose GPUs alone have something to do in an epoch: a rank, or */
enum { NOBODY = -1, SEVERAL = -2 };

/* Bytes that a rank which has gone ahead keeps for the others. */
enum { MOST_AHEAD = 1 << 18 };

/* --- memory of the program ---------------------------------------------------------------------- */

uint64_t ranked_open_window(struct ranked *x, uint64_t at, uint64_t bytes, unsigned offset)
{
  const uint64_t first = x->next_window + offset;
  x->window = mem_more(x->window, x->n_windows, &x->room_windows, sizeof *x->window);
  x->window[x->n_windows++] = (struct ranked_window){first, bytes, at};
  x->next_window = align_up(first + bytes, WINDOW_ALIGN) + WINDOW_ALIGN;
  return first;
}

void ranked_close_window(struct ranked *x, uint64_t first)
{
  uint32_t i = 0;
  while (i < x->n_windows && x->window[i].first != first) i++;
  BUG_ON(i == x->n_windows);
  memmove(&x->window[i], &x->window[i + 1], (x->n_windows - i - 1) * sizeof *x->window);
  x->n_windows--;
}

/* NULL: no copy names it. */
static void *here(const struct ranked *x, uint64_t addr, uint64_t bytes)
{
  for (uint32_t i = 0; i < x->n_windows; i++) {
    const struct ranked_window *w = &x->window[i];
    if (addr >= w->first && addr - w->first < w->bytes && bytes <= w->bytes - (addr - w->first))
      return (void *)(uintptr_t)(w->at + (addr - w->first));
  }
  return NULL;
}

static bool reaches(void *ctx, uint64_t addr, uint64_t bytes, bool writes)
{
  (void)writes;
  return here(ctx, addr, bytes);
}

static bool read_program(void *ctx, uint64_t addr, void *to, uint64_t bytes)
{
  const void *from = here(ctx, addr, bytes);
  if (from) memcpy(to, from, bytes);
  return from;
}

static bool write_program(void *ctx, uint64_t addr, const void *from, uint64_t bytes)
{
  void *to = here(ctx, addr, bytes);
  if (to) memcpy(to, from, bytes);
  return to;
}

/* --- who has what -------------------------------------------------------------------------------- */

static unsigned owner_of(const struct ranked *x, unsigned member)
{
  return member % x->ranks->n;
}

static bool is_here(const struct ranked *x, unsigned member)
{
  return owner_of(x, member) == x->ranks->rank;
}

static unsigned member_at(const struct ranked *x, unsigned node)
{
  unsigned i = 0;
  while (i < x->n_members && x->member[i].node != node) i++;
  BUG_ON(i == x->n_members);
  return i;
}

bool ranked_mine(const struct ranked *x, unsigned node)
{
  return !x || is_here(x, member_at(x, node));
}

static struct gpu *gpu_of(const struct ranked *x, unsigned member)
{
  return *x->member[member].gpu;
}

/* Domains are GPUs that are there, in the order of nodes. */
static unsigned member_of_domain(const struct ranked *x, unsigned domain)
{
  unsigned i = 0;
  for (;; i++)
    if (gpu_of(x, i) && domain-- == 0) return i;
}

/* --- meetings ------------------------------------------------------------------------------------ */

/* In front of what a GPU says at the end of an epoch; messages follow, then what was printed. */
struct word {
  struct gpu_report report;
  uint32_t end; /* enum domain_end of its run */
  uint32_t messages;
  uint64_t printed;
};

/* In front of a message. */
struct sent {
  uint32_t port, taken;
  struct link_msg msg;
};

struct sender {
  struct ranks *ranks; /* NULL: they are only counted */
  uint32_t port, n;
};

static void send(void *ctx, const struct link_msg *m, bool taken)
{
  struct sender *s = ctx;
  const struct sent x = {s->port, taken, *m};
  s->n++;
  ranks_put(s->ranks, &x, sizeof x);
  ranks_put(s->ranks, link_msg_body(m), m->body);
}

/* What a GPU here has to say. The number of messages is known behind them. */
static void tell(const struct ranked *x, unsigned member, enum domain_end end)
{
  struct gpu *g = gpu_of(x, member);
  const char *text = NULL;
  struct sender to = {.ranks = x->ranks};
  struct word w = {.report = gpu_report(g), .end = end};
  const size_t at = x->ranks->n_mine;
  ranks_put(x->ranks, &w, sizeof w);
  for (to.port = 0; to.port < LINK_PORT__N; to.port++) link_port_share(gpu_ports(g)[to.port], send, &to);
  w.messages = to.n;
  w.printed = x->output.take ? x->output.take(x->output.ctx, x->member[member].node, &text) : 0;
  ranks_put(x->ranks, text, w.printed);
  memcpy(x->ranks->mine + at, &w, sizeof w);
}

static void hear_messages(struct gpu *g, bool here, uint32_t n, struct rank_bytes *from)
{
  for (struct sent m; n--;) {
    BUG_ON(!rank_take(from, &m, sizeof m) || m.port >= LINK_PORT__N || m.msg.body > LINK_BODY_MAX);
    const void *body = rank_take_all(from, m.msg.body);
    BUG_ON(!body);
    if (!here) link_port_hear(gpu_ports(g)[m.port], &m.msg, body, m.taken);
  }
}

static enum domain_end hear(const struct ranked *x, unsigned member, struct rank_bytes *from)
{
  struct word w;
  const bool here = is_here(x, member);
  BUG_ON(!rank_take(from, &w, sizeof w));
  if (!here) gpu_follow(gpu_of(x, member), &w.report);
  hear_messages(gpu_of(x, member), here, w.messages, from);
  const char *text = rank_take_all(from, w.printed);
  BUG_ON(!text);
  if (w.printed && x->output.give) x->output.give(x->output.ctx, text, w.printed);
  return (enum domain_end)w.end;
}

/* --- epochs -------------------------------------------------------------------------------------- */

/* Epochs are those of links and GPUs, which are alike everywhere: if not, the mistake is ours. */
static unsigned plan(void *ctx, picos to, unsigned *domain, unsigned n)
{
  struct ranked *x = ctx;
  unsigned kept = 0;
  ranks_note(x->ranks, &to, sizeof to);
  x->n_awake = n;
  x->alone = NOBODY;
  for (unsigned i = 0; i < n; i++) {
    const unsigned member = member_of_domain(x, domain[i]);
    const int owner = (int)owner_of(x, member);
    x->awake[i] = domain[i];
    x->alone = x->alone == NOBODY || x->alone == owner ? owner : SEVERAL;
    if (is_here(x, member)) domain[kept++] = domain[i];
  }
  return kept;
}

/* What others have not heard yet of the epochs in which GPUs of this rank alone had something to do. */
static void catch_up(struct ranked *x)
{
  if (x->ahead) ranks_catch_up(x->ranks);
  x->ahead = 0;
}

static void go_ahead(struct ranked *x, const enum domain_end *end)
{
  const struct rank_noted noted = ranks_noted(x->ranks);
  size_t at;
  ranks_put(x->ranks, &noted, sizeof noted);
  at = x->ranks->n_mine;
  for (unsigned i = 0; i < x->n_awake; i++) tell(x, member_of_domain(x, x->awake[i]), end[x->awake[i]]);
  struct rank_bytes own = {x->ranks->mine + at, x->ranks->n_mine - at};
  for (unsigned i = 0; i < x->n_awake; i++) hear(x, member_of_domain(x, x->awake[i]), &own);
  x->ahead++;
  if (x->ranks->n_mine > MOST_AHEAD) catch_up(x);
}

static void follow(struct ranked *x, enum domain_end *end)
{
  struct rank_noted its;
  catch_up(x);
  if (!x->heard.n) x->heard = ranks_catch_up(x->ranks)[x->alone];
  BUG_ON(!rank_take(&x->heard, &its, sizeof its));
  ranks_compare(x->ranks, &its);
  for (unsigned i = 0; i < x->n_awake; i++)
    end[x->awake[i]] = hear(x, member_of_domain(x, x->awake[i]), &x->heard);
}

static void meet_all(struct ranked *x, enum domain_end *end)
{
  struct rank_bytes from[RANKS_MAX];
  catch_up(x);
  BUG_ON(x->heard.n);
  for (unsigned i = 0; i < x->n_awake; i++) {
    const unsigned member = member_of_domain(x, x->awake[i]);
    if (is_here(x, member)) tell(x, member, end[x->awake[i]]);
  }
  memcpy(from, ranks_meet(x->ranks), x->ranks->n * sizeof *from);
  for (unsigned i = 0; i < x->n_awake; i++) {
    const unsigned member = member_of_domain(x, x->awake[i]);
    end[x->awake[i]] = hear(x, member, &from[owner_of(x, member)]);
  }
}

/* GPUs that have nothing to do send nothing, and stand as they stood. */
static void meet(void *ctx, enum domain_end *end)
{
  struct ranked *x = ctx;
  if (x->alone == SEVERAL) meet_all(x, end);
  else if (x->alone == (int)x->ranks->rank) go_ahead(x, end);
  else if (x->alone != NOBODY) follow(x, end);
}

static void begin(void *ctx, picos until)
{
  struct ranked *x = ctx;
  enum domain_end end[MACHINE_MAX_GPUS] = {DOMAIN_REACHED};
  ranks_note(x->ranks, &until, sizeof until);
  x->n_awake = 0;
  for (unsigned i = 0; i < x->n_members; i++)
    if (gpu_of(x, i)) x->awake[x->n_awake] = x->n_awake, x->n_awake++;
  meet_all(x, end);
}

static void end_run(void *ctx)
{
  catch_up(ctx);
}

/* --- what all do alike --------------------------------------------------------------------------- */

/* Bytes of the host's memory on their way to a GPU. */
static void note_answer(void *ctx, const struct link_msg *m, const void *bytes)
{
  const struct ranked *x = ctx;
  if (m->kind == LINK_DATA) ranks_note(x->ranks, bytes, m->body);
}

void ranked_watch(struct ranked *x, struct fabric *f)
{
  fabric_watch(f, note_answer, x);
}

/* --- how things ended ---------------------------------------------------------------------------- */

static void tell_ends(const struct ranked *x, unsigned member)
{
  const struct ranked_member *m = &x->member[member];
  struct dma *dma = gpu_dma(*m->gpu);
  struct dma_done done;
  for (unsigned i = 0; i < *m->n_open; i++) {
    const struct gpu_launch_report r = gpu_launch_report(*m->gpu, m->open[i]);
    ranks_put(x->ranks, &r, sizeof r);
  }
  const uint64_t n = dma->n_done;
  ranks_put(x->ranks, &n, sizeof n);
  while (dma_take_done(dma, &done)) ranks_put(x->ranks, &done, sizeof done);
}

static void hear_ends(const struct ranked *x, unsigned member, struct rank_bytes *from)
{
  const struct ranked_member *m = &x->member[member];
  struct gpu_launch_report r;
  struct dma_done done;
  uint64_t n;
  for (unsigned i = 0; i < *m->n_open; i++) {
    BUG_ON(!rank_take(from, &r, sizeof r));
    if (!is_here(x, member)) gpu_follow_launch(*m->gpu, m->open[i], &r);
  }
  BUG_ON(!rank_take(from, &n, sizeof n));
  for (uint64_t i = 0; i < n; i++) {
    BUG_ON(!rank_take(from, &done, sizeof done));
    dma_note_done(gpu_dma(*m->gpu), &done);
  }
}

void ranked_share_ends(struct ranked *x)
{
  struct rank_bytes from[RANKS_MAX];
  for (unsigned i = 0; i < x->n_members; i++)
    if (gpu_of(x, i) && is_here(x, i)) tell_ends(x, i);
  memcpy(from, ranks_meet(x->ranks), x->ranks->n * sizeof *from);
  for (unsigned i = 0; i < x->n_members; i++)
    if (gpu_of(x, i)) hear_ends(x, i, &from[owner_of(x, i)]);
}

static void put_launch(struct ranked *x, struct gpu *g, unsigned slot, bool whole)
{
  size_t n_count, n_books;
  const void *count = gpu_count_report(g, &n_count);
  uint64_t *books = gpu_books(g, slot, &n_books);
  const struct gpu_launch_report r = gpu_launch_report(g, slot);
  ranks_put(x->ranks, &r, sizeof r);
  ranks_put(x->ranks, books, n_books);
  if (whole) ranks_put(x->ranks, count, n_count);
  mem_free(books);
}

static void take_launch(struct gpu *g, unsigned slot, bool whole, struct rank_bytes *from)
{
  size_t n_count;
  struct gpu_launch_report r;
  gpu_count_report(g, &n_count);
  BUG_ON(!rank_take(from, &r, sizeof r));
  gpu_follow_launch(g, slot, &r);
  const size_t n_books = gpu_books_bytes(g, slot);
  const void *books = rank_take_all(from, n_books), *count = whole ? rank_take_all(from, n_count) : NULL;
  BUG_ON(!books || (whole && !count));
  gpu_follow_books(g, slot, books);
  if (whole) gpu_follow_count(g, count);
}

void ranked_share_launch(struct ranked *x, unsigned node, unsigned slot, bool whole)
{
  const unsigned member = member_at(x, node);
  if (is_here(x, member)) put_launch(x, gpu_of(x, member), slot, whole);
  struct rank_bytes from = ranks_hear(x->ranks, owner_of(x, member));
  if (!is_here(x, member)) take_launch(gpu_of(x, member), slot, whole, &from);
}

void ranked_share_finish(struct ranked *x, unsigned node, struct ranked_finish *f, struct positions *where)
{
  const unsigned member = member_at(x, node);
  uint64_t n = where->n;
  size_t n_count;
  const void *count = gpu_count_report(gpu_of(x, member), &n_count);
  if (is_here(x, member)) {
    ranks_put(x->ranks, f, sizeof *f);
    ranks_put(x->ranks, count, n_count);
    ranks_put(x->ranks, &n, sizeof n);
    ranks_put(x->ranks, where->row, n * sizeof *where->row);
  }
  struct rank_bytes from = ranks_hear(x->ranks, owner_of(x, member));
  if (is_here(x, member)) return;
  BUG_ON(!rank_take(&from, f, sizeof *f) || !(count = rank_take_all(&from, n_count)));
  gpu_follow_count(gpu_of(x, member), count);
  BUG_ON(!rank_take(&from, &n, sizeof n) || n > UINT32_MAX);
  where->row = mem_resize(where->row, n ? n : 1, sizeof *where->row);
  where->n = where->room = (uint32_t)n;
  BUG_ON(!rank_take(&from, where->row, n * sizeof *where->row));
}

/* --- life ---------------------------------------------------------------------------------------- */

struct ranked *ranked_new(struct ranks *r, const struct ranked_member *m, unsigned n, const struct ranked_output *o)
{
  struct ranked *x = mem_zeroed(1, sizeof *x);
  *x = (struct ranked){.ranks = r, .n_members = n, .output = *o, .next_window = WINDOWS_FIRST};
  for (unsigned i = 0; i < n; i++) x->member[i] = m[i];
  x->machine = (struct machine_ranks){x, begin, end_run, plan, meet};
  x->program = (struct program_memory){x, read_program, write_program, reaches};
  return x;
}

void ranked_free(struct ranked *x)
{
  if (!x) return;
  mem_free(x->window);
  mem_free(x);
}
