/* Results: everything is copied when the launch has ended. */
#include <stdlib.h>
#include <string.h>

#include "api/api_internal.h"
#include "time/sm/hazard.h"
#include "view/hazards.h"
#include "view/json.h"

struct ws_result {
  struct heap *heap; /* of its own: it outlives the device; the result itself lies in it, too */
  struct arena arena;
  int end;
  uint64_t cycles, time_ps, warp_insts, thread_insts;
  size_t n_counters, n_places, n_hazards;
  struct ws_counter *counter;
  struct ws_place *place;
  struct ws_fault fault; /* kind WS_NO_FAULT: none */
  const char *hazards, *json;
  struct profile_rows profile;
};

_Static_assert((int)WS_ILLEGAL_ADDRESS == (int)FAULT_ILLEGAL_ADDRESS &&
               (int)WS_ASSERT == (int)FAULT_ASSERT, "same fault kinds, same order");

/* ---- making one ---- */

static void add_counter(ws_result *r, const char *group, const struct stat_desc *d, unsigned i,
                        uint64_t value)
{
  char name[200], number[16];
  const char *element = d->names ? d->names[i] : number;

  snprintf(number, sizeof number, "%u", i);
  if (d->kind == STAT_KIND_VEC) snprintf(name, sizeof name, "%s.%s.%s", group, d->name, element);
  else snprintf(name, sizeof name, "%s.%s", group, d->name);
  r->counter[r->n_counters++] = (struct ws_counter){
    sizeof(struct ws_counter), arena_strdup(&r->arena, name), d->unit, d->text, value};
}

/* Names, units and texts are constants of the library. */
static void copy_counters(ws_result *r, const struct sim_result *s)
{
  size_t n = 0;

  for (unsigned g = 0; g < s->n_groups; g++)
    for (unsigned k = 0; k < s->group[g].n; k++) n += s->group[g].desc[k].count;
  r->counter = ARENA_ARRAY(&r->arena, struct ws_counter, n + 1);
  for (unsigned g = 0; g < s->n_groups; g++)
    for (unsigned k = 0; k < s->group[g].n; k++) {
      const struct stat_desc *d = &s->group[g].desc[k];
      struct report_stat row = {d, s->group[g].data};
      for (unsigned i = 0; i < d->count; i++)
        add_counter(r, s->group[g].prefix, d, i, report_at(row, i));
    }
}

static const char *where_text(ws_result *r, const struct report *rep, uint64_t pc)
{
  char text[256];

  module_where(rep->module, pc, text, sizeof text);
  return arena_strdup(&r->arena, text);
}

static const char *inst_text(ws_result *r, const struct report *rep, uint64_t pc)
{
  char text[256];

  report_inst_text(rep, pc, text, sizeof text);
  return arena_strdup(&r->arena, text);
}

static void copy_places(ws_result *r, const struct report *rep, const struct positions *p)
{
  r->place = ARENA_ARRAY(&r->arena, struct ws_place, p->n + 1);
  for (unsigned i = 0; i < p->n; i++)
    r->place[r->n_places++] = (struct ws_place){
      sizeof(struct ws_place), where_text(r, rep, p->row[i].pc), inst_text(r, rep, p->row[i].pc),
      path_wait_name(p->row[i].wait), p->row[i].warps, p->row[i].lanes};
}

static void copy_fault(ws_result *r, const struct report *rep, const struct gmem *mem)
{
  const struct fault *f = rep->fault;
  char near[256] = "";

  if (f->kind == FAULT_ILLEGAL_ADDRESS) gmem_describe(mem, f->addr, near, sizeof near);
  r->fault = (struct ws_fault){
    .size = sizeof r->fault, .kind = f->kind, .kind_name = fault_kind_name(f->kind),
    .kernel = arena_strdup(&r->arena, rep->kernel->name), .where = where_text(r, rep, f->pc),
    .instruction = inst_text(r, rep, f->pc), .message = arena_strdup(&r->arena, f->text),
    .pc = f->pc, .address = f->addr, .near_allocation = arena_strdup(&r->arena, near),
  };
  memcpy(r->fault.cta, f->cta, sizeof r->fault.cta);
  memcpy(r->fault.thread, f->thread, sizeof r->fault.thread);
}

/* What is written to it is text. */
struct text_stream {
  FILE *f;
  char *text;
  size_t bytes;
};

static void end_stream(void *stream)
{
  struct text_stream *s = stream;

  if (s->f) fclose(s->f);
  free(s->text);
}

/* What `write` writes, as a string of the result. */
static const char *written(ws_result *r, const struct report *rep,
                           void (*write)(FILE *, const struct report *))
{
  struct text_stream *s = mem_zeroed(1, sizeof *s);

  heap_keep(s, end_stream);
  s->f = open_memstream(&s->text, &s->bytes);
  NO_MEMORY_IF(!s->f);
  write(s->f, rep);
  bool failed = fclose(s->f);
  s->f = NULL;
  NO_MEMORY_IF(failed);
  const char *copy = arena_strdup(&r->arena, s->text);
  heap_forget(s);
  end_stream(s);
  mem_free(s);
  return copy;
}

static void write_json(FILE *f, const struct report *rep)
{
  view_json_write(f, rep, false);
}

static void write_hazards(FILE *f, const struct report *rep)
{
  view_hazards_write(f, rep, false);
}

static int end_of(enum run_end end)
{
  switch (end) {
  case RUN_DONE: return WS_ENDED;
  case RUN_CYCLE_LIMIT: return WS_CYCLE_LIMIT;
  case RUN_INST_LIMIT: return WS_INSTRUCTION_LIMIT;
  case RUN_STOPPED: return WS_CANCELLED;
  case RUN_FAULT:
  case RUN_REFUSED: break;
  }
  return WS_FAULT;
}

struct making {
  const ws_kernel *k;
  const struct launch *launch;
  const struct sim_result *s;
  const struct ws_launch *l;
  ws_result *made;
};

static void copy_run(ws_result *r, const struct sim_result *s)
{
  r->end = end_of(s->end);
  r->cycles = s->cycles;
  r->time_ps = s->timed ? s->time_ps : 0;
  r->warp_insts = s->warp_insts;
  r->thread_insts = s->thread_insts;
}

static void make(void *ctx)
{
  struct making *m = ctx;
  const ws_device *d = m->k->module->device;
  ws_result *r = mem_zeroed(1, sizeof *r);
  struct report rep = {
    .gpu = d->preset_name, .preset = &d->preset, .launch = m->launch, .kernel = m->k->kernel,
    .module = m->k->part->module, .max_cycles = m->l->max_cycles, .max_insts = m->l->max_instructions,
  };

  report_result(&rep, m->s);
  copy_run(r, m->s);
  copy_counters(r, m->s);
  copy_places(r, &rep, m->s->where);
  if (rep.fault) copy_fault(r, &rep, d->device.mem);
  if (m->s->hazards) {
    r->n_hazards = m->s->hazards->n_findings;
    r->hazards = written(r, &rep, write_hazards);
  }
  if (m->l->flags & WS_PROFILE) profile_rows_copy(&r->profile, &r->arena, &rep);
  if (m->l->flags & WS_JSON) r->json = written(r, &rep, write_json);
  m->made = r;
}

ws_result *ws_result_new(const ws_kernel *k, const struct launch *launch,
                         const struct sim_result *s, const struct ws_launch *l)
{
  struct making m = {k, launch, s, l, NULL};
  struct heap *heap = heap_new();

  if (heap && memory_try(heap, make, &m)) {
    m.made->heap = heap;
    return m.made;
  }
  heap_free(heap);
  return NULL;
}

void ws_result_destroy(ws_result *r)
{
  if (r) heap_free(r->heap);
}

/* ---- questions ---- */

int ws_result_end(const ws_result *r)
{
  return r->end;
}

uint64_t ws_result_cycles(const ws_result *r)
{
  return r->cycles;
}

double ws_result_nanoseconds(const ws_result *r)
{
  return (double)r->time_ps / 1000;
}

uint64_t ws_result_instructions(const ws_result *r)
{
  return r->warp_insts;
}

uint64_t ws_result_thread_instructions(const ws_result *r)
{
  return r->thread_insts;
}

/* Element i of n to the caller's struct, `bytes` each. */
static int ws_give(const void *list, size_t bytes, size_t n, size_t i, void *out, ws_error *error)
{
  if (i >= n) return ws_fail(error, WS_NOT_FOUND, "there are only %zu", n);
  if (out && ws_struct_out(out, (const char *)list + i * bytes, bytes)) return WS_OK;
  return ws_fail(error, WS_BAD_ARGUMENT, "a struct has a size this library does not know");
}

size_t ws_result_counter_count(const ws_result *r)
{
  return r->n_counters;
}

int ws_result_counter_at(const ws_result *r, size_t i, struct ws_counter *out, ws_error *error)
{
  return ws_give(r->counter, sizeof *r->counter, r->n_counters, i, out, error);
}

int ws_result_counter(const ws_result *r, const char *name, uint64_t *value, ws_error *error)
{
  for (size_t i = 0; name && value && i < r->n_counters; i++)
    if (strcmp(r->counter[i].name, name) == 0) {
      *value = r->counter[i].value;
      return WS_OK;
    }
  return ws_fail(error, WS_NOT_FOUND, "no counter '%.200s'%s", name ? name : "",
                 r->n_counters ? "" : ": counters come from timed launches");
}

int ws_result_slot_at(const ws_result *r, size_t i, const char **name, uint64_t *slots,
                      ws_error *error)
{
  static const char prefix[] = "sm.slot.";

  for (size_t k = 0; k < r->n_counters; k++) {
    if (strncmp(r->counter[k].name, prefix, sizeof prefix - 1) != 0 || i-- > 0) continue;
    if (name) *name = r->counter[k].name + sizeof prefix - 1;
    if (slots) *slots = r->counter[k].value;
    return WS_OK;
  }
  return ws_fail(error, WS_NOT_FOUND, "there are not so many causes");
}

int ws_result_fault(const ws_result *r, struct ws_fault *out, ws_error *error)
{
  return ws_give(&r->fault, sizeof r->fault, r->fault.kind != WS_NO_FAULT, 0, out, error);
}

size_t ws_result_place_count(const ws_result *r)
{
  return r->n_places;
}

int ws_result_place_at(const ws_result *r, size_t i, struct ws_place *out, ws_error *error)
{
  return ws_give(r->place, sizeof *r->place, r->n_places, i, out, error);
}

size_t ws_result_hazard_count(const ws_result *r)
{
  return r->n_hazards;
}

const char *ws_result_hazard_report(const ws_result *r)
{
  return r->hazards;
}

const char *ws_result_json(const ws_result *r)
{
  return r->json;
}

size_t ws_result_profile_count(const ws_result *r)
{
  return r->profile.n;
}

int ws_result_profile_at(const ws_result *r, size_t i, struct ws_profile_row *out, ws_error *error)
{
  return ws_give(r->profile.row, sizeof *r->profile.row, r->profile.n, i, out, error);
}

size_t ws_result_state_count(const ws_result *r)
{
  return r->profile.n_states;
}

const char *ws_result_state_name(const ws_result *r, size_t k)
{
  return k < r->profile.n_states ? r->profile.name[k] : NULL;
}

uint64_t ws_result_profile_state(const ws_result *r, size_t i, size_t k)
{
  const struct profile_rows *p = &r->profile;

  return i < p->n && k < p->n_states ? p->state[i * p->n_states + k] : 0;
}
