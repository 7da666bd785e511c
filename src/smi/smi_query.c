/* --query-gpu and --query-compute-apps: a line of CSV for each GPU, or for each process on one. What a simulated GPU
 * does not have is [N/A], as NVIDIA's prints what a board does not have. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "smi/smi.h"

enum { MIB = 1024 * 1024, MOST_FIELDS = 64 };

/* What a line is about. */
struct subject {
  nvmlDevice_t gpu;
  unsigned gpus;                    /* of the machine */
  const nvmlProcessInfo_t *process; /* of a query of processes */
};

/* Writes the value, without its unit. False: there is none. */
typedef bool (*value_fn)(const struct subject *, char text[SMI_TEXT]);

struct field {
  const char *name, *alias; /* NULL: it has one name */
  const char *unit;         /* NULL: none */
  value_fn value;           /* NULL: never known here */
  const char *what;
};

#define PUT(text, ...) (snprintf(text, SMI_TEXT, __VA_ARGS__), true)

static bool number(nvmlReturn_t (*get)(nvmlDevice_t, unsigned *), const struct subject *s, char text[SMI_TEXT])
{
  unsigned value;
  return get(s->gpu, &value) == NVML_SUCCESS && PUT(text, "%u", value);
}

static bool timestamp(const struct subject *s, char text[SMI_TEXT])
{
  struct timespec now;
  struct tm t;
  char day[64];
  (void)s;
  clock_gettime(CLOCK_REALTIME, &now);
  localtime_r(&now.tv_sec, &t);
  strftime(day, sizeof day, "%Y/%m/%d %H:%M:%S", &t);
  return PUT(text, "%s.%03ld", day, now.tv_nsec / 1000000);
}

static bool driver_version(const struct subject *s, char text[SMI_TEXT])
{
  (void)s;
  return nvmlSystemGetDriverVersion(text, SMI_TEXT) == NVML_SUCCESS;
}

static bool count(const struct subject *s, char text[SMI_TEXT])
{
  return PUT(text, "%u", s->gpus);
}

static bool name(const struct subject *s, char text[SMI_TEXT])
{
  return nvmlDeviceGetName(s->gpu, text, SMI_TEXT) == NVML_SUCCESS;
}

static bool uuid(const struct subject *s, char text[SMI_TEXT])
{
  return nvmlDeviceGetUUID(s->gpu, text, SMI_TEXT) == NVML_SUCCESS;
}

static bool index_of(const struct subject *s, char text[SMI_TEXT])
{
  return number(nvmlDeviceGetIndex, s, text);
}

static bool compute_cap(const struct subject *s, char text[SMI_TEXT])
{
  int major, minor;
  return nvmlDeviceGetCudaComputeCapability(s->gpu, &major, &minor) == NVML_SUCCESS && PUT(text, "%d.%d", major, minor);
}

/* PCI */

static bool bus_id(const struct subject *s, char text[SMI_TEXT])
{
  nvmlPciInfo_t p;
  return nvmlDeviceGetPciInfo_v3(s->gpu, &p) == NVML_SUCCESS && PUT(text, "%s", p.bus_id);
}

#define PCI_NUMBER(part, form)                                                                     \
  static bool pci_##part(const struct subject *s, char text[SMI_TEXT])                             \
  {                                                                                                \
    nvmlPciInfo_t p;                                                                               \
    return nvmlDeviceGetPciInfo_v3(s->gpu, &p) == NVML_SUCCESS && PUT(text, form, p.part);         \
  }
PCI_NUMBER(domain, "0x%04X")
PCI_NUMBER(bus, "0x%02X")
PCI_NUMBER(device, "0x%02X")

static bool link_generation(const struct subject *s, char text[SMI_TEXT])
{
  return number(nvmlDeviceGetCurrPcieLinkGeneration, s, text);
}

static bool link_width(const struct subject *s, char text[SMI_TEXT])
{
  return number(nvmlDeviceGetCurrPcieLinkWidth, s, text);
}

/* Memory */

#define MEMORY(part)                                                                               \
  static bool memory_##part(const struct subject *s, char text[SMI_TEXT])                          \
  {                                                                                                \
    nvmlMemory_t m;                                                                                \
    return nvmlDeviceGetMemoryInfo(s->gpu, &m) == NVML_SUCCESS && PUT(text, "%llu", m.part / MIB); \
  }
MEMORY(total)
MEMORY(used)
MEMORY(free)

/* Clocks, modes */

static bool clock_of(const struct subject *s, int type, char text[SMI_TEXT])
{
  unsigned mhz;
  return nvmlDeviceGetClockInfo(s->gpu, type, &mhz) == NVML_SUCCESS && PUT(text, "%u", mhz);
}

static bool clock_sm(const struct subject *s, char text[SMI_TEXT])
{
  return clock_of(s, NVML_CLOCK_SM, text);
}

static bool clock_memory(const struct subject *s, char text[SMI_TEXT])
{
  return clock_of(s, NVML_CLOCK_MEM, text);
}

static bool compute_mode(const struct subject *s, char text[SMI_TEXT])
{
  (void)s;
  return PUT(text, "Default");
}

static bool mig_mode(const struct subject *s, char text[SMI_TEXT])
{
  unsigned current, pending;
  return nvmlDeviceGetMigMode(s->gpu, &current, &pending) == NVML_SUCCESS &&
         PUT(text, "%s", current ? "Enabled" : "Disabled");
}

static bool ecc_mode(const struct subject *s, char text[SMI_TEXT])
{
  unsigned current, pending;
  return nvmlDeviceGetEccMode(s->gpu, &current, &pending) == NVML_SUCCESS &&
         PUT(text, "%s", current ? "Enabled" : "Disabled");
}

static bool disabled(const struct subject *s, char text[SMI_TEXT])
{
  (void)s;
  return PUT(text, "Disabled");
}

static const struct field gpu_fields[] = {
  {"timestamp", NULL, NULL, timestamp, "when it was asked"},
  {"driver_version", NULL, NULL, driver_version, "version of the driver"},
  {"count", NULL, NULL, count, "GPUs of the machine"},
  {"name", "gpu_name", NULL, name, "name of the product"},
  {"serial", "gpu_serial", NULL, NULL, "number of the board"},
  {"uuid", "gpu_uuid", NULL, uuid, "the same for the same preset and index"},
  {"index", NULL, NULL, index_of, "from 0, in the order of the machine"},
  {"compute_cap", NULL, NULL, compute_cap, "compute capability"},
  {"pci.bus_id", "gpu_bus_id", NULL, bus_id, "domain:bus:device.function"},
  {"pci.domain", NULL, NULL, pci_domain, "part of it"},
  {"pci.bus", NULL, NULL, pci_bus, "part of it"},
  {"pci.device", NULL, NULL, pci_device, "part of it"},
  {"pci.device_id", NULL, NULL, NULL, "number of the product"},
  {"pci.sub_device_id", NULL, NULL, NULL, "number of the board"},
  {"pcie.link.gen.current", "pcie.link.gen.gpucurrent", NULL, link_generation, "generation of PCI Express"},
  {"pcie.link.gen.max", "pcie.link.gen.gpumax", NULL, link_generation, "the same"},
  {"pcie.link.width.current", NULL, NULL, link_width, "lanes of PCI Express"},
  {"pcie.link.width.max", NULL, NULL, link_width, "the same"},
  {"memory.total", NULL, "MiB", memory_total, "size of the GPU's memory"},
  {"memory.used", NULL, "MiB", memory_used, "taken by clients of MPS; of other processes it is not known"},
  {"memory.free", NULL, "MiB", memory_free, "the rest"},
  {"memory.reserved", NULL, "MiB", NULL, "taken by the driver"},
  {"compute_mode", NULL, NULL, compute_mode, "who may compute"},
  {"mig.mode.current", NULL, NULL, mig_mode, "whether it is cut into instances"},
  {"mig.mode.pending", NULL, NULL, mig_mode, "the same"},
  {"ecc.mode.current", NULL, NULL, ecc_mode, "check bits"},
  {"ecc.mode.pending", NULL, NULL, ecc_mode, "the same"},
  {"clocks.current.graphics", "clocks.gr", "MHz", clock_sm, "clock of the SMs"},
  {"clocks.current.sm", "clocks.sm", "MHz", clock_sm, "clock of the SMs"},
  {"clocks.current.memory", "clocks.mem", "MHz", clock_memory, "clock of the memory"},
  {"clocks.max.graphics", "clocks.max.gr", "MHz", clock_sm, "the same: clocks do not change"},
  {"clocks.max.sm", NULL, "MHz", clock_sm, "the same"},
  {"clocks.max.memory", "clocks.max.mem", "MHz", clock_memory, "the same"},
  {"persistence_mode", NULL, NULL, disabled, "whether the driver stays loaded"},
  {"display_mode", NULL, NULL, disabled, "whether a screen is there"},
  {"display_active", NULL, NULL, disabled, "whether a screen is in use"},
  {"pstate", NULL, NULL, NULL, "state of performance"},
  {"fan.speed", NULL, "%", NULL, "of its greatest"},
  {"temperature.gpu", NULL, NULL, NULL, "degrees Celsius"},
  {"temperature.memory", NULL, NULL, NULL, "degrees Celsius"},
  {"utilization.gpu", NULL, "%", NULL, "of the time"},
  {"utilization.memory", NULL, "%", NULL, "of the time"},
  {"power.management", NULL, NULL, NULL, "whether power is limited"},
  {"power.draw", NULL, "W", NULL, "power"},
  {"power.limit", NULL, "W", NULL, "its limit"},
  {"power.max_limit", NULL, "W", NULL, "the highest that can be set"},
  {NULL, NULL, NULL, NULL, NULL},
};

static bool process_number(const struct subject *s, char text[SMI_TEXT])
{
  return PUT(text, "%u", s->process->pid);
}

static bool process_name(const struct subject *s, char text[SMI_TEXT])
{
  smi_process_name(s->process->pid, text);
  return true;
}

static bool process_memory(const struct subject *s, char text[SMI_TEXT])
{
  return s->process->used != UINT64_MAX && PUT(text, "%llu", s->process->used / MIB);
}

static const struct field process_fields[] = {
  {"timestamp", NULL, NULL, timestamp, "when it was asked"},
  {"gpu_name", NULL, NULL, name, "name of the product"},
  {"gpu_bus_id", NULL, NULL, bus_id, "domain:bus:device.function"},
  {"gpu_serial", NULL, NULL, NULL, "number of the board"},
  {"gpu_uuid", NULL, NULL, uuid, "of the GPU"},
  {"pid", NULL, NULL, process_number, "number of the process"},
  {"process_name", "name", NULL, process_name, "program that it runs"},
  {"used_gpu_memory", "used_memory", "MiB", process_memory, "what it has taken"},
  {NULL, NULL, NULL, NULL, NULL},
};

/* The fields that were asked for. */
struct columns {
  const struct field *of[MOST_FIELDS];
  unsigned n;
};

static const struct field *field_named(const struct field *f, const char *text)
{
  for (; f->name; f++)
    if (!strcasecmp(f->name, text) || (f->alias && !strcasecmp(f->alias, text))) return f;
  return NULL;
}

static bool columns_read(struct columns *c, const struct field *known, const char *text)
{
  char asked[SMI_TEXT];
  c->n = 0;
  for (const char *at = text;; at++) {
    const size_t blank = strspn(at, " "), n = strcspn(at += blank, ",");
    if (c->n == MOST_FIELDS) {
      printf("At most %d fields in one query.\n", MOST_FIELDS);
      return false;
    }
    snprintf(asked, SMI_TEXT, "%.*s", (int)(n < SMI_TEXT ? n : SMI_TEXT - 1), at);
    for (size_t last = strlen(asked); last && asked[last - 1] == ' ';) asked[--last] = '\0';
    c->of[c->n] = field_named(known, asked);
    if (!c->of[c->n]) {
      printf("Field \"%s\" is not a valid field to query.\n", asked);
      return false;
    }
    c->n++;
    if (!*(at += n)) return true;
  }
}

/* Fields have their own names there, also when they were asked for by others. */
static void print_header(const struct columns *c)
{
  for (unsigned i = 0; i < c->n; i++) {
    printf("%s%s", i ? ", " : "", c->of[i]->name);
    if (c->of[i]->unit) printf(" [%s]", c->of[i]->unit);
  }
  putchar('\n');
}

static void print_line(const struct columns *c, const struct subject *s, struct smi_format format)
{
  char text[SMI_TEXT];
  for (unsigned i = 0; i < c->n; i++) {
    const struct field *f = c->of[i];
    const bool known = f->value && f->value(s, text);
    printf("%s%s", i ? ", " : "", known ? text : "[N/A]");
    if (known && f->unit && format.units) printf(" %s", f->unit);
  }
  putchar('\n');
}

int smi_query_gpus(const struct smi_gpus *g, const char *fields, struct smi_format format)
{
  struct columns c;
  const unsigned all = smi_gpus_all().n;
  if (!columns_read(&c, gpu_fields, fields)) return SMI_INVALID;
  if (format.header) print_header(&c);
  for (unsigned i = 0; i < g->n; i++)
    print_line(&c, &(struct subject){.gpu = g->of[i], .gpus = all}, format);
  return SMI_OK;
}

int smi_query_processes(const struct smi_gpus *g, const char *fields, struct smi_format format)
{
  struct columns c;
  nvmlProcessInfo_t process[SMI_MOST_PROCESSES];
  if (!columns_read(&c, process_fields, fields)) return SMI_INVALID;
  if (format.header) print_header(&c);
  for (unsigned i = 0; i < g->n; i++) {
    const unsigned n = smi_processes(g->of[i], process);
    for (unsigned k = 0; k < n; k++) print_line(&c, &(struct subject){.gpu = g->of[i], .process = &process[k]}, format);
  }
  return SMI_OK;
}

static void help(const struct field *f)
{
  for (; f->name; f++)
    printf("\"%s\"%s%s%s%s\n  %s\n", f->name, f->alias ? " or \"" : "", f->alias ? f->alias : "",
           f->alias ? "\"" : "", f->value ? "" : ": always [N/A] here", f->what);
}

void smi_help_gpus(void)
{
  help(gpu_fields);
}

void smi_help_processes(void)
{
  help(process_fields);
}
