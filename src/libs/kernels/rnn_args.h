/* What the recurrent kernels of our open libraries take, seen by the host (C) and by the kernels (CUDA C++): one time
 * step of one layer and direction. Rows are the sequences of a batch, the longest first, so that those that are active
 * at a step come first. Gates are in the order of cuDNN's reference: input, forget, new, output (LSTM); reset, update,
 * new (GRU). T is the type of weights and states, C the one that is computed with (double for double, else float).
 */
#ifndef WS_RNN_ARGS_H
#define WS_RNN_ARGS_H

#include <stdint.h>

#include "libs/kernels/gemm_args.h"

enum ws_rnn_mode { WS_RNN_RELU, WS_RNN_TANH, WS_RNN_LSTM, WS_RNN_GRU };

struct ws_rnn_args {
  int32_t mode, type;                 /* type: enum ws_type of T */
  int32_t hidden, gates;
  int32_t rows, first_row;            /* rows first_row .. rows - 1 are computed */
  int32_t chained;                    /* rows below have a step before (backward: after) this one */
  int32_t last_row;                   /* forward: rows from here on end here: to hy, cy */
  const void *weights;                /* T, forward: transposed [hidden][gates * hidden]; backward as they are */
  const void *bias_w, *bias_r;        /* T [gates * hidden], or 0 */
  void *gate;                         /* C [row][gates * hidden]: products with the input; then what the gates let by */
  void *cell;                         /* C [row][hidden]: LSTM: the cell; GRU: the hidden part of the new gate */
  void *before, *cell_before;         /* T, C [row][hidden]: the state and the cell before this step; before: or 0 */
  int64_t gate_row, cell_row;         /* elements from a row to the next; cell_row of the four above */
  const void *chain;                  /* T: the state before this step; backward: gradients of the gates after it */
  const void *start, *start_cell;     /* T [row][hidden] or 0: hx, cx; backward: dhy, dcy */
  const void *chain_cell;             /* C: the cell before this step; backward: what it carries */
  int64_t chain_row, chain_cell_row;
  void *y, *end, *end_cell;           /* T: y of this step; hy, cy (or 0) */
  int64_t y_row;
  const void *dy;                     /* backward, T, in rows of y_row, or 0 */
  void *dgate, *dgate_r;              /* T [row][gates * hidden]: gradients as the input and as the state see them */
  int64_t dgate_row;
  void *carry;                        /* C [row][hidden]: gradient of the cell (GRU: of the state) before this step */
  void *dstart, *dstart_cell;         /* T, one not 0: only dhx, dcx are computed, after a row's first step */
};

struct ws_rnn_matrix_args {
  const void *from;
  void *to;
  int32_t type, rows, columns;        /* of `from`, row by row */
  int64_t row;                        /* elements from a row to the next */
  double beta;                        /* sums: to[column] = sum of a column + beta * to[column] */
};

#endif
