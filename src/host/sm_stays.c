#include "host/sm_stays.h"

#include "base/host_memory.h"
#include "host/activity_choice.h"
#include "host/simulate.h"
#include "time/sm/sm_stats.h"
#include "time/sm/warp.h"

enum { SUB_CORES = 4, SM_SLOTS = 64 };
enum { NONE = UINT32_MAX };

/* Cycles. */
struct stay {
  const struct step_source *source;
  uint64_t cta, begin, end; /* end CYCLE_NEVER: it is there */
  uint32_t newest;          /* of a warp's states; NONE: none */
  uint8_t slot, warp, sub_core;
  bool is_warp;
};

/* Linked from the newest to the oldest; those that are free, one to the next. */
struct state {
  uint64_t from, until;
  uint32_t older;
  uint8_t state;
};

/* What there was no room for. */
struct lack {
  const struct step_source *source;
  uint64_t n;
};

/* The observer of an SM. */
struct one_sm {
  struct observer observer; /* first member */
  const struct sm_stays *all;
  struct stay *stay;
  struct state *state;
  struct lack *lack;
  uint32_t n_stays, stay_room, n_states, state_room, n_lacks, lack_room;
  uint32_t free_state, free_states;
  uint32_t cta[SM_SLOTS];                          /* the stay of a slot; NONE */
  unsigned warps[SM_SLOTS];                        /* of its CTA that are there */
  uint32_t warp[SUB_CORES][SUB_CORE_MAX_WARPS];    /* likewise */
  uint8_t cta_slot[SUB_CORES][SUB_CORE_MAX_WARPS]; /* of the warp */
};

struct sm_stays {
  struct activity_choice choice;
  struct sm_stays_way way;
  struct sim_observers observers;
  uint64_t period, begun; /* ps; the cycle in which the run began */
  unsigned n_sms;
  struct one_sm *sm;
};

static uint64_t time_of(const struct sm_stays *s, uint64_t cycle)
{
  return s->way.time(s->way.ctx, cycle * s->period);
}

static bool is_chosen(const struct sm_stays *s, uint64_t cycle)
{
  const uint64_t at = time_of(s, cycle) / s->way.unit;
  return at >= s->choice.from && at < s->choice.to;
}

/* --- observing: on the thread of the SM ----------------------------------------------------------- */

static void lose(struct one_sm *s, const struct step_source *source)
{
  uint32_t i = 0;
  while (i < s->n_lacks && s->lack[i].source != source) i++;
  if (i == s->n_lacks) {
    s->lack = mem_more(s->lack, s->n_lacks, &s->lack_room, sizeof *s->lack);
    s->lack[s->n_lacks++] = (struct lack){source, 0};
  }
  s->lack[i].n++;
}

static uint32_t add_stay(struct one_sm *s, const struct stay *x)
{
  if (s->n_stays >= s->all->way.most) {
    lose(s, x->source);
    return NONE;
  }
  s->stay = mem_more(s->stay, s->n_stays, &s->stay_room, sizeof *s->stay);
  s->stay[s->n_stays] = *x;
  return s->n_stays++;
}

static void warp_begin(struct observer *o, const struct observed_warp *w, uint64_t now)
{
  struct one_sm *s = (struct one_sm *)o;
  const struct activity_choice *c = &s->all->choice;
  struct stay x = {.source = w->grid->source, .cta = w->cta->id, .begin = now, .end = CYCLE_NEVER, .newest = NONE,
                   .slot = w->cta_slot};
  const bool chosen = is_chosen(s->all, now);
  if (w->number == 0) s->cta[w->cta_slot] = chosen ? add_stay(s, &x) : NONE;
  if (w->number == 0) s->warps[w->cta_slot] = 0;
  s->warps[w->cta_slot]++;
  s->cta_slot[w->sub_core][w->warp] = w->cta_slot;
  x.is_warp = true;
  x.slot = w->warp;
  x.sub_core = w->sub_core;
  x.warp = (uint8_t)w->number;
  const bool shown = chosen && c->warps && pipe_choice_has(&c->which, x.cta, w->number);
  s->warp[w->sub_core][w->warp] = shown ? add_stay(s, &x) : NONE;
}

static void warp_end(struct observer *o, unsigned sub_core, unsigned warp, uint64_t now)
{
  struct one_sm *s = (struct one_sm *)o;
  const unsigned slot = s->cta_slot[sub_core][warp];
  const uint32_t x = s->warp[sub_core][warp];
  if (x != NONE) s->stay[x].end = now;
  if (--s->warps[slot] == 0 && s->cta[slot] != NONE) s->stay[s->cta[slot]].end = now;
}

/* NONE: there is no room. */
static uint32_t new_state(struct one_sm *s)
{
  const uint32_t i = s->free_state;
  if (s->free_states) {
    s->free_state = s->state[i].older;
    s->free_states--;
    return i;
  }
  if (s->n_states >= s->all->way.most) return NONE;
  s->state = mem_more(s->state, s->n_states, &s->state_room, sizeof *s->state);
  return s->n_states++;
}

static void wait(struct observer *o, unsigned sub_core, unsigned warp, const struct observed_wait *w)
{
  struct one_sm *s = (struct one_sm *)o;
  if (s->warp[sub_core][warp] == NONE) return;
  struct stay *x = &s->stay[s->warp[sub_core][warp]];
  struct state *last = x->newest == NONE ? NULL : &s->state[x->newest];
  if (last && last->state == w->state && last->until == w->from) {
    last->until = w->until;
    return;
  }
  const uint32_t i = new_state(s);
  if (i == NONE) {
    lose(s, x->source);
    return;
  }
  s->state[i] = (struct state){w->from, w->until, x->newest, (uint8_t)w->state};
  x->newest = i;
}

static const struct observer_ops ops_of_ctas = {.warp_begin = warp_begin, .warp_end = warp_end};
static const struct observer_ops ops_of_warps = {.warp_begin = warp_begin, .warp_end = warp_end, .wait = wait};

static struct observer *observer_of(void *ctx, unsigned sm)
{
  struct sm_stays *s = ctx;
  return sm >= s->choice.first_sm && sm <= s->choice.last_sm ? &s->sm[sm].observer : NULL;
}

static void begin_run(void *ctx, uint64_t cycle)
{
  struct sm_stays *s = ctx;
  s->begun = cycle;
  for (unsigned i = 0; i < s->n_sms; i++)
    s->sm[i].n_stays = s->sm[i].n_states = s->sm[i].free_states = s->sm[i].n_lacks = 0;
}

/* --- a launch is over ----------------------------------------------------------------------------- */

/* Of the stay, the oldest first; they are free then. */
static uint32_t take_states(struct one_sm *s, const struct stay *x, struct sm_stay_list *l)
{
  uint32_t n = 0, i, older;
  for (i = x->newest; i != NONE; i = s->state[i].older, n++)
    l->state = mem_more(l->state, l->n_states + n, &l->room_states, sizeof *l->state);
  l->n_states += n;
  struct sm_state *to = l->state + l->n_states;
  for (i = x->newest; i != NONE; i = older) {
    struct state *y = &s->state[i];
    *--to = (struct sm_state){time_of(s->all, y->from), time_of(s->all, y->until), y->state};
    older = y->older;
    y->older = s->free_state;
    s->free_state = i;
    s->free_states++;
  }
  return n;
}

static void take_stay(struct one_sm *s, const struct stay *x, struct sm_stay_list *l)
{
  l->stay = mem_more(l->stay, l->n_stays, &l->room_stays, sizeof *l->stay);
  l->stay[l->n_stays++] = (struct sm_stay){.cta = x->cta, .begin = time_of(s->all, x->begin),
                                           .end = x->end == CYCLE_NEVER ? SM_STAY_OPEN : time_of(s->all, x->end),
                                           .n_states = take_states(s, x, l), .sm = (uint16_t)(s - s->all->sm),
                                           .slot = x->slot, .warp = x->warp, .sub_core = x->sub_core,
                                           .is_warp = x->is_warp};
}

/* The slot whose stay this is, if it is there, knows it by another number now. */
static void renumber(struct one_sm *s, const struct stay *x, uint32_t from, uint32_t to)
{
  uint32_t *at = x->is_warp ? &s->warp[x->sub_core][x->slot] : &s->cta[x->slot];
  if (*at == from) *at = to;
}

static void take_of(struct one_sm *s, const struct step_source *source, struct sm_stay_list *l)
{
  uint32_t left = 0, lacks = 0;
  for (uint32_t i = 0; i < s->n_stays; i++) {
    const struct stay x = s->stay[i];
    const bool over = x.source == source;
    if (over) take_stay(s, &x, l);
    renumber(s, &x, i, over ? NONE : left);
    if (!over) s->stay[left++] = x;
  }
  s->n_stays = left;
  for (uint32_t i = 0; i < s->n_lacks; i++) {
    if (s->lack[i].source == source) l->lost += s->lack[i].n;
    else s->lack[lacks++] = s->lack[i];
  }
  s->n_lacks = lacks;
}

void sm_stays_take(struct sm_stays *s, const struct step_source *source, struct sm_stay_list *l)
{
  for (unsigned i = 0; i < s->n_sms; i++) take_of(&s->sm[i], source, l);
}

void sm_stay_list_free(struct sm_stay_list *l)
{
  mem_free(l->stay);
  mem_free(l->state);
  *l = (struct sm_stay_list){0};
}

/* --- all of it ------------------------------------------------------------------------------------ */

struct sm_stays *sm_stays_new(const struct sm_stays_way *way, const struct params *p)
{
  struct sm_stays *s = mem_zeroed(1, sizeof *s);
  *s = (struct sm_stays){.choice = *way->choice, .way = *way,
                         .observers = {.ctx = s, .of = observer_of, .begin = begin_run},
                         .period = params_clock_ps(p), .n_sms = p->gpu_sms,
                         .sm = mem_zeroed(p->gpu_sms, sizeof *s->sm)};
  for (unsigned i = 0; i < s->n_sms; i++) {
    s->sm[i].observer.ops = s->choice.warps ? &ops_of_warps : &ops_of_ctas;
    s->sm[i].all = s;
  }
  return s;
}

void sm_stays_free(struct sm_stays *s)
{
  if (!s) return;
  for (unsigned i = 0; i < s->n_sms; i++) {
    mem_free(s->sm[i].stay);
    mem_free(s->sm[i].state);
    mem_free(s->sm[i].lack);
  }
  mem_free(s->sm);
  mem_free(s);
}

const struct sim_observers *sm_stays_observers(const struct sm_stays *s)
{
  return &s->observers;
}

uint64_t sm_stays_begun(const struct sm_stays *s)
{
  return s->begun * s->period;
}
