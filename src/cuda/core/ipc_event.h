/* Events that several processes have (CUDA IPC): who waits for one waits for what any of them recorded last.
 *
 * Such an event is a slot in a file in memory that all map: the number of its records, which of the last 64 have not
 * happened yet, and when the last one did. A record that this process has made is a command of its own front end; one
 * that another has made is waited for by a command that asks (host/front.h) until its mark is gone (streams.c).
 *
 *   time   of other processes means something only where all have one time axis (exec --share); elsewhere a record of
 *          another process has happened when it is seen
 *   ends   a process that ends has let all happen; one that was killed holds nobody up
 */
#ifndef WS_CUDA_IPC_EVENT_H
#define WS_CUDA_IPC_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct shim;
struct shared_event; /* the slot */
struct open_record;  /* of this process, which has not happened */

/* A record of such an event. */
struct shared_record {
  struct shared_event *slot;
  uint64_t number; /* from 1 */
};

/* Where the event's slot is for others, which it gets with the first call: the file's descriptor, and a byte in it.
 * False: no memory. */
bool ipc_event_export(struct shim *, struct event *, int *fd, uint64_t *offset);
/* The event, which is new, is the one of that slot. */
bool ipc_event_import(struct shim *, struct event *, int fd, uint64_t offset);
/* It is recorded, and has happened with the second call, at `now`, ps. */
struct open_record *ipc_event_record(struct shim *, struct event *);
void ipc_record_ended(void *open_record, uint64_t now);
/* False: what this process knows of the event is all (event.command). */
bool ipc_event_is_elsewhere(const struct event *, struct shared_record *);

/* It has happened, or the process that made it is gone. */
bool ipc_record_is_over(const struct shared_record *);
/* ps, on the time axis of all. */
uint64_t ipc_record_end(const struct shared_record *);
void ipc_record_describe(const struct shared_record *, char *text, size_t size);
/* Sleeps until the event changes, or for some milliseconds. */
void ipc_record_wait(const struct shared_record *);

/* This process ends: what it has recorded has happened, or never will. */
void ipc_events_end(struct shim *);

#endif
