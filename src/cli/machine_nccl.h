/* The topology of a machine in the form in which NCCL reads it (its variable NCCL_TOPO_FILE): PCI Express trees below
 * sockets, NVLinks and C2C links of each GPU. What it does not say NCCL asks of NVML and of the system. */
#ifndef WS_CLI_MACHINE_NCCL_H
#define WS_CLI_MACHINE_NCCL_H

#include <stdio.h>

#include "config/topology.h"

void machine_write_nccl(FILE *, const struct machine_preset *, const struct topology *);

#endif
