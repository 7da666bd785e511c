/* Storage that the dependence mechanisms and the register-file cache need, in bits (Huerta et al.,
 * MICRO 2025, Table 7): per warp, per SM, and as a share of the SM's register file. Storage only: no
 * comparators, ports or wires. */
#ifndef WS_TIME_GPU_AREA_H
#define WS_TIME_GPU_AREA_H

#include <stdint.h>

#include "config/params.h"

/* Control bits: six counters of six bits, a stall count of four and a yield bit. */
uint64_t area_control_bits_per_warp(void);

/* Scoreboards, one for pending writes and one that counts the readers of each register: a bit and
 * log2(consumers + 1) bits, rounded up, for each register a warp can write. consumers: the most
 * readers counted, 1 to 2^32 - 1. */
uint64_t area_scoreboard_per_warp(uint32_t consumers);

/* Register-file cache of one SM: a 32-bit value of each lane of a warp per operand slot and bank of a sub-core. */
uint64_t area_register_cache_per_sm(const struct params *, unsigned lanes);

/* Register file of one SM. */
uint64_t area_register_file_per_sm(const struct params *);

#endif
