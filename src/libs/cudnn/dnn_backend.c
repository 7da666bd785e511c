#include "libs/cudnn/dnn_backend.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC UINT64_C(0x7761727064657363)
enum { MOST_VALUES = 1 << 16, MOST_TEXT = 1 << 24 };

bool dnn_backend_is(const struct dnn_backend *d) { return d && d->magic == MAGIC; }

size_t dnn_backend_value_bytes(int type)
{
  switch (type) {
  case VALUE_BOOLEAN:
  case VALUE_CHAR: return 1;
  case VALUE_HANDLE:
  case VALUE_INT64:
  case VALUE_DOUBLE:
  case VALUE_POINTER:
  case VALUE_DESCRIPTOR: return 8;
  case VALUE_FRACTION: return 16;
  default: return type >= 0 && type < VALUE_KINDS ? 4 : 0; /* float, int32, enumerations */
  }
}

static void drop(struct dnn_backend *d);

static void empty(struct dnn_attribute *a)
{
  if (a->type == VALUE_DESCRIPTOR)
    for (int64_t i = 0; i < a->count; i++) drop(((struct dnn_backend **)a->values)[i]);
  free(a->values);
  *a = (struct dnn_attribute){.name = a->name};
}

static void drop(struct dnn_backend *d)
{
  if (!d || --d->holders > 0) return;
  for (int i = 0; i < d->attributes; i++) empty(&d->attribute[i]);
  free(d->attribute);
  if (d->plan) d->free_plan(d->plan);
  d->magic = 0;
  free(d);
}

const struct dnn_attribute *dnn_backend_find(const struct dnn_backend *d, int name)
{
  for (int i = 0; i < d->attributes; i++)
    if (d->attribute[i].name == name) return d->attribute[i].values ? &d->attribute[i] : NULL;
  return NULL;
}

static struct dnn_attribute *place_for(struct dnn_backend *d, int name)
{
  for (int i = 0; i < d->attributes; i++)
    if (d->attribute[i].name == name) {
      empty(&d->attribute[i]);
      return &d->attribute[i];
    }
  struct dnn_attribute *more = realloc(d->attribute, (size_t)(d->attributes + 1) * sizeof *more);
  if (!more) return NULL;
  d->attribute = more;
  more[d->attributes] = (struct dnn_attribute){.name = name};
  return &more[d->attributes++];
}

dnn_status dnn_backend_put(struct dnn_backend *d, int name, int type, int64_t count, const void *values)
{
  const size_t bytes = dnn_backend_value_bytes(type);
  if (!bytes) return DNN_BAD_PARAM_TYPE;
  if (count < 0 || count > (type == VALUE_CHAR ? MOST_TEXT : MOST_VALUES)) return DNN_BAD_PARAM;
  if (count && !values) return DNN_BAD_PARAM_NULL;
  if (type == VALUE_DESCRIPTOR)
    for (int64_t i = 0; i < count; i++)
      if (!dnn_backend_is(((struct dnn_backend *const *)values)[i])) return DNN_BAD_PARAM;
  void *copy = malloc((size_t)(count ? count : 1) * bytes);
  if (!copy) return DNN_ALLOC_FAILED;
  memcpy(copy, values ? values : copy, (size_t)count * bytes);
  if (type == VALUE_DESCRIPTOR)
    for (int64_t i = 0; i < count; i++) ((struct dnn_backend **)copy)[i]->holders++;
  struct dnn_attribute *a = place_for(d, name);
  if (!a) {
    free(copy);
    return DNN_ALLOC_FAILED;
  }
  *a = (struct dnn_attribute){name, type, count, copy};
  return DNN_SUCCESS;
}

/* Makes `to`, which a program has created, the same as `from`. */
static dnn_status dnn_backend_copy(struct dnn_backend *to, const struct dnn_backend *from)
{
  if (!dnn_backend_is(to) || to->kind != from->kind) return DNN_BAD_PARAM;
  for (int i = 0; i < from->attributes; i++) {
    const struct dnn_attribute *a = &from->attribute[i];
    if (!a->values) continue;
    const dnn_status s = dnn_backend_put(to, a->name, a->type, a->count, a->values);
    if (s != DNN_SUCCESS) return s;
  }
  to->final = from->final;
  return DNN_SUCCESS;
}

static double number(const struct dnn_attribute *a, int64_t i)
{
  switch (a->type) {
  case VALUE_FLOAT: return ((const float *)a->values)[i];
  case VALUE_DOUBLE: return ((const double *)a->values)[i];
  default: return 0;
  }
}

static int64_t integer(const struct dnn_attribute *a, int64_t i)
{
  switch (dnn_backend_value_bytes(a->type)) {
  case 1: return ((const unsigned char *)a->values)[i];
  case 4: return ((const int32_t *)a->values)[i];
  case 8: return ((const int64_t *)a->values)[i];
  default: return 0;
  }
}

int dnn_backend_integers(const struct dnn_backend *d, int name, int64_t *out, int most)
{
  const struct dnn_attribute *a = dnn_backend_find(d, name);
  if (!a) return 0;
  if (a->count > most) return -1;
  for (int i = 0; i < (int)a->count; i++) out[i] = integer(a, i);
  return (int)a->count;
}

double dnn_backend_real(const struct dnn_backend *d, int name, double otherwise)
{
  const struct dnn_attribute *a = dnn_backend_find(d, name);
  return a && a->count == 1 ? number(a, 0) : otherwise;
}

int64_t dnn_backend_integer(const struct dnn_backend *d, int name, int64_t otherwise)
{
  const struct dnn_attribute *a = dnn_backend_find(d, name);
  return a && a->count == 1 ? integer(a, 0) : otherwise;
}

struct dnn_backend *dnn_backend_part(const struct dnn_backend *d, int name, int64_t i, int kind)
{
  const struct dnn_attribute *a = d ? dnn_backend_find(d, name) : NULL;
  if (!a || a->type != VALUE_DESCRIPTOR || i >= a->count) return NULL;
  struct dnn_backend *part = ((struct dnn_backend **)a->values)[i];
  return part->final && (kind < 0 || part->kind == kind) ? part : NULL;
}

PUBLIC dnn_status cudnnBackendCreateDescriptor(int kind, struct dnn_backend **out)
{
  if (!out) return DNN_BAD_PARAM_NULL;
  *out = NULL;
  if (kind < 0 || kind >= BACKEND_KINDS)
    return dnn_refuse("cudnnBackendCreateDescriptor", "descriptors of this type");
  struct dnn_backend *d = calloc(1, sizeof *d);
  if (!d) return DNN_ALLOC_FAILED;
  d->magic = MAGIC, d->kind = kind, d->holders = 1;
  *out = d;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnBackendDestroyDescriptor(struct dnn_backend *d)
{
  if (!d) return DNN_SUCCESS;
  if (!dnn_backend_is(d)) return DNN_BAD_PARAM;
  drop(d);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnBackendInitialize(struct dnn_backend *d)
{
  if (!dnn_backend_is(d)) return DNN_BAD_PARAM;
  for (int i = 0; i < d->attributes; i++) empty(&d->attribute[i]);
  d->final = false;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnBackendSetAttribute(struct dnn_backend *d, int name, int type, int64_t count, const void *values)
{
  if (!dnn_backend_is(d)) return DNN_BAD_PARAM;
  if (d->final) return DNN_NOT_INITIALIZED;
  return dnn_backend_put(d, name, type, count, values);
}

/* What a plan or an engine has none of: knobs, notes, intermediate results. */
static bool is_empty_list(int name)
{
  switch (name) {
  case ATTR_CONFIG_INTERMEDIATE:
  case ATTR_CONFIG_KNOBS:
  case ATTR_PLAN_COMPUTED:
  case ATTR_PLAN_RUN_ONLY:
  case ATTR_ENGINE_KNOBS:
  case ATTR_ENGINE_NUMERICS:
  case ATTR_ENGINE_LAYOUT: return true;
  default: return false;
  }
}

PUBLIC dnn_status cudnnBackendGetAttribute(struct dnn_backend *d, int name, int type, int64_t wanted, int64_t *count,
                                           void *values)
{
  if (!dnn_backend_is(d)) return DNN_BAD_PARAM;
  if (!d->final) return DNN_BAD_PARAM_NOT_FINAL;
  const struct dnn_attribute *a = dnn_backend_find(d, name);
  if (!a && d->plan && name == ATTR_PLAN_JSON && d->describe(d) == DNN_SUCCESS)
    a = dnn_backend_find(d, name);
  if (!a) {
    if (!is_empty_list(name)) return name == ATTR_PLAN_JSON ? DNN_NOT_SUPPORTED : DNN_BAD_PARAM;
    if (count) *count = 0;
    return DNN_SUCCESS;
  }
  if (a->type != type) return DNN_BAD_PARAM_TYPE;
  if (count) *count = a->count;
  const int64_t n = a->count < wanted ? a->count : wanted;
  if (!values || n <= 0) return DNN_SUCCESS;
  if (type != VALUE_DESCRIPTOR) {
    memcpy(values, a->values, (size_t)n * dnn_backend_value_bytes(type));
    return DNN_SUCCESS;
  }
  for (int64_t i = 0; i < n; i++) { /* into descriptors that the program made */
    struct dnn_backend *from = ((struct dnn_backend **)a->values)[i];
    const dnn_status s = dnn_backend_copy(((struct dnn_backend **)values)[i], from);
    if (s != DNN_SUCCESS) return s;
  }
  return DNN_SUCCESS;
}

void *dnn_backend_pointer(const struct dnn_backend *variant, int64_t number)
{
  const struct dnn_attribute *ids = dnn_backend_find(variant, ATTR_VARIANT_IDS);
  const struct dnn_attribute *at = dnn_backend_find(variant, ATTR_VARIANT_POINTERS);
  if (!ids || !at || ids->type != VALUE_INT64 || at->type != VALUE_POINTER) return NULL;
  for (int64_t i = 0; i < ids->count && i < at->count; i++)
    if (((const int64_t *)ids->values)[i] == number) return ((void *const *)at->values)[i];
  return NULL;
}
