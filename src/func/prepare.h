/* Private to func/: resolving instructions to prepared operations, once per launch. */
#ifndef WS_FUNC_PREPARE_H
#define WS_FUNC_PREPARE_H

#include "func/launch.h"

/* Fills l->uop and l->pool. */
void prepare_launch(struct func_launch *l);
/* Fills l->clear: registers that all threads write before anything reads them need not be cleared for a CTA where
 * every instruction reads registers when its turn comes. */
void prepare_stale(struct func_launch *l);

#endif
