/* The server of the Multi-Process Service: one GPU in which launches and copies of several processes, its clients, are
 * at the same time, on the same SMs (docs/sharing.md). Who carries messages from and to them (host/mps_wire.h), and
 * knows when all that could say something have, is the caller (cli/mps_hub.c).
 *
 *   order    what clients have given comes to the GPU by its simulated time, then by the client's number for it, then
 *            as given: so answers follow from simulated times alone
 *   time     passes to the earliest time that a client asks for, or until something has ended; then those it concerns
 *            have their answer
 *   spaces   each client has addresses of its own, so caches and TLBs tell clients apart; a kernel reaches the memory
 *            of its client alone (func_params.own_space)
 *   calls    of the device runtime are answered by the client whose kernel makes them, in the midst of a window
 *   faults   end the work of all clients; until the last of them has gone no other is let in
 */
#ifndef WS_HOST_MPS_SERVER_H
#define WS_HOST_MPS_SERVER_H

#include <sys/types.h>

#include "host/activity_choice.h"
#include "host/mps_wire.h"

/* How its GPU runs. */
struct mps_way {
  unsigned threads; /* of the host */
  bool usage;       /* launches that are alone tell how busy units were over their time (usage.h) */
  const struct activity_choice *shown; /* what clients want to know of SMs, in ns; NULL: nothing. It is copied */
};

struct mps_server;
typedef void mps_send_fn(void *ctx, unsigned client, const void *, size_t bytes);

/* How it hears clients while time passes. */
struct mps_ears {
  bool (*input)(void *ctx); /* behind windows: whether messages may have come */
  void (*listen)(void *ctx, unsigned client); /* waits until something has come of it, and hands that over */
};

/* The page is the caller's, as long as the server lives. */
struct mps_server *mps_server_new(const struct params *, struct mps_way, struct mps_page *, mps_send_fn *,
                                  struct mps_ears, void *ctx);
/* Number `client` is a process from now on; gone: it is none any more, its work goes on as nobody's. */
void mps_server_come(struct mps_server *, unsigned client, pid_t);
void mps_server_go(struct mps_server *, unsigned client);
/* A message, whole. False: it makes no sense. */
bool mps_server_hear(struct mps_server *, unsigned client, const struct mps_head *, const void *);

/* A question of it is not answered; it has work, and will ask. */
bool mps_server_asks(const struct mps_server *, unsigned client);
bool mps_server_works(const struct mps_server *, unsigned client);
/* It wants its answer now. */
bool mps_server_pressed(const struct mps_server *, unsigned client);
/* No client has this number. */
bool mps_server_free(const struct mps_server *, unsigned client);
/* Somebody waits to be let in. */
bool mps_server_joins(const struct mps_server *);
/* Answers who is pressed; no time passes. */
void mps_server_hurry(struct mps_server *);
/* All that could say something have: answers one client at least, if any asks. */
void mps_server_step(struct mps_server *);

#endif
