/* Textures and surfaces of a launch file: one group of keys each (docs/launch-files.md). */
#ifndef WS_HOST_TEXTUREFILE_H
#define WS_HOST_TEXTUREFILE_H

#include <libconfig.h>

#include "host/launchfile.h"

/* Reads the group s and adds it to the case. Errors do not say where; *line is set to the line of the key
 * that is wrong. */
bool texturefile_read(struct launch_case *c, const config_setting_t *s, const char *where,
                      bool surface, int *line, struct err *e);

#endif
