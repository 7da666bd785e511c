#include "ncu/ncu_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/host_memory.h"
#include "base/json_out.h"
#include "base/text.h"

#define SCHEMA "warpstep-ncu-2"
enum { CHECKSUM = 16, SAFE = 4096, NOWHERE = UINT32_MAX, SHARED = 1, GLOBAL = 2, LOCAL = 4 };

/* An instruction is an array: what every one has, its text, its cycles by state (state, cycles, state, cycles …; the
 * others are 0), and, if it has any, what it did to memory. */
enum { COMMON = 9, TEXT = COMMON, STATES, MEMORY, MEMORY_FIELDS = 4 };

static const char *const domain_name[] = {
#define X(id, name) name,
    NCU_DOMAIN_LIST(X)
#undef X
};

/* --- writing ------------------------------------------------------------------------------------ */

static void put_text(struct json_out *j, const char *key, const char *s)
{
  char safe[SAFE];
  json_out_text(j, key, text_safe(s, safe, sizeof safe));
}

static void put_number(struct json_out *j, double v)
{
  if (v == floor(v) && v >= 0 && v < 1e15)
    json_out_u64(j, NULL, (uint64_t)v);
  else
    json_out_real(j, NULL, v);
}

static void put_triple(struct json_out *j, const char *key, const uint32_t v[3])
{
  json_out_array(j, key);
  for (unsigned i = 0; i < 3; i++) json_out_u64(j, NULL, v[i]);
  json_out_end(j);
}

static void put_numbers(struct json_out *j, const char *key, const double v[4])
{
  json_out_array(j, key);
  for (unsigned i = 0; i < 4; i++) put_number(j, v[i]);
  json_out_end(j);
}

/* Null: not known; a number: only the sum is. The name is that of the row. */
static void put_value(struct json_out *j, const struct ncu_value *v)
{
  if (isfinite(v->peak) || isfinite(v->least) || isfinite(v->most))
    put_numbers(j, NULL, (const double[4]){v->sum, v->peak, v->least, v->most});
  else
    put_number(j, v->sum);
}

static void put_values(struct json_out *j, const struct ncu_action *a)
{
  json_out_array(j, "values");
  for (unsigned i = 0; i < NCU_N_ROWS; i++) put_value(j, &a->value[i]);
  json_out_end(j);
}

static void put_domains(struct json_out *j, const struct ncu_action *a)
{
  json_out_object(j, "domains");
  for (unsigned i = 0; i < NCU_DOMAIN__N; i++) {
    const struct ncu_domain_state *d = &a->domain[i];
    put_numbers(j, domain_name[i], (const double[4]){d->instances, d->elapsed, d->active, d->hz});
  }
  json_out_end(j);
}

static void put_counts(struct json_out *j, const uint64_t *n, unsigned count)
{
  for (unsigned i = 0; i < count; i++) json_out_u64(j, NULL, n[i]);
}

static void put_inst(struct json_out *j, const struct ncu_inst *in)
{
  const unsigned spaces = (in->shared ? SHARED : 0u) | (in->global ? GLOBAL : 0u) | (in->local ? LOCAL : 0u);
  const uint64_t common[COMMON] = {
      in->pc, in->section, in->line ? in->file : NOWHERE, in->line, spaces, in->op, in->bytes, in->issued, in->threads};
  const uint64_t memory[MEMORY_FIELDS] = {in->sectors, in->excess, in->passes, in->conflicts};
  json_out_array(j, NULL);
  put_counts(j, common, COMMON);
  put_text(j, NULL, in->text);
  json_out_array(j, NULL);
  for (unsigned i = 0; i < WARP_STATE__N; i++)
    if (in->state[i]) put_counts(j, (const uint64_t[2]){i, in->state[i]}, 2);
  json_out_end(j);
  if (in->sectors | in->passes) {
    json_out_array(j, NULL);
    put_counts(j, memory, MEMORY_FIELDS);
    json_out_end(j);
  }
  json_out_end(j);
}

static void put_code(struct json_out *j, const struct ncu_action *a)
{
  json_out_array(j, "files");
  for (uint32_t i = 0; i < a->n_files; i++) {
    json_out_array(j, NULL);
    put_text(j, NULL, a->file[i].folder);
    put_text(j, NULL, a->file[i].name);
    json_out_end(j);
  }
  json_out_end(j);
  json_out_array(j, "sections");
  for (uint32_t i = 0; i < a->n_sections; i++) put_text(j, NULL, a->section[i]);
  json_out_end(j);
  json_out_array(j, "insts");
  for (uint32_t i = 0; i < a->n_insts; i++) put_inst(j, &a->inst[i]);
  json_out_end(j);
}

static void checksum_text(char text[CHECKSUM + 1], uint64_t sum)
{
  snprintf(text, CHECKSUM + 1, "%016" PRIx64, sum);
}

/* "CHECKSUM JSON\n": begun, with the object open, and ended. */
static void begin_line(struct text_out *t, struct json_out *j)
{
  text_out_open(t, NULL);
  memset(text_out_room(t, CHECKSUM + 1), ' ', CHECKSUM + 1);
  t->n = CHECKSUM + 1;
  json_out_open(j, t, (struct json_form){.digits = 17});
  json_out_object(j, NULL);
}

static void end_line(struct text_out *t, struct json_out *j)
{
  char checksum[CHECKSUM + 1];
  json_out_end(j);
  checksum_text(checksum, checksum64(t->data + CHECKSUM + 1, t->n - CHECKSUM - 1));
  memcpy(t->data, checksum, CHECKSUM);
  text_out_char(t, '\n');
}

struct text_out ncu_report_line(const struct ncu_action *a)
{
  struct text_out t;
  struct json_out j;
  begin_line(&t, &j);
  put_text(&j, "process", a->process);
  put_text(&j, "kernel", a->kernel);
  put_text(&j, "gpu", a->gpu);
  json_out_u64(&j, "pid", a->pid);
  json_out_u64(&j, "context", a->context);
  json_out_u64(&j, "stream", a->stream);
  json_out_u64(&j, "cc", a->cc);
  put_triple(&j, "grid", a->grid);
  put_triple(&j, "block", a->block);
  put_domains(&j, a);
  put_values(&j, a);
  if (a->n_insts) put_code(&j, a);
  end_line(&t, &j);
  return t;
}

/* Of the names of all rows: values stand in that order, without them. */
static void checksum_of_rows(char text[CHECKSUM + 1])
{
  uint64_t sum = CHECKSUM64_EMPTY;
  for (unsigned i = 0; i < NCU_N_ROWS; i++) {
    const char *name = ncu_metric_row(i)->name;
    sum = checksum64_more(sum, name, strlen(name) + 1);
  }
  checksum_text(text, sum);
}

static struct text_out header_line(const struct ncu_choice *c, size_t launches)
{
  struct text_out t;
  struct json_out j;
  char rows[CHECKSUM + 1];
  checksum_of_rows(rows);
  begin_line(&t, &j);
  json_out_text(&j, "schema", SCHEMA);
  json_out_text(&j, "rows", rows);
  json_out_u64(&j, "launches", launches);
  json_out_array(&j, "sections");
  for (unsigned i = 0; i < ncu_n_sections; i++)
    if (c->section[i]) json_out_text(&j, NULL, ncu_sections[i].id);
  json_out_end(&j);
  json_out_array(&j, "metrics");
  for (size_t i = 0; i < c->n; i++) put_text(&j, NULL, c->metric[i].name);
  json_out_end(&j);
  end_line(&t, &j);
  return t;
}

bool ncu_report_write(FILE *f, const struct ncu_report *r)
{
  for (size_t i = 0; i <= r->n; i++) {
    struct text_out line = i ? ncu_report_line(&r->action[i - 1]) : header_line(&r->choice, r->n);
    const bool ok = fwrite(line.data, 1, line.n, f) == line.n;
    text_out_close(&line);
    if (!ok) return false;
  }
  return true;
}

/* --- reading ------------------------------------------------------------------------------------ */

/* What is being read, for messages. */
struct source {
  const char *path;
  size_t line;
  uint64_t launches; /* that it says it has */
  struct err *e;
};

static bool bad(const struct source *s, const char *what)
{
  return err_set(s->e, "%s:%zu: %s; make the report again", s->path, s->line, what);
}

static double to_double(const json_t *v)
{
  return json_is_number(v) ? json_number_value(v) : NAN;
}

static bool to_count(const json_t *v, uint64_t most, uint64_t *n)
{
  if (!json_is_integer(v) || json_integer_value(v) < 0) return false;
  *n = (uint64_t)json_integer_value(v);
  return *n <= most;
}

static bool to_u32(const json_t *v, uint32_t *n)
{
  uint64_t x;
  if (!to_count(v, UINT32_MAX, &x)) return false;
  *n = (uint32_t)x;
  return true;
}

static bool to_triple(const json_t *v, uint32_t out[3])
{
  if (json_array_size(v) != 3) return false;
  for (unsigned i = 0; i < 3; i++) TRY(to_u32(json_array_get(v, i), &out[i]));
  return true;
}

static bool to_text(struct arena *a, const json_t *v, const char **out)
{
  char safe[SAFE];
  if (!json_is_string(v)) return false;
  *out = arena_strdup(a, text_safe(json_string_value(v), safe, sizeof safe));
  return true;
}

static bool read_identity(struct ncu_action *a, const json_t *o)
{
  uint64_t cc;
  TRY(to_text(&a->arena, json_object_get(o, "process"), &a->process) &&
      to_text(&a->arena, json_object_get(o, "kernel"), &a->kernel) &&
      to_text(&a->arena, json_object_get(o, "gpu"), &a->gpu));
  TRY(to_count(json_object_get(o, "pid"), INT64_MAX, &a->pid) &&
      to_count(json_object_get(o, "context"), INT64_MAX, &a->context) &&
      to_count(json_object_get(o, "stream"), INT64_MAX, &a->stream) && to_count(json_object_get(o, "cc"), 999, &cc));
  a->cc = (unsigned)cc;
  return to_triple(json_object_get(o, "grid"), a->grid) && to_triple(json_object_get(o, "block"), a->block);
}

static struct ncu_value to_value(const json_t *v)
{
  if (!json_is_array(v)) return (struct ncu_value){to_double(v), NAN, NAN, NAN};
  return (struct ncu_value){to_double(json_array_get(v, 0)), to_double(json_array_get(v, 1)),
                            to_double(json_array_get(v, 2)), to_double(json_array_get(v, 3))};
}

static bool read_numbers(struct ncu_action *a, const json_t *o)
{
  const json_t *domains = json_object_get(o, "domains"), *values = json_object_get(o, "values");
  TRY(json_is_object(domains) && json_array_size(values) == NCU_N_ROWS);
  for (unsigned i = 0; i < NCU_DOMAIN__N; i++) {
    const json_t *v = json_object_get(domains, domain_name[i]);
    a->domain[i] = (struct ncu_domain_state){to_double(json_array_get(v, 0)), to_double(json_array_get(v, 1)),
                                             to_double(json_array_get(v, 2)), to_double(json_array_get(v, 3))};
  }
  for (unsigned i = 0; i < NCU_N_ROWS; i++) a->value[i] = to_value(json_array_get(values, i));
  return true;
}

static bool to_counts(const json_t *v, unsigned count, uint64_t *n)
{
  for (unsigned i = 0; i < count; i++) TRY(to_count(json_array_get(v, i), INT64_MAX, &n[i]));
  return true;
}

static bool read_states(const json_t *v, uint64_t state[WARP_STATE__N])
{
  const size_t n = json_array_size(v);
  if (!json_is_array(v) || n % 2 || n > 2 * WARP_STATE__N) return false;
  for (size_t i = 0; i < n; i += 2) {
    uint64_t s;
    TRY(to_count(json_array_get(v, i), WARP_STATE__N - 1, &s) &&
        to_count(json_array_get(v, i + 1), INT64_MAX, &state[s]));
  }
  return true;
}

static bool read_memory(const json_t *v, struct ncu_inst *in)
{
  uint64_t n[MEMORY_FIELDS];
  TRY(json_array_size(v) == MEMORY_FIELDS && to_counts(v, MEMORY_FIELDS, n));
  in->sectors = n[0], in->excess = n[1], in->passes = n[2], in->conflicts = n[3];
  return in->excess <= in->sectors && in->conflicts <= in->passes;
}

static bool read_inst(struct ncu_action *a, const json_t *o, struct ncu_inst *in)
{
  uint64_t n[COMMON];
  const size_t fields = json_array_size(o);
  TRY((fields == MEMORY || fields == MEMORY + 1) && to_counts(o, COMMON, n) &&
      read_states(json_array_get(o, STATES), in->state));
  if (n[1] >= a->n_sections || n[2] > NOWHERE || n[3] > UINT32_MAX || (n[3] && n[2] >= a->n_files)) return false;
  in->pc = n[0];
  in->section = (uint32_t)n[1], in->file = (uint32_t)n[2], in->line = (uint32_t)n[3];
  in->shared = n[4] & SHARED, in->global = n[4] & GLOBAL, in->local = n[4] & LOCAL;
  in->op = (uint8_t)n[5], in->bytes = (uint8_t)n[6], in->issued = n[7], in->threads = n[8];
  return (fields == MEMORY || read_memory(json_array_get(o, MEMORY), in)) &&
         to_text(&a->arena, json_array_get(o, TEXT), &in->text);
}

static bool read_code(struct ncu_action *a, const json_t *o)
{
  const json_t *files = json_object_get(o, "files"), *sections = json_object_get(o, "sections");
  const json_t *insts = json_object_get(o, "insts");
  if (!insts) return true;
  a->n_files = (uint32_t)json_array_size(files);
  a->n_sections = (uint32_t)json_array_size(sections);
  a->n_insts = (uint32_t)json_array_size(insts);
  a->file = ARENA_ARRAY(&a->arena, struct ncu_file, a->n_files + 1);
  a->section = ARENA_ARRAY(&a->arena, const char *, a->n_sections + 1);
  a->inst = ARENA_ARRAY(&a->arena, struct ncu_inst, a->n_insts + 1);
  for (uint32_t i = 0; i < a->n_files; i++) {
    const json_t *f = json_array_get(files, i);
    TRY(to_text(&a->arena, json_array_get(f, 0), &a->file[i].folder) &&
        to_text(&a->arena, json_array_get(f, 1), &a->file[i].name));
  }
  for (uint32_t i = 0; i < a->n_sections; i++) TRY(to_text(&a->arena, json_array_get(sections, i), &a->section[i]));
  for (uint32_t i = 0; i < a->n_insts; i++) TRY(read_inst(a, json_array_get(insts, i), &a->inst[i]));
  return true;
}

static bool read_header(struct ncu_choice *c, const json_t *o, struct source *s)
{
  const char *schema = json_string_value(json_object_get(o, "schema"));
  const json_t *sections = json_object_get(o, "sections"), *metrics = json_object_get(o, "metrics");
  const char *theirs = json_string_value(json_object_get(o, "rows"));
  char rows[CHECKSUM + 1];
  checksum_of_rows(rows);
  if (!schema || strcmp(schema, SCHEMA) != 0) return bad(s, "not the header of a report of this version (" SCHEMA ")");
  if (!theirs || strcmp(theirs, rows) != 0) return bad(s, "of a version with other metrics");
  if (!to_count(json_object_get(o, "launches"), INT64_MAX, &s->launches))
    return bad(s, "does not say how many launches");
  for (size_t i = 0; i < json_array_size(sections); i++) {
    const char *id = json_string_value(json_array_get(sections, i));
    struct err e;
    if (!id || !strncmp(id, "regex:", 6) || !ncu_choice_section(c, id, &e)) return bad(s, "names an unknown section");
  }
  for (size_t i = 0; i < json_array_size(metrics); i++) {
    const char *name = json_string_value(json_array_get(metrics, i));
    char safe[SAFE];
    if (!name) return bad(s, "a metric has no name");
    ncu_choice_add(c, text_safe(name, safe, sizeof safe));
  }
  return true;
}

static bool read_launch(struct ncu_report *r, const json_t *o, const struct source *s)
{
  if (r->n == r->cap) {
    r->cap = r->cap ? 2 * r->cap : 16;
    NO_MEMORY_IF(!(r->action = realloc(r->action, r->cap * sizeof *r->action)));
  }
  struct ncu_action *a = &r->action[r->n++];
  ncu_action_init(a);
  return (read_identity(a, o) && read_numbers(a, o) && read_code(a, o)) ||
         bad(s, "not a launch as reports of this version have them");
}

/* The JSON of a line that is whole, or NULL. */
static json_t *undamaged(const char *line, size_t n, const struct source *s)
{
  char sum[CHECKSUM + 1];
  if (n < CHECKSUM + 2 || line[n - 1] != '\n' || line[CHECKSUM] != ' ') return bad(s, "cut off, or not a report"), NULL;
  const char *body = line + CHECKSUM + 1;
  const size_t bytes = n - CHECKSUM - 2;
  checksum_text(sum, checksum64(body, bytes));
  if (memcmp(line, sum, CHECKSUM) != 0) return bad(s, "damaged, or not a report"), NULL;
  json_t *o = json_loadb(body, bytes, 0, NULL);
  if (!o) bad(s, "not JSON, or the host has no memory for it");
  return o;
}

static bool read_lines(FILE *f, struct ncu_report *r, struct source *s, bool header)
{
  char *line = NULL;
  size_t size = 0;
  bool ok = true;
  for (ssize_t n; ok && (n = getline(&line, &size, f)) > 0;) {
    s->line++;
    json_t *o = undamaged(line, (size_t)n, s);
    ok = o && (header && s->line == 1 ? read_header(&r->choice, o, s) : read_launch(r, o, s));
    json_decref(o);
  }
  free(line);
  if (ok && ferror(f)) return err_set(s->e, "%s: cannot be read: %s", s->path, host_error());
  if (!ok || !header) return ok;
  if (!s->line) return err_set(s->e, "%s: empty, not a report", s->path);
  return r->n == s->launches || err_set(s->e, "%s: cut off behind %zu of %llu launches; make the report again", s->path,
                                        r->n, (unsigned long long)s->launches);
}

bool ncu_report_read(FILE *f, const char *path, struct ncu_report *r, struct err *e)
{
  *r = (struct ncu_report){0};
  return read_lines(f, r, &(struct source){.path = path, .e = e}, true);
}

bool ncu_report_read_launches(FILE *f, const char *path, struct ncu_report *r, struct err *e)
{
  return read_lines(f, r, &(struct source){.path = path, .e = e}, false);
}

void ncu_report_free(struct ncu_report *r)
{
  for (size_t i = 0; i < r->n; i++) ncu_action_free(&r->action[i]);
  free(r->action);
  ncu_choice_free(&r->choice);
  *r = (struct ncu_report){0};
}
