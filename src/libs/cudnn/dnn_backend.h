/* Descriptors of cuDNN's graph interface: each keeps the attributes that a program set, by their numbers; those whose
 * values the library makes are made when a descriptor is finalized. A descriptor lives as long as the program or
 * another descriptor names it.
 */
#ifndef WS_DNN_BACKEND_H
#define WS_DNN_BACKEND_H

#include "libs/cudnn/dnn_types.h"

/* cudnnBackendDescriptorType_t */
enum {
  BACKEND_POINTWISE = 0, BACKEND_CONVOLUTION = 1, BACKEND_ENGINE = 2, BACKEND_ENGINECFG = 3, BACKEND_ENGINEHEUR = 4,
  BACKEND_PLAN = 5, BACKEND_OP_FORWARD = 10, BACKEND_OP_FILTER = 11, BACKEND_OP_DATA = 12, BACKEND_OP_POINTWISE = 13,
  BACKEND_GRAPH = 15, BACKEND_VARIANT = 16, BACKEND_TENSOR = 17, BACKEND_OP_MATMUL = 19, BACKEND_REDUCTION = 21,
  BACKEND_OP_REDUCTION = 22, BACKEND_OP_RESHAPE = 31, BACKEND_RNG = 32, BACKEND_OP_RNG = 33, BACKEND_OP_SDPA = 41,
  BACKEND_OP_BAND = 44,
  BACKEND_OP_SOFTMAX = 45, BACKEND_OP_TRANSPOSE = 46, BACKEND_KINDS = 51,
};

/* cudnnBackendAttributeType_t; sizes in dnn_backend.c */
enum {
  VALUE_HANDLE = 0, VALUE_DATA_TYPE = 1, VALUE_BOOLEAN = 2, VALUE_INT64 = 3, VALUE_FLOAT = 4, VALUE_DOUBLE = 5,
  VALUE_POINTER = 6, VALUE_DESCRIPTOR = 15, VALUE_BEHAVIOR = 19, VALUE_INT32 = 23, VALUE_CHAR = 24, VALUE_FRACTION = 26,
  VALUE_KINDS = 32,
};

/* cudnnBackendAttributeName_t, as far as anything here depends on them */
enum {
  ATTR_POINTWISE_MODE = 0, ATTR_RELU_LOWER = 3, ATTR_RELU_UPPER = 4, ATTR_RELU_SLOPE = 5,
  ATTR_CONV_TYPE = 100, ATTR_CONV_MODE = 101, ATTR_CONV_DILATIONS = 102, ATTR_CONV_STRIDES = 103, ATTR_CONV_POST = 104,
  ATTR_CONV_PRE = 105,
  ATTR_HEUR_GRAPH = 201, ATTR_HEUR_RESULTS = 202,
  ATTR_CONFIG_ENGINE = 300, ATTR_CONFIG_INTERMEDIATE = 301, ATTR_CONFIG_KNOBS = 302, ATTR_CONFIG_WORKSPACE = 303,
  ATTR_CONFIG_SHARED = 304,
  ATTR_PLAN_CONFIG = 401, ATTR_PLAN_WORKSPACE = 402, ATTR_PLAN_COMPUTED = 403, ATTR_PLAN_RUN_ONLY = 404,
  ATTR_PLAN_JSON = 405,
  ATTR_FORWARD = 700, ATTR_DATA = 706, ATTR_FILTER = 712, /* alpha, beta, convolution; in the order of dnn_graph.c */
  ATTR_PW_DESCRIPTOR = 750, ATTR_PW_X = 751, ATTR_PW_B = 752, ATTR_PW_Y = 753, ATTR_PW_ALPHA1 = 754,
  ATTR_PW_ALPHA2 = 755,
  ATTR_GRAPH_OPS = 801, ATTR_GRAPH_COUNT = 802,
  ATTR_TENSOR_TYPE = 901, ATTR_TENSOR_SIZES = 902, ATTR_TENSOR_STRIDES = 903, ATTR_TENSOR_VECTOR = 904,
  ATTR_TENSOR_ID = 906, ATTR_TENSOR_VIRTUAL = 907,
  ATTR_VARIANT_IDS = 1000, ATTR_VARIANT_POINTERS = 1001, ATTR_VARIANT_WORKSPACE = 1003,
  ATTR_ENGINE_GRAPH = 1300, ATTR_ENGINE_INDEX = 1301, ATTR_ENGINE_KNOBS = 1302, ATTR_ENGINE_NUMERICS = 1303,
  ATTR_ENGINE_LAYOUT = 1304, ATTR_ENGINE_BEHAVIOR = 1305,
};

/* cudnnBackendBehaviorNote_t: plans can be recorded in a graph (dnn_cuda_graph.c). */
enum { NOTE_CUDA_GRAPH = 3 };

struct dnn_attribute {
  int name, type;
  int64_t count;
  void *values; /* `count` of the type, one after the other; descriptors are held */
};

struct dnn_graph_plan; /* what an execution plan runs, dnn_graph.h */

struct dnn_backend {
  uint64_t magic;
  int kind, holders;
  bool final;
  struct dnn_attribute *attribute;
  int attributes;
  struct dnn_graph_plan *plan; /* with what frees it, and what gives the descriptor its text */
  void (*free_plan)(struct dnn_graph_plan *);
  dnn_status (*describe)(struct dnn_backend *);
};

bool dnn_backend_is(const struct dnn_backend *d);
/* Bytes of a value; 0: there is no such type. */
size_t dnn_backend_value_bytes(int type);
/* The attribute of a name; NULL when it was not set. */
const struct dnn_attribute *dnn_backend_find(const struct dnn_backend *d, int name);
/* Its values as numbers: integers of either width, enumerations, booleans, float, double. `out` has room for `most`.
 * Returns how many there are (0 when it was not set), -1 when there are more than `most`. */
int dnn_backend_integers(const struct dnn_backend *d, int name, int64_t *out, int most);
double dnn_backend_real(const struct dnn_backend *d, int name, double otherwise);
int64_t dnn_backend_integer(const struct dnn_backend *d, int name, int64_t otherwise);
/* The `i`th descriptor that an attribute names, finalized and of the given kind (-1: any); NULL: there is none. */
struct dnn_backend *dnn_backend_part(const struct dnn_backend *d, int name, int64_t i, int kind);

/* The pointer that a variant pack gives a tensor; NULL: none. */
void *dnn_backend_pointer(const struct dnn_backend *variant, int64_t number);

/* Sets an attribute of a descriptor that the library makes. */
dnn_status dnn_backend_put(struct dnn_backend *d, int name, int type, int64_t count, const void *values);

PUBLIC dnn_status cudnnBackendCreateDescriptor(int kind, struct dnn_backend **out);
PUBLIC dnn_status cudnnBackendDestroyDescriptor(struct dnn_backend *d);
PUBLIC dnn_status cudnnBackendExecute(struct dnn *h, const struct dnn_backend *plan, const struct dnn_backend *variant);

#endif
