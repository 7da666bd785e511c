/* Which file lies where in a process: names of places in code, for messages. */
#ifndef WS_HOST_LINUX_LINUX_OBJECT_H
#define WS_HOST_LINUX_LINUX_OBJECT_H

#include "host/linux/linux_elf.h"
#include "host/linux/linux_process.h"

/* [start, end) was mapped from `path`, from this offset of the file on. */
void linux_object_note(struct linux_process *, const char *path, uint64_t start, uint64_t end, uint64_t offset);
void linux_objects_free(struct linux_process *);
/* All of a file was loaded, `bias` above its own addresses. */
void linux_object_note_whole(struct linux_process *, const char *path, const struct linux_elf *, uint64_t bias);
/* "0x10642 (main + 0x12 in program)", "0x4000 in libc.so.6", or only the address. Safe to print. */
void linux_object_describe(const struct linux_process *, uint64_t addr, char *buf, size_t size);

#endif
