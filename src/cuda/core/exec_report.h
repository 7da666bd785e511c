/* What the program leaves behind when it ends: the table of launches, the JSON, traces, as the options say. */
#ifndef WS_CUDA_EXEC_REPORT_H
#define WS_CUDA_EXEC_REPORT_H

struct shim;

/* Nothing in a process that has no GPU, and in a forked child. A file that cannot be written shows in shim_status. */
void exec_report(struct shim *);

#endif
