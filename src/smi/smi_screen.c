/* What is for people, and for scripts that look for a few words in it: the table, the list of GPUs, versions. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "smi/smi.h"

enum { MIB = 1024 * 1024 };

/* Lines of the frame: one column, and the three of the GPUs. */
#define WIDE "-----------------------------------------------------------------------------------------"
#define GPUS "-----------------------------------------+------------------------+----------------------"

static void say_when(void)
{
  char text[64];
  struct tm t;
  const time_t now = time(NULL);
  localtime_r(&now, &t);
  strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &t);
  printf("%s       (GPUs simulated by warpstep)\n", text);
}

struct versions {
  char driver[SMI_TEXT], nvml[SMI_TEXT], cuda[SMI_TEXT];
};

/* 13000: CUDA 13.0. */
static struct versions versions_of(void)
{
  struct versions v = {"", "", ""};
  int cuda = 0;
  nvmlSystemGetDriverVersion(v.driver, sizeof v.driver);
  nvmlSystemGetNVMLVersion(v.nvml, sizeof v.nvml);
  nvmlSystemGetCudaDriverVersion_v2(&cuda);
  snprintf(v.cuda, sizeof v.cuda, "%d.%d", cuda / 1000, cuda % 1000 / 10);
  return v;
}

static void head(void)
{
  const struct versions v = versions_of();
  printf("+%s+\n| NVIDIA-SMI %-22s Driver Version: %-14s CUDA Version: %-8s |\n", WIDE, v.driver, v.driver, v.cuda);
  puts("|" GPUS "|\n"
       "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
       "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
       "|                                         |                        |               MIG M. |\n"
       "|=========================================+========================+======================|");
}

/* On, off, or what a GPU that has no such mode says. */
static const char *mode_text(nvmlReturn_t r, unsigned on)
{
  return r != NVML_SUCCESS ? "N/A" : on ? "Enabled" : "Disabled";
}

static void row(nvmlDevice_t gpu)
{
  char name[SMI_TEXT] = "";
  unsigned index = 0, mig = 0, ecc = 0, pending;
  nvmlPciInfo_t pci = {.bus_id = ""};
  nvmlMemory_t memory = {0};
  nvmlDeviceGetIndex(gpu, &index);
  nvmlDeviceGetName(gpu, name, sizeof name);
  nvmlDeviceGetPciInfo_v3(gpu, &pci);
  nvmlDeviceGetMemoryInfo(gpu, &memory);
  const bool checked = nvmlDeviceGetEccMode(gpu, &ecc, &pending) == NVML_SUCCESS && ecc;
  const nvmlReturn_t cut = nvmlDeviceGetMigMode(gpu, &mig, &pending);
  printf("| %3u  %-27.27s %6s | %18s %3s | %20s |\n", index, name, "Off", pci.bus_id, "Off", checked ? "0" : "N/A");
  printf("| %4s  %4s  %4s  %21s | %7lluMiB / %6lluMiB | %8s %11s |\n", "N/A", "N/A", "N/A", "N/A /  N/A ",
         memory.used / MIB, memory.total / MIB, "N/A", "Default");
  printf("|%41s|%24s| %20s |\n+" GPUS "+\n", "", "", mode_text(cut, mig));
}

static unsigned processes_of(nvmlDevice_t gpu)
{
  nvmlProcessInfo_t process[SMI_MOST_PROCESSES];
  char name[SMI_TEXT], memory[SMI_TEXT];
  unsigned index = 0;
  const unsigned n = smi_processes(gpu, process);
  nvmlDeviceGetIndex(gpu, &index);
  for (unsigned i = 0; i < n; i++) {
    smi_process_name(process[i].pid, name);
    if (process[i].used == UINT64_MAX) snprintf(memory, sizeof memory, "N/A");
    else snprintf(memory, sizeof memory, "%lluMiB", process[i].used / MIB);
    printf("| %4u   N/A  N/A %16u %6s   %-33.33s %10.10s |\n", index, process[i].pid, "C", name, memory);
  }
  return n;
}

void smi_show_screen(const struct smi_gpus *g)
{
  unsigned n = 0;
  say_when();
  head();
  for (unsigned i = 0; i < g->n; i++) row(g->of[i]);
  printf("\n+%s+\n| %-87s |\n", WIDE, "Processes:");
  puts("|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n"
       "|        ID   ID                                                               Usage      |\n"
       "|=========================================================================================|");
  for (unsigned i = 0; i < g->n; i++) n += processes_of(g->of[i]);
  if (!n) printf("| %-87s |\n", " No running processes found");
  printf("+%s+\n", WIDE);
}

/* Of a GPU that is cut: "MIG 1g.10gb" of "NVIDIA A100-SXM4-80GB MIG 1g.10gb". */
static void show_instance(nvmlDevice_t instance, unsigned index)
{
  char name[SMI_TEXT] = "", uuid[SMI_TEXT] = "";
  nvmlDeviceGetName(instance, name, sizeof name);
  nvmlDeviceGetUUID(instance, uuid, sizeof uuid);
  const char *const profile = strstr(name, "MIG ");
  printf("  %-15s Device %2u: (UUID: %s)\n", profile ? profile : name, index, uuid);
}

static void show_instances(nvmlDevice_t gpu)
{
  unsigned most = 0;
  nvmlDevice_t instance;
  if (nvmlDeviceGetMaxMigDeviceCount(gpu, &most) != NVML_SUCCESS) return;
  for (unsigned i = 0; i < most; i++)
    if (nvmlDeviceGetMigDeviceHandleByIndex(gpu, i, &instance) == NVML_SUCCESS) show_instance(instance, i);
}

void smi_show_list(const struct smi_gpus *g)
{
  for (unsigned i = 0; i < g->n; i++) {
    char name[SMI_TEXT] = "", uuid[SMI_TEXT] = "";
    unsigned index = 0;
    nvmlDeviceGetIndex(g->of[i], &index);
    nvmlDeviceGetName(g->of[i], name, sizeof name);
    nvmlDeviceGetUUID(g->of[i], uuid, sizeof uuid);
    printf("GPU %u: %s (UUID: %s)\n", index, name, uuid);
    show_instances(g->of[i]);
  }
}

void smi_show_versions(void)
{
  const struct versions v = versions_of();
  printf("NVIDIA-SMI version  : %s\nNVML version        : %s\nDRIVER version      : %s\nCUDA Version        : %s\n",
         v.driver, v.nvml, v.driver, v.cuda);
}
