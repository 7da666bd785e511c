/* A GPU's L2 as an agent of coherent memory, beside CPUs: what rights it gets, when, and what its having them costs the
 * CPUs. Every expected time is the sum of the parameters of coh_rig.h along the way that the table of hsc says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coh_rig.h"
#include "time/coh/coh_asker.h"

enum { CACHE = 3000, HOME = 2000, MEMORY = 30000, HOP = 2000, PS_PER_BYTE = 10, CYCLE = 1000, LINE = 3 };
enum { HEAD = COH_HEAD_BYTES * PS_PER_BYTE, DATA = (COH_HEAD_BYTES + COH_LINE_BYTES) * PS_PER_BYTE };
enum { START = 1000000 }; /* when the second of two does something: the first is done */

/* A core that does one thing. */
struct core {
  enum coh_type type;
  picos at, replied;
  bool given, done;
};

static picos core_cycle(void *self, struct coh_cache *c, struct coh_queue *replies, picos now, picos until, bool *did)
{
  struct core *k = self;
  const struct coh_msg op = {.type = k->type, .line = LINE, .mask = 0xff, .data = {7}, .from = COH_NO_NODE};
  (void)until;
  if (coh_queue_front(replies, now)) {
    k->done = *did = true;
    k->replied = now;
    coh_queue_pop(replies);
  }
  if (k->given) return TIME_NEVER;
  if (now < k->at) return k->at;
  k->given = *did = coh_cache_offer(c, &op, now);
  return TIME_NEVER;
}

static bool core_busy(const void *self)
{
  const struct core *k = self;
  return !k->done;
}

struct pair {
  struct core core;
  struct coh_asker asker;
  struct l2_rights rights;
  struct coh_agent agent[2];
  struct coh_rig *rig;
};

/* core: what it does, and when; ask: the GPU's, NULL: none. */
static void run_pair(struct pair *p, const char *protocol, const struct core *core, const struct l2_ask *ask)
{
  const struct rig_setup s = {.protocol = protocol, .cpus = 1, .gpus = 1, .homes = 1, .lines = 16, .places = 4,
                              .sets = 2, .ways = 2, .home_sets = 4, .home_ways = 2, .misses = 3, .beside = true,
                              .alone = true, .seed = 1};
  *p = (struct pair){.core = *core};
  p->agent[0] = (struct coh_agent){core_cycle, core_busy, &p->core};
  p->agent[1] = coh_asker_agent(&p->asker);
  p->rig = rig_new(&s, p->agent);
  l2_rights_open(&p->rights, 1);
  if (ask) coh_asker_push(&p->asker, ask);
  assert_int_equal(domain_run(p->rig->domain, TIME_NEVER, NULL), DOMAIN_IDLE);
  coh_asker_tell(&p->asker, &p->rights);
}

static void end_pair(struct pair *p)
{
  rig_free(p->rig);
  coh_asker_free(&p->asker);
  l2_rights_free(&p->rights);
}

static enum l2_right right_of(const struct pair *p)
{
  return coh_asker_right(coh_system_cache(p->rig->system, 1), LINE);
}

static const struct core nothing = {.type = COH_LOAD, .given = true, .done = true};

/* Nobody has the line: the home says that the GPU may, and memory's bytes do not come that way. */
static void memory_alone(void **state)
{
  (void)state;
  struct pair p;
  run_pair(&p, "hsc", &nothing, &(struct l2_ask){.at = 5000, .line = LINE});
  const struct l2_grant *g = l2_rights_granted(&p.rights, 0);
  assert_non_null(g);
  assert_int_equal(g->at, 5000 + CACHE + HOP + HEAD + HOME + HOP + HEAD + CACHE);
  assert_int_equal(g->line, LINE);
  assert_false(g->of_cache);
  assert_int_equal(right_of(&p), L2_RIGHT_WRITE); /* the only copy */
  end_pair(&p);
}

/* A core has stored to it: its cache gives the bytes, which memory has then. */
static void dirty_in_a_core(void **state)
{
  (void)state;
  static const struct core stores = {.type = COH_STORE};
  for (unsigned write = 0; write < 2; write++) {
    struct pair p;
    run_pair(&p, "hsc", &stores, &(struct l2_ask){.at = START, .line = LINE, .write = write});
    const struct l2_grant *g = l2_rights_granted(&p.rights, 0);
    assert_non_null(g);
    assert_int_equal(g->at, START + CACHE + HOP + HEAD + HOME + HOP + HEAD + CACHE + HOP + DATA + CACHE);
    assert_true(g->of_cache);
    assert_int_equal(g->write, write);
    assert_int_equal(right_of(&p), write ? L2_RIGHT_WRITE : L2_RIGHT_READ);
    assert_int_equal(p.rig->memory[LINE][0], 7);
    end_pair(&p);
  }
}

/* What a core pays for a line of the GPU's: a miss through the home, whose bytes the GPU's L2 gives. */
static void core_behind_the_gpu(void **state)
{
  (void)state;
  static const struct core loads = {.type = COH_LOAD, .at = START}, stores = {.type = COH_STORE, .at = START};
  struct pair p;
  const picos given = CACHE + HOP + HEAD + HOME + HOP + HEAD + CACHE + HOP + DATA + CACHE;
  run_pair(&p, "hsc", &loads, &(struct l2_ask){.at = 0, .line = LINE, .write = true});
  assert_int_equal(p.core.replied, START + given);
  assert_int_equal(right_of(&p), L2_RIGHT_READ);
  end_pair(&p);
  run_pair(&p, "hsc", &stores, &(struct l2_ask){.at = 0, .line = LINE, .write = true});
  assert_int_equal(p.core.replied, START + given);
  assert_int_equal(right_of(&p), L2_RIGHT_NONE); /* what L2 has of it is old */
  end_pair(&p);
  /* Nobody had it. */
  run_pair(&p, "hsc", &loads, NULL);
  assert_int_equal(p.core.replied, START + CACHE + HOP + HEAD + HOME + MEMORY + HOP + DATA + CACHE);
  end_pair(&p);
}

/* Under each protocol the GPU gets the bytes of a core that has stored, and the right that it asked for. */
static void all_protocols(void **state)
{
  (void)state;
  static const struct core stores = {.type = COH_STORE};
  for (unsigned k = 0; coh_protocol_names[k]; k++)
    for (unsigned write = 0; write < 2; write++) {
      struct pair p;
      run_pair(&p, coh_protocol_names[k], &stores, &(struct l2_ask){.at = START, .line = LINE, .write = write});
      const struct l2_grant *g = l2_rights_granted(&p.rights, 0);
      assert_non_null(g);
      assert_true(g->of_cache);
      assert_true(right_of(&p) >= (write ? L2_RIGHT_WRITE : L2_RIGHT_READ));
      assert_int_equal(p.rig->memory[LINE][0], 7);
      end_pair(&p);
    }
}

/* Letters: asks by time and slice, in the program's time; grants in the GPU's. */
static void see(void *ctx, const struct l2_ask *a)
{
  struct l2_ask **to = ctx;
  *(*to)++ = *a;
}

static void letters(void **state)
{
  (void)state;
  struct l2_rights r = {.skew = 1000};
  struct l2_ask got[4], *to = got;
  l2_rights_open(&r, 2);
  l2_rights_ask(&r, &(struct l2_ask){3000, 1, 1, false});
  l2_rights_ask(&r, &(struct l2_ask){2000, 2, 0, true});
  l2_rights_ask(&r, &(struct l2_ask){3000, 3, 0, false});
  l2_rights_take(&r, see, &to);
  assert_int_equal(to - got, 3);
  assert_int_equal(got[0].line, 2), assert_int_equal(got[0].at, 1000);
  assert_int_equal(got[1].line, 3), assert_int_equal(got[2].line, 1);
  l2_rights_take(&r, see, &to);
  assert_int_equal(to - got, 3);
  l2_rights_grant(&r, 0, &(struct l2_grant){.at = 900, .line = 8}); /* of one cache, then of the next */
  l2_rights_grant(&r, 0, &(struct l2_grant){.at = 500, .line = 9});
  assert_int_equal(l2_rights_granted(&r, 0)->at, 1500);
  assert_null(l2_rights_granted(&r, 1));
  l2_rights_pop(&r, 0);
  assert_int_equal(l2_rights_granted(&r, 0)->line, 8);
  l2_rights_pop(&r, 0);
  assert_null(l2_rights_granted(&r, 0));
  l2_rights_free(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(memory_alone), cmocka_unit_test(dirty_in_a_core), cmocka_unit_test(core_behind_the_gpu),
    cmocka_unit_test(all_protocols), cmocka_unit_test(letters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
