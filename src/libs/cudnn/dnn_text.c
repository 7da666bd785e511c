#include "libs/cudnn/dnn_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libs/cudnn/dnn_graph.h"

enum { MOST_DEPTH = 8, MOST_NODES = 1 << 16 };

static void write_node(FILE *f, const struct dnn_backend *d);

static void write_attribute(FILE *f, const struct dnn_attribute *a)
{
  fprintf(f, "[%d,%d,", a->name, a->type);
  if (a->type == VALUE_DESCRIPTOR) {
    fputc('[', f);
    for (int64_t i = 0; i < a->count; i++) {
      if (i) fputc(',', f);
      write_node(f, ((struct dnn_backend *const *)a->values)[i]);
    }
    fputs("]]", f);
    return;
  }
  fputc('"', f);
  const int64_t bytes = a->count * (int64_t)dnn_backend_value_bytes(a->type);
  for (int64_t i = 0; i < bytes; i++) fprintf(f, "%02x", ((const unsigned char *)a->values)[i]);
  fputs("\"]", f);
}

static void write_node(FILE *f, const struct dnn_backend *d)
{
  bool first = true;
  fprintf(f, "[%d,[", d->kind);
  for (int i = 0; i < d->attributes; i++) {
    const struct dnn_attribute *a = &d->attribute[i];
    if (!a->values || a->type == VALUE_HANDLE || a->type == VALUE_POINTER) continue;
    if (!first) fputc(',', f);
    first = false;
    write_attribute(f, a);
  }
  fputs("]]", f);
}

char *dnn_text_of(const struct dnn_backend *d, int64_t *length)
{
  char *text = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&text, &n);
  if (!f) return NULL;
  write_node(f, d);
  if (fclose(f)) return NULL;
  *length = (int64_t)n;
  return text;
}

struct text {
  const char *at, *end;
  int nodes;
};

static bool take(struct text *t, char c)
{
  if (t->at == t->end || *t->at != c) return false;
  t->at++;
  return true;
}

static bool take_number(struct text *t, int *n)
{
  const char *from = t->at;
  for (*n = 0; t->at < t->end && *t->at >= '0' && *t->at <= '9' && t->at - from < 6; t->at++)
    *n = *n * 10 + *t->at - '0';
  return t->at > from;
}

static int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

static struct dnn_backend *read_node(struct text *t, int depth);

/* Nodes, which the descriptor holds afterwards. */
static bool read_parts(struct text *t, struct dnn_backend *d, int name, int depth)
{
  struct dnn_backend **part = NULL;
  int64_t n = 0;
  bool ok = take(t, '[');
  while (ok && t->at < t->end && *t->at != ']') {
    struct dnn_backend **more = realloc(part, (size_t)(n + 1) * sizeof(struct dnn_backend *));
    if (!more) break;
    part = more;
    ok = (n == 0 || take(t, ',')) && (part[n] = read_node(t, depth + 1));
    n += ok;
  }
  ok = ok && take(t, ']') && dnn_backend_put(d, name, VALUE_DESCRIPTOR, n, part) == DNN_SUCCESS;
  for (int64_t i = 0; i < n; i++) cudnnBackendDestroyDescriptor(part[i]);
  free(part);
  return ok;
}

static bool read_bytes(struct text *t, struct dnn_backend *d, int name, int type)
{
  const int64_t size = (int64_t)dnn_backend_value_bytes(type);
  if (!take(t, '"') || !size || type == VALUE_HANDLE || type == VALUE_POINTER) return false;
  const char *quote = memchr(t->at, '"', (size_t)(t->end - t->at));
  const int64_t bytes = quote ? (quote - t->at) / 2 : 0;
  if (!quote || (quote - t->at) % 2 || bytes % size) return false;
  unsigned char *value = malloc((size_t)bytes + 1);
  bool ok = value;
  for (int64_t i = 0; ok && i < bytes; i++) {
    const int high = digit(t->at[2 * i]), low = digit(t->at[2 * i + 1]);
    ok = high >= 0 && low >= 0;
    value[i] = (unsigned char)(ok ? high << 4 | low : 0);
  }
  t->at = quote + 1;
  ok = ok && dnn_backend_put(d, name, type, bytes / size, value) == DNN_SUCCESS;
  free(value);
  return ok;
}

static bool read_attribute(struct text *t, struct dnn_backend *d, int depth)
{
  int name, type;
  if (!take(t, '[') || !take_number(t, &name) || !take(t, ',') || !take_number(t, &type) || !take(t, ',')) return false;
  return (type == VALUE_DESCRIPTOR ? read_parts(t, d, name, depth) : read_bytes(t, d, name, type)) && take(t, ']');
}

static struct dnn_backend *read_node(struct text *t, int depth)
{
  int kind;
  struct dnn_backend *d = NULL;
  if (depth > MOST_DEPTH || ++t->nodes > MOST_NODES) return NULL;
  if (!take(t, '[') || !take_number(t, &kind) || !take(t, ',') || !take(t, '[')) return NULL;
  if (cudnnBackendCreateDescriptor(kind, &d) != DNN_SUCCESS) return NULL;
  bool ok = true;
  for (int i = 0; ok && t->at < t->end && *t->at != ']'; i++)
    ok = (i == 0 || take(t, ',')) && read_attribute(t, d, depth);
  if (ok && take(t, ']') && take(t, ']') && cudnnBackendFinalize(d) == DNN_SUCCESS) return d;
  cudnnBackendDestroyDescriptor(d);
  return NULL;
}

struct dnn_backend *dnn_text_read(const char *text, int64_t length)
{
  struct text t = {.at = text, .end = text + length};
  if (length > 0 && !text[length - 1]) t.end--; /* with its end */
  struct dnn_backend *d = read_node(&t, 0);
  if (!d || t.at == t.end) return d;
  cudnnBackendDestroyDescriptor(d);
  return NULL;
}
