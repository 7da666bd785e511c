/* CUDA_VISIBLE_DEVICES: which GPUs of a machine a program has, and in which order (CUDA C++ Programming Guide, "CUDA
 * Environment Variables"). */
#ifndef WS_CUDA_VISIBLE_BOARDS_H
#define WS_CUDA_VISIBLE_BOARDS_H

#include "config/machine_preset.h"
#include "cuda/core/api.h"

struct boards;

/* Numbers of the machine's GPUs, separated by commas, or the beginnings of their UUIDs ("GPU-77617270-…"); what follows
 * the first that is none does not count, and the same twice leaves none. NULL: all, in their order. Fills node, and
 * returns how many.
 *
 * Where GPUs are cut into instances (boards.mig) a program has one instance, *instance, and no whole GPU beside it
 * (NVIDIA's MIG user guide, "CUDA Device Enumeration"): the first that is named, by the beginning of its UUID ("MIG-"),
 * by "MIG-GPU-…/GPU instance/compute instance", as older drivers call it, or by the number of its GPU, which stands for
 * its first one. NULL: the machine's first. *instance is -1 when only whole GPUs are named. */
unsigned visible_boards(const struct boards *, const char *text, unsigned node[MACHINE_MAX_GPUS], int *instance);

/* The same GPU has the same one: from its name, and its place in the machine. */
CUuuid board_uuid(const char *name, unsigned node);
/* As nvidia-smi -L prints it. */
enum { BOARD_UUID_TEXT = 48 };
void board_uuid_text(const char *name, unsigned node, char text[BOARD_UUID_TEXT]);

/* The first instance of the machine's GPU, an index of boards.mig; -1: it is whole. */
int board_first_instance(const struct boards *, unsigned node);

/* Of an instance, an index of boards.mig; its text begins with "MIG". */
CUuuid instance_uuid(const struct boards *, unsigned instance);
void instance_uuid_text(const struct boards *, unsigned instance, char text[BOARD_UUID_TEXT]);
/* The number that nvidia-smi calls "GI ID" of a GPU's instance: which a driver gives is not published; here from 1, in
 * the order given. */
static inline unsigned instance_id(unsigned number)
{
  return number + 1;
}

#endif
