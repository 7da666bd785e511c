#include "base/time_slices.h"

#include "base/arith.h"

void time_slices_init(struct time_slices *t)
{
  *t = (struct time_slices){.owner = TIME_SLICES_NOBODY};
}

int time_slices_enter(struct time_slices *t, const struct slice_hello *h, uint64_t order)
{
  int i = 0;
  while (i < TIME_SLICES_MAX && t->user[i].there) i++;
  if (i == TIME_SLICES_MAX || h->slice == 0) return TIME_SLICES_NOBODY;
  t->user[i] = (struct slice_user){.there = true, .order = order, .hello = *h};
  return i;
}

static void give_back(struct time_slices *t, int user, uint64_t at)
{
  struct slice_user *u = &t->user[user];
  u->asks = u->busy = u->stopped = u->is_waiting = false;
  if (t->owner != user) return;
  t->owner = TIME_SLICES_NOBODY;
  t->free = later(at, t->free);
}

void time_slices_leave(struct time_slices *t, int user)
{
  give_back(t, user, t->user[user].ask.now);
  t->user[user] = (struct slice_user){0};
}

bool time_slices_ask(struct time_slices *t, int user, const struct slice_ask *a)
{
  struct slice_user *u = &t->user[user];
  if (!a->over && a->until <= a->now) return false;
  const uint64_t now = later(a->now, u->ask.now); /* time does not go back */
  u->ask = (struct slice_ask){now, later(a->until, now + 1), a->over};
  if (a->over) {
    give_back(t, user, now);
    return true;
  }
  u->asks = u->busy = true;
  return true;
}

/* Whether the owner's slice goes on: it goes before others that ask at the same time. */
static bool has_slice(const struct time_slices *t, int user)
{
  return t->owner == user && t->user[user].ask.now < t->end;
}

static bool is_before(const struct time_slices *t, int a, int b)
{
  const struct slice_user *x = &t->user[a], *y = &t->user[b];
  if (x->ask.now != y->ask.now) return x->ask.now < y->ask.now;
  if (has_slice(t, a) != has_slice(t, b)) return has_slice(t, a);
  return x->waits != y->waits ? x->waits < y->waits : x->order < y->order;
}

static int first_that_asks(struct time_slices *t)
{
  int first = TIME_SLICES_NOBODY;
  for (int i = 0; i < TIME_SLICES_MAX; i++) {
    struct slice_user *u = &t->user[i];
    if (!u->asks) continue;
    if (!u->is_waiting) u->is_waiting = true, u->waits = u->ask.now;
    if (first == TIME_SLICES_NOBODY || is_before(t, i, first)) first = i;
  }
  return first;
}

static void begin_slice(struct time_slices *t, int user, uint64_t at)
{
  struct slice_user *u = &t->user[user];
  t->owner = user;
  t->begin = at + (u->stopped ? u->hello.state : 0);
  t->end = t->begin + u->hello.slice;
  t->slices++;
  u->stopped = false;
}

static void take_from_owner(struct time_slices *t, int user, uint64_t now)
{
  struct slice_user *o = &t->user[t->owner];
  o->stopped = o->is_waiting = true;
  o->waits = now;
  begin_slice(t, user, now + o->hello.state);
}

static struct slice_answer stand(const struct slice_user *u, uint64_t until)
{
  return (struct slice_answer){.until = earlier(u->ask.until, until)};
}

static struct slice_answer answer(struct time_slices *t, int user)
{
  struct slice_user *u = &t->user[user];
  const uint64_t now = u->ask.now;
  if (t->owner == TIME_SLICES_NOBODY) {
    if (t->free > now) return stand(u, t->free);
    begin_slice(t, user, now);
  } else if (t->owner != user) {
    const uint64_t owner_now = t->user[t->owner].ask.now;
    if (owner_now > now) return stand(u, owner_now);
    take_from_owner(t, user, now);
  } else if (now >= t->end) {
    begin_slice(t, user, now); /* nobody waits, or he would have been asked first */
  }
  if (t->begin > now) return stand(u, t->begin);
  u->is_waiting = false;
  return (struct slice_answer){.until = earlier(u->ask.until, t->end), .run = true};
}

int time_slices_answer(struct time_slices *t, struct slice_answer *a)
{
  const int user = first_that_asks(t);
  if (user == TIME_SLICES_NOBODY) return user;
  *a = answer(t, user);
  t->user[user].asks = false;
  return user;
}
