/* CUDA_VISIBLE_DEVICES: which GPUs of a machine a program has, and in which order (CUDA C++ Programming Guide, "CUDA
 * Environment Variables"). */
#ifndef WS_CUDA_VISIBLE_BOARDS_H
#define WS_CUDA_VISIBLE_BOARDS_H

#include "config/machine_preset.h"
#include "cuda/core/api.h"

/* Numbers of the machine's GPUs, separated by commas, or the beginnings of their UUIDs ("GPU-77617270-…"); what follows
 * the first that is none does not count, and the same twice leaves none. NULL: all, in their order. Fills node, and
 * returns how many. */
unsigned visible_boards(const struct machine_preset *, const char *text, unsigned node[MACHINE_MAX_GPUS]);

/* The same GPU has the same one: from its name, and its place in the machine. */
CUuuid board_uuid(const char *name, unsigned node);
/* As nvidia-smi -L prints it. */
enum { BOARD_UUID_TEXT = 48 };
void board_uuid_text(const char *name, unsigned node, char text[BOARD_UUID_TEXT]);

/* Where the GPU is cut into instances (boards.mig): the one that the program has, -1: none. It has one at most, the
 * first that is named: "MIG-…", the beginning of a UUID; "MIG-GPU-…/GPU instance/compute instance", as older drivers
 * call it; 0, or NULL: the first (NVIDIA's MIG user guide, "CUDA Device Enumeration"). name: of the whole GPU. */
struct boards;
int visible_instance(const struct boards *, const char *name, const char *text);

/* Of an instance; its text begins with "MIG". */
CUuuid instance_uuid(const struct boards *, const char *name, unsigned instance);
void instance_uuid_text(const struct boards *, const char *name, unsigned instance, char text[BOARD_UUID_TEXT]);
/* The number that nvidia-smi calls "GI ID": which a driver gives is not published; here from 1, in the order given. */
static inline unsigned instance_id(unsigned instance)
{
  return instance + 1;
}

#endif
