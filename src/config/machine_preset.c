#include "config/machine_preset.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/nearest.h"
#include "base/settings.h"
#include "config/presets.h"

const char *const link_kind_name[LINK__N] = {
#define X(id, name) name,
    LINK_KIND_LIST(X)
#undef X
};

static const char *const atomics_name[LINK_ATOMICS__N] = {"none", "pcie", "all"};

/* --- keys --------------------------------------------------------------------------------------- */

enum field_kind { FIELD_INT, FIELD_BOOL, FIELD_CHOICE, FIELD_TEXT };

/* A key of a group: where its value goes. */
struct field {
  const char *key;
  enum field_kind kind;
  size_t offset;
  uint32_t min, max; /* FIELD_INT; FIELD_TEXT: room */
  const char *const *choice;
  unsigned n_choices;
  bool optional;
};

#define INT(key, type, member, min, max) {key, FIELD_INT, offsetof(type, member), min, max, NULL, 0, false}
#define CHOICE(key, type, member, names, n) {key, FIELD_CHOICE, offsetof(type, member), 0, 0, names, n, false}

static const struct field host_fields[] = {
    INT("sockets", struct machine_preset, n_sockets, 1, MACHINE_MAX_SOCKETS),
    INT("memory_mib", struct machine_preset, memory_mib, 1, 1u << 30),
    INT("memory_mbps", struct machine_preset, memory_mbps, 1, 100000000),
    INT("memory_latency_ns", struct machine_preset, memory_latency_ns, 1, 1000000),
};

static const struct field switch_fields[] = {
    INT("count", struct switch_params, count, 1, MACHINE_MAX_SWITCHES),
    INT("latency_ns", struct switch_params, latency_ns, 1, 1000000),
    {"multicast", FIELD_INT, offsetof(struct switch_params, multicast), 1, 65536, NULL, 0, true},
};

static const struct field link_fields[] = {
    CHOICE("kind", struct link_params, kind, link_kind_name, LINK__N),
    INT("lanes", struct link_params, lanes, 1, 64),
    INT("mbps", struct link_params, mbps, 1, 10000000),
    {"back_mbps", FIELD_INT, offsetof(struct link_params, back_mbps), 1, 10000000, NULL, 0, true},
    INT("latency_ns", struct link_params, latency_ns, 1, 1000000),
    INT("packet_bytes", struct link_params, packet_bytes, 32, 65536),
    INT("overhead_bytes", struct link_params, overhead_bytes, 0, 65536),
    {"copy_packet_bytes", FIELD_INT, offsetof(struct link_params, copy_packet_bytes), 32, 65536, NULL, 0, true},
    {"ack_bytes", FIELD_INT, offsetof(struct link_params, ack_bytes), 1, 65536, NULL, 0, true},
    INT("credits", struct link_params, credits, 1, 1u << 20),
    INT("reads", struct link_params, reads, 1, 1u << 20),
    {"peer", FIELD_BOOL, offsetof(struct link_params, peer), 0, 0, NULL, 0, false},
    CHOICE("atomics", struct link_params, atomics, atomics_name, LINK_ATOMICS__N),
};

#define CPU_INT(key, least, most) INT(#key, struct cpu_params, key, least, most),
#define CPU_CHOICE(key, names, n) CHOICE(#key, struct cpu_params, key, names, n),
static const struct field cpu_fields[] = {
#include "config/cpu_params.def"
};
#undef CPU_CHOICE
#undef CPU_INT

enum {
  N_CPU = sizeof cpu_fields / sizeof *cpu_fields,
  N_HOST = sizeof host_fields / sizeof *host_fields,
  N_SWITCH = sizeof switch_fields / sizeof *switch_fields,
  N_LINK = sizeof link_fields / sizeof *link_fields
};

/* --- reading ------------------------------------------------------------------------------------ */

enum { KEY_MAX = 128, ENDS_MAX = 1024 };

struct reader {
  struct machine_preset *m;
  const char *path, *dir;
  struct err *e;
};

static bool fail_at(struct reader *r, const config_setting_t *s, const char *key, const char *why)
{
  return err_set(r->e, "%s:%d: %s: %s", r->path, config_setting_source_line(s), key, why);
}

/* s is (value, "tag: text"): its value, noted with its source. NULL: it is not. */
static const config_setting_t *sourced(struct reader *r, const config_setting_t *s, const char *key)
{
  const config_setting_t *tag = config_setting_is_list(s) ? config_setting_get_elem(s, 1) : NULL;
  const char *source = tag ? config_setting_get_string(tag) : NULL;
  if (!source || config_setting_length(s) != 2)
    return fail_at(r, s, key, "must be (value, \"source tag: text\")"), NULL;
  if (!preset_source_known(source))
    return fail_at(r, s, key, "its source must start with doc:, ubench:, paper:, fit: or guess"), NULL;
  const config_setting_t *v = config_setting_get_elem(s, 0);
  const char *text = config_setting_get_string(v);
  char number[32];
  if (!text) {
    long long n = config_setting_get_int64(v);
    if (config_setting_type(v) == CONFIG_TYPE_BOOL) text = config_setting_get_bool(v) ? "true" : "false";
    else snprintf(number, sizeof number, "%lld", n), text = number;
  }
  struct machine_preset *m = r->m;
  m->value = mem_more(m->value, m->n_values, &m->values_room, sizeof *m->value);
  m->value[m->n_values++] = (struct machine_value){arena_strdup(&m->memory, key), arena_strdup(&m->memory, text),
                                                   arena_strdup(&m->memory, source),
                                                   (int)config_setting_source_line(s)};
  return v;
}

static bool set_int(struct reader *r, const config_setting_t *s, const char *key, const struct field *f, uint32_t *to,
                    const config_setting_t *v)
{
  int type = config_setting_type(v);
  if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64) return fail_at(r, s, key, "must be an integer");
  long long n = config_setting_get_int64(v);
  if (n < (long long)f->min || n > (long long)f->max) {
    char why[80];
    snprintf(why, sizeof why, "%lld is out of range %u to %u", n, f->min, f->max);
    return fail_at(r, s, key, why);
  }
  *to = (uint32_t)n;
  return true;
}

static bool set_choice(struct reader *r, const config_setting_t *s, const char *key, const struct field *f,
                       uint32_t *to, const config_setting_t *v)
{
  const char *name = config_setting_get_string(v);
  for (unsigned i = 0; name && i < f->n_choices; i++)
    if (strcmp(f->choice[i], name) == 0) return *to = i, true;
  char why[160];
  size_t n = (size_t)snprintf(why, sizeof why, "must be");
  for (unsigned i = 0; i < f->n_choices && n < sizeof why; i++)
    n += (size_t)snprintf(why + n, sizeof why - n, "%s \"%s\"", i ? " or" : "", f->choice[i]);
  return fail_at(r, s, key, why);
}

static bool set_field(struct reader *r, const config_setting_t *s, const char *key, const struct field *f, void *into)
{
  const config_setting_t *v = sourced(r, s, key);
  void *to = (char *)into + f->offset;
  if (!v) return false;
  switch (f->kind) {
  case FIELD_INT: return set_int(r, s, key, f, to, v);
  case FIELD_CHOICE: return set_choice(r, s, key, f, to, v);
  case FIELD_BOOL:
    if (config_setting_type(v) != CONFIG_TYPE_BOOL) return fail_at(r, s, key, "must be true or false");
    *(bool *)to = config_setting_get_bool(v);
    return true;
  case FIELD_TEXT: break;
  }
  return false;
}

static bool unknown_key(struct reader *r, const config_setting_t *s, const char *key, const struct field *f, unsigned n)
{
  char hint[NEAREST_HINT], why[NEAREST_HINT + 16];
  struct nearest near;
  const char *name = config_setting_name(s);
  nearest_start(&near, name ? name : "");
  for (unsigned i = 0; i < n; i++) nearest_offer(&near, f[i].key);
  snprintf(why, sizeof why, "unknown key%s", nearest_hint(&near, hint));
  return fail_at(r, s, key, why);
}

static bool key_of(struct reader *r, const config_setting_t *s, const char *prefix, char key[KEY_MAX])
{
  const char *name = config_setting_name(s);
  if ((size_t)snprintf(key, KEY_MAX, "%s.%s", prefix, name) < KEY_MAX) return true;
  return fail_at(r, s, prefix, "key too long");
}

/* All fields of a group; other: a key of another form that the group must have, NULL: none. */
static bool read_fields(struct reader *r, const config_setting_t *g, const char *prefix, const struct field *f,
                        unsigned n, void *into, const char *other, const config_setting_t **found)
{
  uint64_t seen = 0;
  char key[KEY_MAX];
  if (!config_setting_is_group(g)) return fail_at(r, g, prefix, "must be a group");
  for (int i = 0; i < config_setting_length(g); i++) {
    const config_setting_t *s = config_setting_get_elem(g, (unsigned)i);
    const char *name = config_setting_name(s);
    TRY(key_of(r, s, prefix, key));
    if (other && strcmp(name, other) == 0) {
      *found = s;
      continue;
    }
    unsigned k = 0;
    while (k < n && strcmp(f[k].key, name) != 0) k++;
    if (k == n) return unknown_key(r, s, key, f, n);
    TRY(set_field(r, s, key, &f[k], into));
    seen |= (uint64_t)1 << k;
  }
  for (unsigned k = 0; k < n; k++)
    if (!(seen >> k & 1) && !f[k].optional)
      return err_set(r->e, "%s:%d: %s.%s: missing", r->path, config_setting_source_line(g), prefix, f[k].key);
  if (other && !*found)
    return err_set(r->e, "%s:%d: %s.%s: missing", r->path, config_setting_source_line(g), prefix, other);
  return true;
}

/* --- GPUs --------------------------------------------------------------------------------------- */

static const struct field gpu_fields[] = {INT("count", struct machine_preset, n_gpus, 1, MACHINE_MAX_GPUS)};

/* The i-th of the names behind commas; "": there are fewer. */
static void nth_name(const char *list, unsigned i, char name[PARAM_TEXT_MAX])
{
  while (i-- && list) list = (list = strchr(list, ',')) ? list + 1 : NULL;
  *name = '\0';
  if (!list) return;
  list += strspn(list, " ");
  size_t n = strcspn(list, ", ");
  snprintf(name, PARAM_TEXT_MAX, "%.*s", (int)(n < PARAM_TEXT_MAX ? n : PARAM_TEXT_MAX - 1), list);
}

static bool load_gpu(struct reader *r, const config_setting_t *s, unsigned i)
{
  struct machine_preset *m = r->m;
  for (unsigned k = 0; k < i; k++)
    if (strcmp(m->gpu[k], m->gpu[i]) == 0) return m->params[i] = m->params[k], true;
  struct err why;
  if (strchr(m->gpu[i], '/')) return fail_at(r, s, "gpu.preset", "must name presets");
  if (!params_load(m->gpu[i], r->dir, &m->params[i], &why)) return fail_at(r, s, "gpu.preset", why.msg);
  return true;
}

static bool read_gpus(struct reader *r, const config_setting_t *g)
{
  const config_setting_t *s = NULL;
  struct machine_preset *m = r->m;
  TRY(read_fields(r, g, "gpu", gpu_fields, 1, m, "preset", &s));
  const config_setting_t *v = sourced(r, s, "gpu.preset");
  TRY(v);
  const char *list = config_setting_get_string(v);
  if (!list) return fail_at(r, s, "gpu.preset", "must name presets");
  unsigned names = 1;
  for (const char *c = list; *c; c++) names += *c == ',';
  if (names != 1 && names != m->n_gpus) return fail_at(r, s, "gpu.preset", "must name one preset, or one for each GPU");
  for (unsigned i = 0; i < m->n_gpus; i++) nth_name(list, names == 1 ? 0 : i, m->gpu[i]);
  return true;
}

/* Last of all, for it takes the longest. */
static bool load_gpus(struct reader *r, const config_setting_t *g)
{
  const config_setting_t *s = config_setting_get_member(g, "preset");
  r->m->params = ARENA_ARRAY(&r->m->memory, struct params, r->m->n_gpus);
  for (unsigned i = 0; i < r->m->n_gpus; i++) TRY(load_gpu(r, s, i));
  return true;
}

/* --- CPU ---------------------------------------------------------------------------------------- */

static bool read_cpu(struct reader *r, const config_setting_t *g)
{
  struct cpu_params *c = &r->m->cpu;
  const char *key;
  char whole[KEY_MAX];
  if (!g) return true;
  _Static_assert(N_CPU <= 64, "read_fields notes them in 64 bits");
  TRY(read_fields(r, g, "cpu", cpu_fields, N_CPU, c, NULL, NULL));
  const char *why = cpu_params_check(c, &key);
  if (why) {
    snprintf(whole, sizeof whole, "cpu.%s", key);
    return fail_at(r, config_setting_get_member(g, key), whole, why);
  }
  return r->m->has_cpu = true;
}

/* --- switches and links ------------------------------------------------------------------------- */

static bool group_name(struct reader *r, const config_setting_t *s, const char *of, char name[MACHINE_NAME_MAX])
{
  const char *n = config_setting_name(s);
  if (!n || strlen(n) >= MACHINE_NAME_MAX) return fail_at(r, s, of, "the name of a group is too long");
  if (isdigit((unsigned char)n[strlen(n) - 1])) return fail_at(r, s, n, "the name of a group ends with a letter");
  strcpy(name, n);
  return true;
}

static bool read_switch(struct reader *r, const config_setting_t *s)
{
  struct machine_preset *m = r->m;
  struct switch_params *x = &m->switches[m->n_switch_groups];
  char key[KEY_MAX];
  TRY(group_name(r, s, "switch", x->name) && key_of(r, s, "switch", key));
  if (strcmp(x->name, "gpu") == 0 || strcmp(x->name, "cpu") == 0) return fail_at(r, s, key, "names other nodes");
  TRY(read_fields(r, s, key, switch_fields, N_SWITCH, x, NULL, NULL));
  m->n_switch_groups++;
  m->n_switches += x->count;
  return m->n_switches <= MACHINE_MAX_SWITCHES || fail_at(r, s, key, "too many switches (at most 64)");
}

/* The first node that is called so; how many there are. False: none. */
static bool nodes_called(const struct machine_preset *m, const char *name, size_t n, unsigned *first, unsigned *count)
{
  unsigned at = m->n_gpus + m->n_sockets;
  *first = 0, *count = m->n_gpus;
  if (n == 3 && strncmp(name, "gpu", n) == 0) return true;
  *first = m->n_gpus, *count = m->n_sockets;
  if (n == 3 && strncmp(name, "cpu", n) == 0) return true;
  for (unsigned i = 0; i < m->n_switch_groups; at += m->switches[i++].count) {
    if (strlen(m->switches[i].name) != n || strncmp(m->switches[i].name, name, n) != 0) continue;
    *first = at, *count = m->switches[i].count;
    return true;
  }
  return false;
}

/* A number of up to three digits; false: there is none. */
static bool small_number(const char **text, unsigned *n)
{
  unsigned digits = 0;
  for (*n = 0; isdigit((unsigned char)**text); (*text)++, digits++) {
    if (digits == 3) return false;
    *n = *n * 10 + (unsigned)(**text - '0');
  }
  return digits > 0;
}

/* "gpu0-3": adds its nodes to the set. */
static bool add_range(const struct machine_preset *m, const char **text, bool in[MACHINE_MAX_NODES])
{
  size_t n = 0;
  unsigned first, count, a, b;
  while (isalpha((unsigned char)(*text)[n]) || (*text)[n] == '_') n++;
  if (!n || !nodes_called(m, *text, n, &first, &count)) return false;
  *text += n;
  if (!small_number(text, &a)) return false;
  b = a;
  if (**text == '-') {
    ++*text;
    if (!small_number(text, &b)) return false;
  }
  if (a > b || b >= count) return false;
  for (unsigned i = a; i <= b; i++) in[first + i] = true;
  return true;
}

/* "gpu0-3,gpu5". */
static bool add_ranges(const struct machine_preset *m, const char **text, bool in[MACHINE_MAX_NODES])
{
  memset(in, 0, MACHINE_MAX_NODES * sizeof *in);
  *text += strspn(*text, " ");
  while (add_range(m, text, in)) {
    if (**text != ',') return true;
    ++*text;
  }
  return false;
}

static const char *join(struct machine_preset *m, unsigned a, unsigned b)
{
  if (a == b) return "joins a node with itself";
  if (m->n_links == MACHINE_MAX_LINKS) return "too many links (at most 1024)";
  for (unsigned i = 0; i < m->n_links; i++) {
    const struct machine_link *l = &m->links[i];
    if (l->group == m->n_link_groups && (l->end[0] == a ? l->end[1] == b : l->end[1] == a && l->end[0] == b))
      return "joins two nodes twice";
  }
  m->links[m->n_links++] = (struct machine_link){{(uint16_t)a, (uint16_t)b}, (uint16_t)m->n_link_groups};
  return NULL;
}

/* NULL: done; else what is wrong. */
static const char *join_all(struct machine_preset *m, const char *text)
{
  bool a[MACHINE_MAX_NODES], b[MACHINE_MAX_NODES];
  for (;;) {
    if (!add_ranges(m, &text, a) || *text != ' ' || !add_ranges(m, &text, b)) break;
    for (unsigned i = 0; i < machine_nodes(m); i++)
      for (unsigned k = 0; a[i] && k < machine_nodes(m); k++) {
        const char *why = b[k] ? join(m, i, k) : NULL;
        if (why) return why;
      }
    text += strspn(text, " ");
    if (!*text) return NULL;
    if (*text++ != ';') break;
  }
  return "must be two lists of nodes that there are, as \"gpu0-3 nvswitch0,nvswitch1\", and further ones behind ';'";
}

static bool read_link(struct reader *r, const config_setting_t *s)
{
  struct machine_preset *m = r->m;
  struct link_params *l = &m->link[m->n_link_groups];
  const config_setting_t *ends = NULL, *v;
  char key[KEY_MAX], ends_key[KEY_MAX + 8];
  TRY(group_name(r, s, "link", l->name) && key_of(r, s, "link", key));
  TRY(read_fields(r, s, key, link_fields, N_LINK, l, "ends", &ends));
  if (!l->back_mbps) l->back_mbps = l->mbps;
  if (!l->copy_packet_bytes) l->copy_packet_bytes = l->packet_bytes;
  snprintf(ends_key, sizeof ends_key, "%s.ends", key);
  TRY(v = sourced(r, ends, ends_key));
  const char *text = config_setting_get_string(v);
  if (!text || strlen(text) > ENDS_MAX) return fail_at(r, ends, ends_key, "must be a text of at most 1024 characters");
  l->ends = arena_strdup(&m->memory, text);
  const char *why = join_all(m, text);
  if (why) return fail_at(r, ends, ends_key, why);
  m->n_link_groups++;
  return true;
}

static bool read_groups(struct reader *r, const config_setting_t *g, const char *name, const unsigned *n,
                        bool (*read)(struct reader *, const config_setting_t *))
{
  if (!g) return true;
  if (!config_setting_is_group(g)) return fail_at(r, g, name, "must be a group");
  for (int i = 0; i < config_setting_length(g); i++) {
    if (*n == MACHINE_MAX_KINDS) return fail_at(r, g, name, "too many groups (at most 16)");
    TRY(read(r, config_setting_get_elem(g, (unsigned)i)));
  }
  return true;
}

/* --- whole files -------------------------------------------------------------------------------- */

static bool known_groups(struct reader *r, const config_setting_t *root)
{
  static const char *const names[] = {"name", "gpu", "cpu", "host", "switch", "link"};
  for (int i = 0; i < config_setting_length(root); i++) {
    const config_setting_t *s = config_setting_get_elem(root, (unsigned)i);
    const char *name = config_setting_name(s);
    unsigned k = 0;
    while (k < sizeof names / sizeof *names && strcmp(names[k], name) != 0) k++;
    if (k == sizeof names / sizeof *names) return fail_at(r, s, name, "must be name, gpu, cpu, host, switch or link");
  }
  return true;
}

static bool read_name(struct reader *r, const config_setting_t *root)
{
  const config_setting_t *s = config_setting_get_member(root, "name"), *v;
  if (!s) return err_set(r->e, "%s:1: name: missing", r->path);
  TRY(v = sourced(r, s, "name"));
  const char *text = config_setting_get_string(v);
  if (!text || !*text || strlen(text) >= sizeof r->m->name)
    return fail_at(r, s, "name", "must be a text of 1 to 63 bytes");
  strcpy(r->m->name, text);
  return true;
}

/* Each GPU reaches a socket. */
static bool all_joined(struct reader *r)
{
  const struct machine_preset *m = r->m;
  bool near[MACHINE_MAX_NODES] = {false};
  near[m->n_gpus] = true; /* cpu0 */
  for (bool more = true; more;) {
    more = false;
    for (unsigned i = 0; i < m->n_links; i++) {
      const struct machine_link *l = &m->links[i];
      if (near[l->end[0]] == near[l->end[1]]) continue;
      near[l->end[0]] = near[l->end[1]] = more = true;
    }
  }
  char name[NODE_NAME_MAX];
  for (unsigned i = 0; i < machine_nodes(m); i++)
    if (!near[i])
      return err_set(r->e, "%s:1: %s is joined with no socket of the host", r->path, machine_node_name(m, i, name));
  return true;
}

static bool read_machine(void *ctx, config_t *c)
{
  struct reader *r = ctx;
  struct machine_preset *m = r->m;
  memory_need(MEMORY_OF_TEXT);
  TRY(settings_read(c, r->path, r->e));
  const config_setting_t *root = config_root_setting(c), *gpu = config_setting_get_member(root, "gpu"),
                         *host = config_setting_get_member(root, "host");
  TRY(known_groups(r, root) && read_name(r, root));
  if (!gpu || !host) return err_set(r->e, "%s:1: %s: missing", r->path, gpu ? "host" : "gpu");
  TRY(read_gpus(r, gpu) && read_fields(r, host, "host", host_fields, N_HOST, m, NULL, NULL));
  TRY(read_cpu(r, config_setting_get_member(root, "cpu")));
  TRY(read_groups(r, config_setting_get_member(root, "switch"), "switch", &m->n_switch_groups, read_switch));
  m->links = ARENA_ARRAY(&m->memory, struct machine_link, MACHINE_MAX_LINKS);
  TRY(read_groups(r, config_setting_get_member(root, "link"), "link", &m->n_link_groups, read_link));
  return all_joined(r) && load_gpus(r, gpu);
}

static const char *machine_hint(const char *name, const char *dir, char hint[NEAREST_HINT])
{
  struct arena a = {0};
  struct preset_names names = {.n = 0};
  struct nearest near;
  char gpu[PATH_MAX];
  snprintf(gpu, sizeof gpu, "%s/%s.cfg", dir, name);
  if (access(gpu, R_OK) == 0) return "; it is a GPU (--gpu)";
  nearest_start(&near, name);
  if (machines_list(dir, &a, &names, NULL))
    for (unsigned i = 0; i < names.n; i++) nearest_offer(&near, names.name[i]);
  arena_free(&a);
  return nearest_hint(&near, hint);
}

bool machine_load(const char *name, const char *dir, struct machine_preset *m, struct err *e)
{
  char path[PATH_MAX], hint[NEAREST_HINT];
  int n = settings_is_path(name) ? snprintf(path, sizeof path, "%s", name)
                                 : snprintf(path, sizeof path, "%s/machines/%s.cfg", dir, name);
  if (n < 0 || (size_t)n >= sizeof path) return err_set(e, "machine name '%.64s...' is too long", name);
  if (access(path, R_OK) != 0 && settings_is_path(name))
    return err_set(e, "%s: cannot read: %s; check the path", name, host_error());
  if (access(path, R_OK) != 0)
    return err_set(e, "no machine '%s' in %s/machines (warpstep machines lists them)%s", name, dir,
                   machine_hint(name, dir, hint));
  *m = (struct machine_preset){.n_gpus = 0};
  struct reader r = {.m = m, .path = path, .dir = dir, .e = e};
  bool ok = settings_with(read_machine, &r);
  if (!ok) machine_preset_free(m);
  return ok;
}

void machine_preset_free(struct machine_preset *m)
{
  mem_free(m->value);
  arena_free(&m->memory);
}

void machine_of_gpu(const char *preset, const struct params *p, struct machine_preset *m)
{
  enum { PACKET = 128, PLENTY = 1024 };
  *m = (struct machine_preset){.n_gpus = 1, .n_sockets = 1, .n_link_groups = 1, .n_links = 1};
  snprintf(m->name, sizeof m->name, "%s", p->name);
  snprintf(m->gpu[0], sizeof m->gpu[0], "%s", preset);
  m->params = ARENA_NEW(&m->memory, struct params);
  *m->params = *p;
  m->memory_mib = 1u << 16;
  m->memory_mbps = 2 * (p->pcie_h2d_mbps + p->pcie_d2h_mbps); /* never the bound */
  m->memory_latency_ns = 100;
  /* The rates of the preset are those of payload. */
  m->link[0] = (struct link_params){.name = "pcie", .ends = "gpu0 cpu0", .kind = LINK_PCIE, .lanes = 1,
                                    .mbps = p->pcie_d2h_mbps, .back_mbps = p->pcie_h2d_mbps, .latency_ns = 350,
                                    .packet_bytes = PACKET, .copy_packet_bytes = PACKET,
                                    .credits = PLENTY, .reads = PLENTY, .atomics = LINK_ATOMICS_PCIE};
  m->links = ARENA_NEW(&m->memory, struct machine_link);
  *m->links = (struct machine_link){{0, 1}, 0};
}

/* --- looking at it ------------------------------------------------------------------------------ */

const struct switch_params *machine_switch(const struct machine_preset *m, unsigned node)
{
  unsigned at = node - m->n_gpus - m->n_sockets, group = 0;
  while (at >= m->switches[group].count) at -= m->switches[group++].count;
  return &m->switches[group];
}

const char *machine_node_name(const struct machine_preset *m, unsigned node, char buf[NODE_NAME_MAX])
{
  unsigned number = node, before = m->n_gpus + m->n_sockets;
  const char *kind = "gpu";
  switch (machine_node_kind(m, node)) {
  case NODE_GPU: break;
  case NODE_SOCKET: kind = "cpu", number -= m->n_gpus; break;
  case NODE_SWITCH:
    kind = machine_switch(m, node)->name;
    for (unsigned i = 0; &m->switches[i] != machine_switch(m, node); i++) before += m->switches[i].count;
    number -= before;
  }
  snprintf(buf, NODE_NAME_MAX, "%s%u", kind, number);
  return buf;
}

void machine_write_resolved(FILE *f, const struct machine_preset *m)
{
  for (unsigned i = 0; i < m->n_values; i++) {
    const struct machine_value *v = &m->value[i];
    fprintf(f, "%-28s %-28s line %-4d %s\n", v->key, v->text, v->line, v->source);
  }
}

static int is_cfg(const struct dirent *d)
{
  size_t n = strlen(d->d_name);
  return n > 4 && strcmp(d->d_name + n - 4, ".cfg") == 0;
}

bool machines_list(const char *dir, struct arena *a, struct preset_names *out, struct err *e)
{
  char path[PATH_MAX];
  struct dirent **entry;
  if ((size_t)snprintf(path, sizeof path, "%s/machines", dir) >= sizeof path) return err_set(e, "%.64s: too long", dir);
  int n = scandir(path, &entry, is_cfg, alphasort);
  if (n < 0) return err_set(e, "%s: cannot be read: %s", path, host_error());
  *out = (struct preset_names){.name = ARENA_ARRAY(a, const char *, (size_t)n + 1)};
  for (int i = 0; i < n; i++) {
    char *name = arena_strdup(a, entry[i]->d_name);
    name[strlen(name) - strlen(".cfg")] = '\0';
    out->name[out->n++] = name;
    free(entry[i]);
  }
  free(entry);
  return true;
}
