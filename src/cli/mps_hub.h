/* The server process of the Multi-Process Service (`exec --share mps`, docs/sharing.md): it has the GPU in which all
 * processes of the program have their work (host/mps_server.h), carries what they say, and lets time pass once all of
 * them wait for an answer or sleep.
 */
#ifndef WS_CLI_MPS_HUB_H
#define WS_CLI_MPS_HUB_H

#include "cli/share_hub.h"
#include "host/mps_server.h"

struct params;

/* False with *e filled: there is none. Its name is for option `mps` (cuda/core/options.h); share_hub_run runs the
 * program. */
bool mps_hub_start(struct share_hub *, const struct params *, struct mps_way, struct err *e);

#endif
