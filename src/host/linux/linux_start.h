/* How a program begins: its file and interpreter in memory, its first stack. */
#ifndef WS_HOST_LINUX_LINUX_START_H
#define WS_HOST_LINUX_LINUX_START_H

#include "host/linux/linux_process.h"

/* Loads argv[0] into the process's address space, which is empty, and sets the registers of its core. */
bool linux_start(struct linux_process *, char *const *argv, struct err *e);

#endif
