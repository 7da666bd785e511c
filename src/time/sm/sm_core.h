/* The SM as a kind of core (time/core/core.h). */
#ifndef WS_TIME_SM_SM_CORE_H
#define WS_TIME_SM_SM_CORE_H

#include "time/core/core.h"

extern const struct core_kind sm_kind; /* of struct sm */

#endif
