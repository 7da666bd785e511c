/* warpstep: runs the machine code of NVIDIA GPUs, cycle by cycle, without a GPU.
 *
 *   ws_device *gpu;
 *   ws_module *module;
 *   const ws_kernel *kernel;
 *   ws_result *result;
 *   ws_error error = WS_ERROR_INIT;
 *   struct ws_device_options o = WS_DEVICE_OPTIONS_INIT;
 *   o.preset = "rtx-3070";
 *   if (ws_device_create(&o, &gpu, &error)) …;              every call: 0, or a status and error.message
 *   ws_module_load(gpu, "vecadd.sm_86.cubin", &module, &error);
 *   ws_module_kernel(module, "vecadd", &kernel, &error);
 *   ws_alloc(gpu, bytes, &x, &error); ws_copy_in(gpu, x, host_x, bytes, &error);
 *   ws_launch(kernel, &launch, &result, &error);
 *   printf("%llu cycles\n", (unsigned long long)ws_result_cycles(result));
 *
 * Structs: those that the caller fills open with `size`, set by their _INIT macro; later versions may add
 * fields at the end. All else is an opaque handle. Strings are UTF-8, end with a zero, and belong to the
 * handle they come from.
 *
 * Errors: a function that can fail returns enum ws_status (0: success) and takes a ws_error (may be
 * NULL). After a failure its outputs are unchanged. A fault of the simulated program, a limit that was
 * reached and a cancelled run are not errors: they are in the result. When the host runs out of memory the
 * call returns WS_NO_HOST_MEMORY; a device in the midst of whose change this happened is lost: every later call
 * that needs it returns the same, until ws_device_destroy frees what it had. Only broken invariants
 * of the simulator end the process, with status 4 and one line on stderr.
 *
 * Threads: a device, and the modules and kernels of it, are used by one thread at a time; different
 * devices are independent of each other. A result belongs to nobody once it is made. Callbacks come on the
 * thread that called ws_launch or ws_run_until and must not call functions of the same device, but for ws_memory_answer
 * by the memory's. The library installs no
 * signal handlers and writes nothing to stdout.
 *
 * ABI: functions and fields are only added while WS_ABI_VERSION stays; it is the number in the name of
 * the shared library (libwarpstep.so.N).
 */
#ifndef WARPSTEP_WARPSTEP_H
#define WARPSTEP_WARPSTEP_H

#include <stddef.h>
#include <stdint.h>

#define WS_VERSION_MAJOR 0
#define WS_VERSION_MINOR 1
#define WS_VERSION_PATCH 0
#define WS_ABI_VERSION 0

#if defined(__GNUC__)
#define WS_API __attribute__((visibility("default")))
#else
#define WS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Of the library that runs, which may be newer than this header: "0.1.0"; WS_ABI_VERSION. */
WS_API const char *ws_version(void);
WS_API unsigned ws_abi_version(void);

/* ---- errors ---- */

enum ws_status {
  WS_OK = 0,
  WS_BAD_ARGUMENT,  /* NULL, an address outside allocations, a struct of unknown size */
  WS_BAD_FILE,      /* cannot be read, is damaged, has no code for this GPU */
  WS_BAD_PRESET,    /* no such preset or parameter, a value out of range */
  WS_NOT_FOUND,     /* no kernel, variable or counter of this name */
  WS_OUT_OF_MEMORY, /* of the simulated device */
  WS_BAD_LAUNCH,    /* the launch does not fit the kernel or the GPU */
  WS_NO_HOST_MEMORY /* the host's, not the device's; see Errors above */
};

typedef struct ws_error {
  size_t size;
  int status; /* enum ws_status */
  char message[512];
} ws_error;

#define WS_ERROR_INIT {sizeof(ws_error), 0, {0}}

/* ---- devices ---- */

typedef struct ws_device ws_device;
typedef struct ws_module ws_module;
typedef struct ws_kernel ws_kernel;
typedef struct ws_result ws_result;

/* An address in the memory of a device, as kernels see it. 0 is never allocated. */
typedef uint64_t ws_address;

/* Text of the device's printf, `bytes` bytes that do not end with a zero. Order is that of the calls; text
 * arrives at the latest when ws_launch returns. */
typedef void ws_print_fn(void *context, const char *text, size_t bytes);

/* What L2 asks of a memory that somebody else simulates. Addresses are those of kernels; code, constants and local memory
 * have their own. Requests of one call come in order of time. */
struct ws_memory_request {
  size_t size;
  uint64_t id;        /* of a read: for ws_memory_answer; 0: a write, which is not answered */
  uint64_t time_ps;   /* when it leaves L2, by the device's clock */
  ws_address address; /* a multiple of 128 */
  uint32_t sectors;   /* bit i of four: 32 bytes from address + 32 i on */
  uint32_t partial;   /* of a write: sectors of which only some bytes are written */
};
typedef void ws_memory_fn(void *context, const struct ws_memory_request *);

struct ws_device_options {
  size_t size;
  const char *preset;     /* a name ("rtx-3070", `warpstep gpus` lists them) or a file ("./my.cfg") */
  const char *preset_dir; /* NULL: $WARPSTEP_PRESETS, else where the library is installed */
  const char *const *overrides; /* "key=value" of `warpstep gpus --resolve NAME`;
                                   "clock=MHZ" locks the SM clock */
  size_t n_overrides;
  uint64_t heap_bytes;    /* for malloc() of kernels; 0: 8 MiB, the default of CUDA */
  ws_print_fn *print;     /* NULL: printf of kernels is dropped */
  void *print_context;
  ws_memory_fn *memory;   /* behind L2 there is no DRAM but this memory, which answers by ws_memory_answer, then or later;
                             NULL: the preset's DRAM. It only takes time: bytes stay with the device */
  void *memory_context;
};

#define WS_DEVICE_OPTIONS_INIT {sizeof(struct ws_device_options), 0, 0, 0, 0, 0, 0, 0, 0, 0}

WS_API int ws_device_create(const struct ws_device_options *, ws_device **, ws_error *);
/* With its modules and memory. NULL is allowed. */
WS_API void ws_device_destroy(ws_device *);
/* Text of a parameter ("gpu.sms": "46"), valid until the next call for this device; NULL: there is none
 * of this name. */
WS_API const char *ws_device_parameter(ws_device *, const char *key);

/* ---- device memory ---- */

/* Zero-filled, aligned to 512 bytes. bytes > 0. */
WS_API int ws_alloc(ws_device *, uint64_t bytes, ws_address *, ws_error *);
WS_API int ws_free(ws_device *, ws_address, ws_error *);
/* Copies between host and device. All bytes must lie in allocations or variables. */
WS_API int ws_copy_in(ws_device *, ws_address to, const void *from, size_t bytes, ws_error *);
WS_API int ws_copy_out(ws_device *, void *to, ws_address from, size_t bytes, ws_error *);
/* Within the device; the ranges may overlap. */
WS_API int ws_copy(ws_device *, ws_address to, ws_address from, size_t bytes, ws_error *);
/* `count` copies of a pattern of 1 to 16 bytes. */
WS_API int ws_fill(ws_device *, ws_address to, const void *pattern, size_t pattern_bytes, size_t count,
                   ws_error *);

/* ---- modules ---- */

/* A cubin, or anything that holds some: fat binary, executable, shared object, object file or library
 * made by nvcc. All parts for this GPU are loaded. */
WS_API int ws_module_load(ws_device *, const char *path, ws_module **, ws_error *);
/* The same of `bytes` bytes, needed only during the call; `name` (may be NULL) is used in messages. */
WS_API int ws_module_load_memory(ws_device *, const void *image, size_t bytes, const char *name,
                                 ws_module **, ws_error *);
/* One module of n files, objects of nvcc -rdc=true (-dc) that are linked as nvlink does: what one uses
 * another one may define. One file as ws_module_load. */
WS_API int ws_module_link(ws_device *, const char *const *path, size_t n, ws_module **, ws_error *);
/* With its kernels and variables. NULL is allowed. */
WS_API void ws_module_unload(ws_module *);

/* Kernels, in the order of the file. */
WS_API size_t ws_module_kernel_count(const ws_module *);
WS_API const ws_kernel *ws_module_kernel_at(const ws_module *, size_t i);
/* By its symbol ("_Z6vecaddPfS_S_j") or, if that is unambiguous, its plain name ("vecadd"). */
WS_API int ws_module_kernel(const ws_module *, const char *name, const ws_kernel **, ws_error *);

WS_API const char *ws_kernel_name(const ws_kernel *);
WS_API size_t ws_kernel_parameter_count(const ws_kernel *);
/* Bytes of a parameter, 0: there is no parameter i; *offset (may be NULL) in the parameter block. */
WS_API size_t ws_kernel_parameter(const ws_kernel *, size_t i, size_t *offset);

enum ws_kernel_attribute {
  WS_KERNEL_REGISTERS,    /* per thread */
  WS_KERNEL_SHARED_BYTES, /* static, per CTA */
  WS_KERNEL_STACK_BYTES,  /* per thread, as far as the compiler knows */
  WS_KERNEL_MAX_THREADS   /* __launch_bounds__; 0: not stated */
};
/* 0 for an unknown attribute. */
WS_API uint64_t ws_kernel_attribute(const ws_kernel *, int attribute);

/* A __device__ variable: its address and size (both may be NULL). __constant__ variables have no address
 * that a host may write: use ws_variable_write. */
WS_API int ws_variable(const ws_module *, const char *name, ws_address *, uint64_t *bytes, ws_error *);
/* From the start of a __device__ or __constant__ variable. */
WS_API int ws_variable_write(ws_module *, const char *name, const void *from, size_t bytes, ws_error *);
WS_API int ws_variable_read(const ws_module *, const char *name, void *to, size_t bytes, ws_error *);

/* ---- launches ---- */

enum ws_mode {
  WS_TIMED,     /* on the timing model: results, cycles, counters */
  WS_FUNCTIONAL /* results only: ~20 times faster */
};

enum ws_launch_flag {
  WS_COOPERATIVE = 1 << 0,   /* all CTAs must be resident at once: grid.sync() works */
  WS_CHECK_HAZARDS = 1 << 1, /* timed: do the control bits protect all registers? */
  WS_JSON = 1 << 2,          /* ws_result_json will be asked for */
  WS_EMULATE_HAZARDS = 1 << 3, /* timed: wrong control bits give wrong results, as on silicon; with
                                  WS_CHECK_HAZARDS what goes wrong in that run is reported */
  WS_PROFILE = 1 << 4        /* timed: ws_result_profile_at will be asked for */
};

/* How far a launch is. */
struct ws_progress {
  size_t size;
  uint64_t cycles; /* 0 without time */
  uint64_t instructions; /* of warps */
  uint64_t ctas_done, ctas;
};

/* Called a few times per second of host time. Not 0: cancel the launch. */
typedef int ws_progress_fn(void *context, const struct ws_progress *);

struct ws_launch {
  size_t size;
  uint32_t grid[3], block[3]; /* CTAs; threads of a CTA */
  uint32_t shared_bytes;      /* dynamic shared memory of a CTA */
  uint32_t stack_bytes;       /* per thread, for kernels with a stack; 0: 1024 */
  /* A pointer to each argument, as for cuLaunchKernel; sizes are those of the kernel's parameters. May be
   * NULL when it has none. */
  void *const *arguments;
  int mode;                   /* enum ws_mode */
  unsigned flags;             /* enum ws_launch_flag */
  unsigned threads;           /* host threads, at most 1024; 0: 1. Results do not depend on it */
  uint64_t max_cycles;        /* stop a timed launch then; 0: never */
  uint64_t max_instructions;  /* stop after so many warp instructions; 0: never */
  ws_progress_fn *progress;   /* may be NULL */
  void *progress_context;
  uint32_t cluster[3];        /* CTAs of a thread block cluster; all 0: as the kernel was compiled */
};

#define WS_LAUNCH_INIT {sizeof(struct ws_launch), {1, 1, 1}, {1, 1, 1}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0, 0}}

/* Runs the kernel to its end, a fault, a limit or a cancel. L2 stays warm from one timed launch to the
 * next that ended normally, with the same threads and flags. After a fault, limit or cancel memory holds
 * what was written so far, and later launches work. */
WS_API int ws_launch(const ws_kernel *, const struct ws_launch *, ws_result **, ws_error *);

/* ---- launches in steps: the device inside of another simulator ---- */

/* The device has a clock, in picoseconds, which stands between launches. A run is a timed launch that goes on as far as its
 * caller says: it passes time in windows of some ns (ws_run_window), so requests to an outer memory come at most so much
 * before the time that the device has reached, and answers for earlier are taken as for then. While a run is open the
 * device's memory may be read and written; all else that changes the device is WS_BAD_ARGUMENT. Stepping changes no
 * result. */
typedef struct ws_run ws_run;

/* Begins at start_ps of the device's clock, if that is past: now. The launch is timed, without max_cycles,
 * max_instructions, hazards and WS_COOPERATIVE; its `arguments` are needed during the call alone. */
WS_API int ws_run_begin(const ws_kernel *, const struct ws_launch *, uint64_t start_ps, ws_run **, ws_error *);
/* Lets all happen that happens before `time_ps`. *ended (may be NULL): 1: the launch has ended, well or not.
 * UINT64_MAX: to its end; reads that the memory did not answer by then never come: WS_DEADLOCK. */
WS_API int ws_run_until(ws_run *, uint64_t time_ps, int *ended, ws_error *);
/* How far the run is; the length of a window. ps */
WS_API uint64_t ws_run_now(const ws_run *);
WS_API uint64_t ws_run_window(const ws_run *);
/* Ends the run and frees it, also when it fails; a launch that has not ended is cancelled. The result may be NULL: it is
 * dropped. */
WS_API int ws_run_end(ws_run *, ws_result **, ws_error *);

/* The bytes of a read are at L2 at time_ps, in the past: now. The order of calls does not matter. Inside of the memory's callback or between calls of
 * ws_run_until. WS_NOT_FOUND: no such read waits, as when its launch has ended; nothing happens. */
WS_API int ws_memory_answer(ws_device *, uint64_t id, uint64_t time_ps, ws_error *);

/* ---- results: they outlive device and module ---- */

enum ws_end {
  WS_ENDED,             /* the kernel ran to its end */
  WS_FAULT,             /* ws_result_fault says more */
  WS_CYCLE_LIMIT,
  WS_INSTRUCTION_LIMIT,
  WS_CANCELLED          /* by the progress callback */
};

/* NULL is allowed. */
WS_API void ws_result_destroy(ws_result *);
WS_API int ws_result_end(const ws_result *); /* enum ws_end */
/* SM clock cycles and simulated time; 0 without time. */
WS_API uint64_t ws_result_cycles(const ws_result *);
WS_API double ws_result_nanoseconds(const ws_result *);
/* Instructions of warps; of threads (lanes with a true guard). */
WS_API uint64_t ws_result_instructions(const ws_result *);
WS_API uint64_t ws_result_thread_instructions(const ws_result *);

/* One count of a timed launch. Names are those of the JSON document, dotted: "l2.requests",
 * "sm.warp_state.wait". */
struct ws_counter {
  size_t size;
  const char *name, *unit, *text; /* text: what is counted, one sentence */
  uint64_t value;
};
#define WS_COUNTER_INIT {sizeof(struct ws_counter), 0, 0, 0, 0}

WS_API size_t ws_result_counter_count(const ws_result *);
WS_API int ws_result_counter_at(const ws_result *, size_t i, struct ws_counter *, ws_error *);
WS_API int ws_result_counter(const ws_result *, const char *name, uint64_t *value, ws_error *);
/* Where the issue slots of all sub-cores went, cause by cause ("issued", "long_scoreboard", …): the
 * counters "sm.slot.*". They add up to all slots. name and slots may be NULL; WS_NOT_FOUND: no cause i. */
WS_API int ws_result_slot_at(const ws_result *, size_t i, const char **name, uint64_t *slots,
                             ws_error *);

enum ws_fault_kind {
  WS_NO_FAULT,
  WS_ILLEGAL_ADDRESS,
  WS_MISALIGNED_ADDRESS,
  WS_SHARED_RANGE,        /* outside the CTA's shared memory */
  WS_LOCAL_RANGE,         /* outside the thread's local memory: stack overflow */
  WS_ILLEGAL_INSTRUCTION, /* unknown, or not executable yet */
  WS_ILLEGAL_PC,
  WS_TRAP,                /* __trap() */
  WS_DEADLOCK,
  WS_UNSUPPORTED,         /* a service of the runtime that the simulator lacks */
  WS_ASSERT               /* assert() */
};

struct ws_fault {
  size_t size;
  int kind;                /* enum ws_fault_kind */
  const char *kind_name;   /* "illegal address" */
  const char *kernel;
  const char *where;       /* function and offset: "vecadd+0x120" */
  const char *instruction; /* disassembled; empty when unknown */
  const char *message;     /* one line */
  uint64_t pc;             /* in the code space of the module */
  ws_address address;      /* faulting access */
  const char *near_allocation; /* "16 bytes past the end of …"; empty for other faults */
  uint32_t cta[3], thread[3];
};
#define WS_FAULT_INIT {sizeof(struct ws_fault), 0, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0, 0}, {0, 0, 0}}

/* WS_NOT_FOUND: there was no fault. */
WS_API int ws_result_fault(const ws_result *, struct ws_fault *, ws_error *);

/* Where the resident warps were when the launch did not end normally; most warps first. */
struct ws_place {
  size_t size;
  const char *where, *instruction;
  const char *state; /* "ready", "at a barrier", "waiting for other lanes" */
  uint64_t warps, lanes;
};
#define WS_PLACE_INIT {sizeof(struct ws_place), 0, 0, 0, 0, 0}

WS_API size_t ws_result_place_count(const ws_result *);
WS_API int ws_result_place_at(const ws_result *, size_t i, struct ws_place *, ws_error *);

/* WS_CHECK_HAZARDS: number of different findings, and a report for people (NULL: not checked). */
WS_API size_t ws_result_hazard_count(const ws_result *);
WS_API const char *ws_result_hazard_report(const ws_result *);
/* The document that `warpstep run --json` writes; NULL when WS_JSON was not set. */
WS_API const char *ws_result_json(const ws_result *);

/* WS_PROFILE: what each instruction that ran cost, in the order of the code. Nothing is sampled: the sums are those of
 * the launch. A cycle of a resident warp is charged to the instruction it was at; those of a warp that has ended while
 * its stores are under way ("drain") to none. */
struct ws_profile_row {
  size_t size;
  const char *where, *instruction; /* "vecadd+0x120"; disassembled */
  const char *file;                /* of the source, as the compiler was given it; empty: no line table (nvcc -lineinfo) */
  uint32_t line;                   /* from 1; 0: none */
  uint64_t pc;
  uint64_t issued, threads;        /* instructions of warps, of threads */
  uint64_t warp_cycles;
  uint64_t sectors;                /* of 32 bytes: global, local and texture accesses */
  uint64_t passes, conflicts;      /* through the banks of shared memory; of those, above the least */
  uint32_t live_registers, live_predicates; /* of a thread: occupied at the instruction; 0, 0: not known */
  uint32_t live_uniform, live_uniform_predicates; /* of the warp */
};
#define WS_PROFILE_ROW_INIT {sizeof(struct ws_profile_row), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

WS_API size_t ws_result_profile_count(const ws_result *); /* 0: not asked for, or nothing ran in time */
WS_API int ws_result_profile_at(const ws_result *, size_t i, struct ws_profile_row *, ws_error *);
/* The states that warps can be in ("long_scoreboard", …), and the cycles that row i spent in state k; its warp_cycles
 * are their sum. NULL and 0: there is no such state or row. */
WS_API size_t ws_result_state_count(const ws_result *);
WS_API const char *ws_result_state_name(const ws_result *, size_t k);
WS_API uint64_t ws_result_profile_state(const ws_result *, size_t i, size_t k);

#ifdef __cplusplus
}
#endif

#endif
