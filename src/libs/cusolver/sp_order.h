/* Orders of the rows and columns of a sparse matrix that keep its factors sparse. */
#ifndef WS_CUSOLVER_SP_ORDER_H
#define WS_CUSOLVER_SP_ORDER_H

#include "libs/cusolver/sp_types.h"

enum sp_order {
  SP_ORDER_NONE,
  SP_ORDER_RCM, /* reverse Cuthill and McKee */
  SP_ORDER_AMD, /* approximate minimum degree */
  SP_ORDER_ND,  /* nested dissection */
  SP_ORDERS,
  SP_ORDER_MD = SP_ORDERS, /* minimum degree */
};

/* order[j]: which row and column comes as the j-th, of the graph of A + A^T (square). False: no memory. */
bool sp_order_symmetric(enum sp_order, const struct sp_pattern *a, int *order);
/* The same for the columns alone, of the graph of A^T A, whose Cholesky factor has the places of QR's R. A square
 * matrix for which that graph is too large gets the order above. */
bool sp_order_columns(enum sp_order, const struct sp_pattern *a, int *order);

/* row_of[j]: a row that has column j, each row for one column at most, for as many columns as possible; -1: none. Their
 * number; -1: no memory. */
int sp_match(const struct sp_pattern *a, int *row_of);

#endif
