/* Files of a Linux process across a checkpoint (docs/checkpoints.md): all of the process is memory but for what the
 * host has of its open files.
 *
 * Files and folders are opened again by their names, where they were. Standard input, output and error are those of the
 * process that goes on. What has no name (pipes, sockets, files that were removed) cannot be kept.
 */
#ifndef WS_HOST_LINUX_LINUX_KEPT_H
#define WS_HOST_LINUX_LINUX_KEPT_H

#include "host/linux/linux_process.h"

/* Before it: notes what is open. False: something cannot be opened again, *e says what. */
bool linux_files_keep(struct linux_process *, struct err *e);
/* Behind it, in a process that has none of them: opens them. False: one is not there any more, or is another. */
bool linux_files_open_again(struct linux_process *, struct err *e);

#endif
