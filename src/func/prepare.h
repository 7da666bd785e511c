/* Private to func/: resolving instructions to prepared operations, once per launch. */
#ifndef WS_FUNC_PREPARE_H
#define WS_FUNC_PREPARE_H

#include "func/launch.h"

/* Fills l->uop and l->pool. */
void prepare_launch(struct func_launch *l);
/* Fills l->stale_regs for runs in which every instruction reads registers when its turn comes: what all threads
 * write before anything reads it. */
void prepare_stale(struct func_launch *l);

#endif
