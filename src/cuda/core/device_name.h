/* The name of a GPU as the driver tells programs. */
#ifndef WS_CUDA_DEVICE_NAME_H
#define WS_CUDA_DEVICE_NAME_H

#include "config/params.h"

enum { DEVICE_NAME_TEXT = PARAM_TEXT_MAX + 8 };

/* Of a product: "NVIDIA GeForce RTX 3070" for "GeForce RTX 3070". Since branch 470 drivers put the maker's name first,
 * but for products of the Tesla and Quadro brands, and Tegras before Thor (names in NVIDIA's list of supported products
 * of each driver's README). */
const char *device_name(const char *product, char text[DEVICE_NAME_TEXT]);

#endif
