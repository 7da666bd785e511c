/* The operations that a graph was read as, one after the other: what dnn_steps.c makes and runs, and what
 * dnn_attention.c looks for attention in.
 */
#ifndef WS_DNN_STEP_H
#define WS_DNN_STEP_H

#include "libs/cudnn/dnn_backend.h"
#include "libs/kernels/graph_args.h"

/* Dimensions of matrices. */
enum { COLUMNS = WS_GRAPH_DIMS - 1, ROWS = WS_GRAPH_DIMS - 2, HEAD = WS_GRAPH_DIMS - 3, BATCH = WS_GRAPH_DIMS - 4 };

enum { MOST_STEPS = 128, MOST_ROOMS = 256, ALIGNMENT = 256 };

/* Where the elements of an operand are when a graph runs. */
enum where {
  WHERE_NOWHERE, /* an operand that the operation does not have */
  WHERE_GIVEN,   /* the program's, on the device */
  WHERE_VALUE,   /* one number of the program's, on the host */
  WHERE_CONSTANT, /* known already */
  WHERE_ROOM,    /* the workspace */
};

struct step_operand {
  enum where where;
  int64_t number; /* of the tensor, or a place in the workspace */
  int64_t skip;   /* elements before its first one, of what is given */
  struct ws_graph_tensor t;
  /* Of a tensor whose batches begin where another one, of `begins_wide` integers of 64 bits or else of 32, says; -1:
   * the batches have a stride. */
  int64_t begins, begins_step, begins_unit;
  bool begins_wide;
};

struct step {
  enum lib_kernel kernel;
  struct step_operand operand[WS_ROLES];
  struct ws_graph_args args; /* but the tensors */
};

/* Tensors in the workspace. Two numbers may be one place: what attention's parts call differently. */
struct room_place {
  int64_t number, at;
};

struct dnn_steps {
  struct step step[MOST_STEPS + 1];
  struct room_place room[MOST_ROOMS];
  int steps, rooms;
  int64_t bytes;
  bool failed; /* too many steps, or something in them is not there */
  bool ragged; /* a tensor's batches begin elsewhere than at a multiple of a stride: no step reads such a one */
  struct dnn_attention *attention; /* what runs instead of the steps, dnn_attention.h */
};

/* Whether both are the same tensor. */
bool dnn_step_same_place(const struct step_operand *a, const struct step_operand *b);
/* One number of the host. */
float dnn_step_number(const void *p, int type);

#endif
