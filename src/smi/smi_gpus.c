/* Which GPUs are asked about, and which processes are on them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "smi/smi.h"

struct smi_gpus smi_gpus_all(void)
{
  struct smi_gpus all = {.n = 0};
  unsigned count = 0;
  nvmlDeviceGetCount_v2(&count);
  for (unsigned i = 0; i < count && all.n < SMI_MOST_GPUS; i++)
    if (nvmlDeviceGetHandleByIndex_v2(i, &all.of[all.n]) == NVML_SUCCESS) all.n++;
  return all;
}

static bool by_name(const char *name, nvmlDevice_t *gpu)
{
  char *end;
  errno = 0;
  const unsigned long index = strtoul(name, &end, 10);
  if (*name >= '0' && *name <= '9' && !*end && !errno && index < SMI_MOST_GPUS)
    return nvmlDeviceGetHandleByIndex_v2((unsigned)index, gpu) == NVML_SUCCESS;
  return nvmlDeviceGetHandleByUUID(name, gpu) == NVML_SUCCESS ||
         nvmlDeviceGetHandleByPciBusId_v2(name, gpu) == NVML_SUCCESS;
}

static bool has(const struct smi_gpus *g, nvmlDevice_t gpu)
{
  for (unsigned i = 0; i < g->n; i++)
    if (g->of[i] == gpu) return true;
  return false;
}

bool smi_gpus_named(const char *text, struct smi_gpus *to)
{
  char name[SMI_TEXT];
  struct smi_gpus named = {.n = 0}, all = smi_gpus_all();
  for (const char *at = text;; at++) {
    const size_t n = strcspn(at, ",");
    nvmlDevice_t gpu;
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), at);
    if (n >= sizeof name || !by_name(name, &gpu) || !has(&all, gpu)) {
      printf("No devices were found: there is no GPU %s\n", name);
      return false;
    }
    if (!has(&named, gpu) && named.n < SMI_MOST_GPUS) named.of[named.n++] = gpu;
    if (!*(at += n)) break;
  }
  to->n = 0;
  for (unsigned i = 0; i < all.n; i++)
    if (has(&named, all.of[i])) to->of[to->n++] = all.of[i];
  return true;
}

unsigned smi_processes(nvmlDevice_t gpu, nvmlProcessInfo_t to[SMI_MOST_PROCESSES])
{
  unsigned n = SMI_MOST_PROCESSES, clients;
  if (nvmlDeviceGetComputeRunningProcesses_v3(gpu, &n, to) != NVML_SUCCESS) n = 0;
  clients = SMI_MOST_PROCESSES - n;
  if (nvmlDeviceGetMPSComputeRunningProcesses_v3(gpu, &clients, to + n) != NVML_SUCCESS) clients = 0;
  return n + clients;
}

void smi_process_name(unsigned process, char text[SMI_TEXT])
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/exe", process);
  const ssize_t n = readlink(path, text, SMI_TEXT - 1);
  if (n < 0) snprintf(text, SMI_TEXT, "[Not Found]");
  else text[n] = '\0';
}
