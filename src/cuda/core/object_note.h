/* What the program said when it made a texture or surface object, for it to ask back. Each interface has
 * forms of its own for that, and so a list of its own.
 */
#ifndef WS_CUDA_OBJECT_NOTE_H
#define WS_CUDA_OBJECT_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shim;
struct shim_part;

enum note_list { NOTES_OF_DRIVER, NOTES_OF_RUNTIME, NOTES__N };

struct object_notes {
  struct object_note *first[NOTES__N];
};

/* A copy of `bytes` bytes. */
void object_note_keep(struct shim *, enum note_list, uint64_t handle, bool surface, const void *said, size_t bytes);
/* NULL: the interface made no such object. */
const void *object_note_find(struct shim *, enum note_list, uint64_t handle, bool surface);
void object_note_drop(struct shim *, enum note_list, uint64_t handle, bool surface);

extern const struct shim_part object_note_part;

#endif
