/* Where guest addresses lie, by what they are of. Generic windows (host/abi.h) lie above all of them, and
 * above what the host gives to programs. */
#ifndef WS_BASE_GUEST_REGIONS_H
#define WS_BASE_GUEST_REGIONS_H

#include <stdint.h>

/* GPUs' memory. */
#define DEVICE_FIRST UINT64_C(0x700000000)
#define DEVICE_END   UINT64_C(0x200000000000)
/* Addresses that programs reserve: above what device memory takes, below host memory and below all that Linux gives to
 * programs by itself. */
#define RESERVED     UINT64_C(0x200000000000)
#define RESERVED_END UINT64_C(0x300000000000)
/* Host mappings, far from device addresses and from where the host's own allocators place things; with --spin strict,
 * the simulator's mappings of them behind that. */
#define HOST_MAPPINGS     UINT64_C(0x400000000000)
#define HOST_MAPPINGS_END UINT64_C(0x500000000000)
#define HOST_IMAGES_END   UINT64_C(0x540000000000)

#endif
