#include "host/snapshot.h"
#include "host/casebuild.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

#define BUFFER_LIMIT (UINT64_C(1) << 40) /* bytes; more is surely a typing error */

/* Keys of a buffer. Kind: what value it takes. */
enum key_kind { KEY_TEXT, KEY_NUMBER };

#define BUFFER_KEYS(X)                                                                             \
  X(TYPE, "type", TEXT)                                                                            \
  X(COUNT, "count", NUMBER)                                                                        \
  X(FILL, "fill", TEXT)                                                                            \
  X(SEED, "seed", NUMBER)                                                                          \
  X(VALUE, "value", NUMBER)                                                                        \
  X(START, "start", NUMBER)                                                                        \
  X(STEP, "step", NUMBER)                                                                          \
  X(MIN, "min", NUMBER)                                                                            \
  X(MAX, "max", NUMBER)                                                                            \
  X(FILE, "file", TEXT)                                                                            \
  X(EXPECT, "expect", TEXT)                                                                        \
  X(REL, "rel", NUMBER)                                                                            \
  X(ABS, "abs", NUMBER)

enum buffer_key {
#define X(id, name, kind) BUFFER_##id,
  BUFFER_KEYS(X)
#undef X
  BUFFER__N
};

static const struct {
  const char *name;
  enum key_kind kind;
} keys[BUFFER__N] = {
#define X(id, name, kind) { name, KEY_##kind },
  BUFFER_KEYS(X)
#undef X
};

#define BIT(id) (1u << BUFFER_##id)

void launch_case_init(struct launch_case *c, const char *origin)
{
  *c = (struct launch_case){ .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };
  c->origin = arena_strdup(&c->arena, origin);
}

void launch_case_add_cubin(struct launch_case *c, const char *path)
{
  unsigned n = c->n_cubins;
  if ((n & (n - 1)) == 0) { /* full: room doubles */
    const char **more = ARENA_ARRAY(&c->arena, const char *, n ? 2 * (size_t)n : 1);
    if (n) memcpy(more, c->cubin, n * sizeof more[0]);
    c->cubin = more;
  }
  c->cubin[c->n_cubins++] = arena_strdup(&c->arena, path);
}

bool launch_case_read_capture(struct launch_case *c, const char *path, struct err *e)
{
  launch_case_init(c, path);
  c->snapshot = snapshot_read(path, e);
  return c->snapshot != NULL;
}

void launch_case_free(struct launch_case *c)
{
  snapshot_free(c->snapshot);
  arena_free(&c->arena);
}

struct buffer_draft buffer_start(struct launch_case *c, const char *name, const char *where)
{
  struct buffer_draft d = { .b = { .fill = fill_default() } };
  d.b.name = arena_strdup(&c->arena, name);
  d.b.where = arena_strdup(&c->arena, where);
  return d;
}

static bool set_number(struct buffer_draft *d, enum buffer_key key, struct number n, struct err *e)
{
  struct case_buffer *b = &d->b;
  switch (key) {
  case BUFFER_COUNT:
    if (n.real || n.negative || n.bits == 0)
      return err_set(e, "count must be a positive integer");
    b->count = n.bits;
    return true;
  case BUFFER_SEED:
    if (n.real) return err_set(e, "seed must be an integer");
    b->fill.seed = n.bits;
    return true;
  case BUFFER_VALUE:
    b->fill.value = n;
    return true;
  case BUFFER_START:
    b->fill.start = n;
    return true;
  case BUFFER_STEP:
    b->fill.step = n;
    return true;
  case BUFFER_MIN:
    b->fill.min = n;
    return true;
  case BUFFER_MAX:
    b->fill.max = n;
    return true;
  default:
    if (!(n.f >= 0) || isinf(n.f)) return err_set(e, "%s must not be negative", keys[key].name);
    *(key == BUFFER_REL ? &b->tol.rel : &b->tol.abs) = n.f;
    b->tol.given = true;
    return true;
  }
}

static bool set_text(struct launch_case *c, struct buffer_draft *d, enum buffer_key key,
                     const char *text, struct err *e)
{
  struct case_buffer *b = &d->b;
  switch (key) {
  case BUFFER_TYPE:
    if (value_type_parse(text, &b->type)) return true;
    return err_set(e, "unknown type '%.40s'; use one of u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 "
                   "f32 f64", text);
  case BUFFER_FILL:
    if (fill_kind_parse(text, &b->fill.kind)) return true;
    return err_set(e, "unknown fill '%.40s'; use one of zero const iota uniform chain", text);
  default:
    if (*text == '\0') return err_set(e, "%s is empty; name a file", keys[key].name);
    *(key == BUFFER_FILE ? &b->file : &b->expect) = arena_strdup(&c->arena, text);
    return true;
  }
}

bool buffer_set(struct launch_case *c, struct buffer_draft *d, const char *key, struct given v,
                struct err *e)
{
  char hint[NEAREST_HINT];
  struct nearest near;
  nearest_start(&near, key);
  for (unsigned i = 0; i < BUFFER__N; i++) {
    nearest_offer(&near, keys[i].name);
    if (strcmp(keys[i].name, key) != 0) continue;
    if (d->seen >> i & 1) return err_set(e, "%s is given twice; remove one", key);
    d->seen |= 1u << i;
    if (keys[i].kind == KEY_TEXT && !v.text) return err_set(e, "%s must be a string", key);
    if (keys[i].kind == KEY_NUMBER && v.text) return err_set(e, "%s must be a number", key);
    return v.text ? set_text(c, d, (enum buffer_key)i, v.text, e)
                  : set_number(d, (enum buffer_key)i, v.n, e);
  }
  return err_set(e, "unknown key '%.40s' of a buffer; use type count fill seed value start step "
                 "min max file expect rel abs%s", key, nearest_hint(&near, hint));
}

/* Keys that only make sense with one kind of fill. */
static bool check_fill_keys(const struct buffer_draft *d, struct err *e)
{
  static const uint32_t allowed[] = {
    [FILL_ZERO] = 0, [FILL_CONST] = BIT(VALUE), [FILL_IOTA] = BIT(START) | BIT(STEP),
    [FILL_UNIFORM] = BIT(SEED) | BIT(MIN) | BIT(MAX), [FILL_CHAIN] = BIT(SEED) | BIT(STEP),
  };
  uint32_t all = BIT(VALUE) | BIT(START) | BIT(STEP) | BIT(SEED) | BIT(MIN) | BIT(MAX);
  uint32_t extra = d->seen & all & ~(d->seen & BIT(FILL) ? allowed[d->b.fill.kind] : 0);
  for (unsigned i = 0; i < BUFFER__N; i++)
    if (extra >> i & 1)
      return err_set(e, "%s does not belong to this fill; remove it (value: const; start, step: "
                     "iota; seed, min, max: uniform; seed, step: chain)", keys[i].name);
  return true;
}

static bool check_draft(const struct buffer_draft *d, bool symbol, struct err *e)
{
  const struct case_buffer *b = &d->b;
  if (!(d->seen & BIT(TYPE))) return err_set(e, "type is missing; add type = \"f32\" or another");
  if (!(d->seen & BIT(COUNT))) return err_set(e, "count is missing; add the number of elements");
  if (b->count > BUFFER_LIMIT / value_bytes(b->type))
    return err_set(e, "count is too large; a buffer has at most 2^40 bytes");
  if ((d->seen & BIT(FILL)) && (d->seen & BIT(FILE)))
    return err_set(e, "both fill and file; keep one");
  if (!symbol && !(d->seen & (BIT(FILL) | BIT(FILE))))
    return err_set(e, "no initial contents; add fill = \"zero\" or a file");
  if ((d->seen & (BIT(REL) | BIT(ABS))) && !b->expect)
    return err_set(e, "rel or abs without expect; name the expected file or remove them");
  if ((d->seen & (BIT(REL) | BIT(ABS))) && value_class(b->type) != VALUE_FLOAT)
    return err_set(e, "rel or abs on %s: integers are compared exactly; remove them",
                   value_name(b->type));
  if (symbol && b->fill.kind == FILL_CHAIN)
    return err_set(e, "a chain needs the address of a buffer; a symbol cannot have it");
  TRY(check_fill_keys(d, e));
  return fill_check(&b->fill, b->type, b->count, e);
}

bool buffer_finish(struct launch_case *c, const struct buffer_draft *d, bool symbol, struct err *e)
{
  TRY(check_draft(d, symbol, e));
  struct case_buffer **list = symbol ? &c->symbol : &c->buffer;
  unsigned *n = symbol ? &c->n_symbols : &c->n_buffers;
  for (unsigned i = 0; i < *n; i++)
    if (strcmp((*list)[i].name, d->b.name) == 0)
      return err_set(e, "a second %s of this name; rename one", symbol ? "symbol" : "buffer");
  if (*n == CASE_MAX_BUFFERS) return err_set(e, "more than %d buffers; merge some",
                                             CASE_MAX_BUFFERS);
  if (!*list) *list = ARENA_ARRAY(&c->arena, struct case_buffer, CASE_MAX_BUFFERS);
  struct case_buffer *b = &(*list)[(*n)++];
  *b = d->b;
  b->initialised = (d->seen & (BIT(FILL) | BIT(FILE))) != 0;
  return true;
}

/* Arguments ------------------------------------------------------------------------------ */

static struct case_arg *new_arg(struct launch_case *c, enum case_arg_kind kind, const char *where,
                                struct err *e)
{
  if (c->n_args == CASE_MAX_ARGS) {
    err_set(e, "more than %d arguments; remove some", CASE_MAX_ARGS);
    return NULL;
  }
  if (c->n_args == c->arg_room) {
    struct case_arg *bigger = ARENA_ARRAY(&c->arena, struct case_arg, c->arg_room = 2 * c->arg_room + 16);
    if (c->n_args) memcpy(bigger, c->arg, c->n_args * sizeof *bigger);
    c->arg = bigger;
  }
  struct case_arg *a = &c->arg[c->n_args++];
  *a = (struct case_arg){ .kind = kind, .where = arena_strdup(&c->arena, where) };
  return a;
}

bool arg_add_buffer(struct launch_case *c, const char *where, const char *buffer, struct err *e)
{
  struct case_arg *a = new_arg(c, ARG_BUFFER, where, e);
  if (!a) return false;
  a->buffer = arena_strdup(&c->arena, buffer);
  a->bytes = 8; /* device pointers */
  return true;
}

bool arg_add_texture(struct launch_case *c, const char *where, const char *texture, struct err *e)
{
  struct case_arg *a = new_arg(c, ARG_TEXTURE, where, e);
  if (!a) return false;
  a->buffer = arena_strdup(&c->arena, texture);
  a->bytes = 8; /* texture and surface objects */
  return true;
}

static const struct case_texture *find_texture(const struct launch_case *c, const char *name)
{
  for (unsigned i = 0; i < c->n_textures; i++)
    if (strcmp(c->texture[i].name, name) == 0) return &c->texture[i];
  return NULL;
}

bool texture_add(struct launch_case *c, const struct case_texture *t, struct err *e)
{
  if (!t->buffer) return err_set(e, "no key 'buffer'; name the buffer with its texels");
  if (find_texture(c, t->name)) return err_set(e, "a second texture or surface of this name");
  if (c->n_textures == CASE_MAX_TEXTURES)
    return err_set(e, "more than %d textures and surfaces", CASE_MAX_TEXTURES);
  if (!c->texture) c->texture = ARENA_ARRAY(&c->arena, struct case_texture, CASE_MAX_TEXTURES);
  struct case_texture *to = &c->texture[c->n_textures++];
  *to = *t;
  to->name = arena_strdup(&c->arena, t->name);
  to->where = arena_strdup(&c->arena, t->where);
  to->buffer = arena_strdup(&c->arena, t->buffer);
  return true;
}

bool arg_add_value(struct launch_case *c, const char *where, enum value_type type, struct number n,
                   struct err *e)
{
  uint8_t *data = arena_alloc(&c->arena, 8, 8);
  if (!value_store(type, n, data))
    return err_set(e, "the number does not fit %s; use another type", value_name(type));
  struct case_arg *a = new_arg(c, ARG_VALUE, where, e);
  if (!a) return false;
  a->type = type;
  a->data = data;
  a->bytes = value_bytes(type);
  return true;
}

static int hex_digit(char c)
{
  return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
       : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool arg_add_bytes(struct launch_case *c, const char *where, const char *hex, struct err *e)
{
  size_t digits = strlen(hex);
  if (digits == 0 || digits % 2 || strspn(hex, "0123456789abcdefABCDEF") != digits)
    return err_set(e, "bytes must be pairs of hexadecimal digits, first byte first");
  uint8_t *data = arena_alloc(&c->arena, digits / 2, 8);
  for (size_t i = 0; i < digits / 2; i++)
    data[i] = (uint8_t)(hex_digit(hex[2 * i]) * 16 + hex_digit(hex[2 * i + 1]));
  struct case_arg *a = new_arg(c, ARG_BYTES, where, e);
  if (!a) return false;
  a->data = data;
  a->bytes = digits / 2;
  return true;
}

static bool has_buffer(const struct launch_case *c, const char *name)
{
  for (unsigned k = 0; k < c->n_buffers; k++)
    if (strcmp(c->buffer[k].name, name) == 0) return true;
  return false;
}

bool launch_case_check(const struct launch_case *c, struct err *e)
{
  if (!c->n_cubins) return err_set(e, "%s: no cubin; say which file to run", c->origin);
  for (unsigned i = 0; i < c->n_args; i++) {
    const struct case_arg *a = &c->arg[i];
    if (a->kind == ARG_BUFFER && !has_buffer(c, a->buffer))
      return err_set(e, "%s: there is no buffer '%.60s'; declare it", a->where, a->buffer);
    if (a->kind == ARG_TEXTURE && !find_texture(c, a->buffer))
      return err_set(e, "%s: there is no texture or surface '%.60s'; declare it", a->where,
                     a->buffer);
  }
  for (unsigned i = 0; i < c->n_textures; i++)
    if (!has_buffer(c, c->texture[i].buffer))
      return err_set(e, "%s: there is no buffer '%.60s'; declare it", c->texture[i].where,
                     c->texture[i].buffer);
  return true;
}

/* Command line --------------------------------------------------------------------------- */

/* Cuts the next piece off at any of `stops`; NULL at the end. */
static char *next_piece(char **rest, const char *stops)
{
  return *rest ? strsep(rest, stops) : NULL;
}

static bool option_text(struct err *e, const char *text, const struct err *inner)
{
  return err_set(e, "%.120s: %.350s", text, inner->msg);
}

/* "uniform,seed=1,file=x": words and KEY=VALUE pairs. The first word without '=' is the fill. */
static bool set_pairs(struct launch_case *c, struct buffer_draft *d, char *pairs, struct err *e)
{
  for (char *p; (p = next_piece(&pairs, ","));) {
    char *value = strchr(p, '=');
    if (!value) {
      TRY(buffer_set(c, d, "fill", (struct given){ .text = p }, e));
      continue;
    }
    *value++ = '\0';
    struct given v = { .text = value };
    for (unsigned i = 0; i < BUFFER__N; i++)
      if (keys[i].kind == KEY_NUMBER && strcmp(keys[i].name, p) == 0 && number_parse(value, &v.n))
        v.text = NULL;
    TRY(buffer_set(c, d, p, v, e));
  }
  return true;
}

static bool parse_buffer(struct launch_case *c, const char *text, bool symbol, struct err *e)
{
  char *rest = arena_strdup(&c->arena, text);
  char *name = next_piece(&rest, ":"), *type = next_piece(&rest, ":");
  char *count = next_piece(&rest, ":");
  struct given n = { .text = NULL };
  if (!count || *name == '\0')
    return err_set(e, "want NAME:TYPE:COUNT[:FILL[,KEY=VALUE…]], for example x:f32:1024:zero");
  struct buffer_draft d = buffer_start(c, name, text);
  TRY(buffer_set(c, &d, "type", (struct given){ .text = type }, e));
  if (!number_parse(count, &n.n)) return err_set(e, "count '%.40s' is not a number", count);
  TRY(buffer_set(c, &d, "count", n, e));
  if (rest) TRY(set_pairs(c, &d, rest, e));
  if (!symbol && !(d.seen & (BIT(FILL) | BIT(FILE))))
    TRY(buffer_set(c, &d, "fill", (struct given){ .text = "zero" }, e));
  return buffer_finish(c, &d, symbol, e);
}

bool launch_case_add_buffer(struct launch_case *c, const char *text, struct err *e)
{
  struct err inner = { "" };
  return parse_buffer(c, text, false, &inner) || option_text(e, text, &inner);
}

bool launch_case_add_symbol(struct launch_case *c, const char *text, struct err *e)
{
  struct err inner = { "" };
  return parse_buffer(c, text, true, &inner) || option_text(e, text, &inner);
}

static bool parse_arg(struct launch_case *c, const char *text, struct err *e)
{
  const char *colon = strchr(text, ':');
  if (!colon) return arg_add_buffer(c, text, text, e);
  char type_name[16] = "";
  size_t len = (size_t)(colon - text);
  if (len < sizeof type_name) memcpy(type_name, text, len);
  if (strcmp(type_name, "bytes") == 0) return arg_add_bytes(c, text, colon + 1, e);
  enum value_type type;
  struct number n;
  if (!value_type_parse(type_name, &type))
    return err_set(e, "want a buffer's name, TYPE:NUMBER or bytes:HEX");
  if (!number_parse(colon + 1, &n)) return err_set(e, "'%.40s' is not a number", colon + 1);
  return arg_add_value(c, text, type, n, e);
}

bool launch_case_add_arg(struct launch_case *c, const char *text, struct err *e)
{
  struct err inner = { "" };
  return parse_arg(c, text, &inner) || option_text(e, text, &inner);
}

bool launch_case_dim3(const char *text, const char *what, uint32_t out[3], struct err *e)
{
  const char *p = text;
  out[0] = out[1] = out[2] = 1;
  for (unsigned i = 0; i < 3; i++) {
    char *end;
    unsigned long v = isdigit((unsigned char)*p) ? strtoul(p, &end, 10) : 0;
    if (v == 0 || v > UINT32_MAX) break;
    out[i] = (uint32_t)v;
    if (*end == '\0') return true;
    if (*end != ',' && *end != 'x') break;
    p = end + 1;
  }
  return err_set(e, "%s: '%.60s' is not a size; want up to three positive numbers, for "
                 "example 64,2,1", what, text);
}
