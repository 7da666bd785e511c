/* nvidia-smi for the GPUs that `warpstep exec` simulates: programs and scripts start it to learn which GPUs there are.
 * It asks NVML (src/cuda/nvml), as NVIDIA's does, and prints the forms that scripts read: the list, the table, CSV of
 * chosen fields, the matrix of topology. All forms are those that NVIDIA's manual page of nvidia-smi describes.
 */
#ifndef WS_SMI_SMI_H
#define WS_SMI_SMI_H

#include <stdbool.h>

#include "cuda/nvml/nvml_functions.h"

/* What GPUs of a machine can be at most; more are not shown. */
enum { SMI_MOST_GPUS = 64, SMI_TEXT = 128 };
/* Exit statuses of the manual page. */
enum { SMI_OK = 0, SMI_INVALID = 2, SMI_NOT_FOUND = 6, SMI_NO_DRIVER = 9 };

/* The GPUs that are asked about, in the order of their indices. */
struct smi_gpus {
  nvmlDevice_t of[SMI_MOST_GPUS];
  unsigned n;
};

/* What --format says. */
struct smi_format {
  bool header, units;
};

/* All of them. */
struct smi_gpus smi_gpus_all(void);
/* Those that the text names, with commas between: an index, a UUID or an address of PCI each; instances of a GPU have
 * none of their own here. False: there is no such GPU, after a line that says so. */
bool smi_gpus_named(const char *text, struct smi_gpus *);

void smi_show_list(const struct smi_gpus *);
void smi_show_screen(const struct smi_gpus *);
void smi_show_topology(void);
void smi_show_versions(void);

/* Fields, with commas between, of each GPU, or of each process on them. SMI_INVALID after a line that names a field
 * which there is none of. */
int smi_query_gpus(const struct smi_gpus *, const char *fields, struct smi_format);
int smi_query_processes(const struct smi_gpus *, const char *fields, struct smi_format);
/* Their names and what they mean. */
void smi_help_gpus(void);
void smi_help_processes(void);

/* The processes that compute on a GPU: clients of MPS among them. Their number. */
enum { SMI_MOST_PROCESSES = 64 };
unsigned smi_processes(nvmlDevice_t, nvmlProcessInfo_t[SMI_MOST_PROCESSES]);
/* The program that a process runs. */
void smi_process_name(unsigned process, char text[SMI_TEXT]);

#endif
