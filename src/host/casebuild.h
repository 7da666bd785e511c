/* Builds launch cases piece by piece: what launch files and command-line options share. */
#ifndef WS_HOST_CASEBUILD_H
#define WS_HOST_CASEBUILD_H

#include "host/launchfile.h"

/* A value given by the user for a key. */
struct given {
  const char *text; /* NULL: a number */
  struct number n;
};

/* A buffer or symbol under construction. */
struct buffer_draft {
  struct case_buffer b;
  uint32_t seen; /* bit per key already given */
};

/* Starts a draft; strings are copied into the case. */
struct buffer_draft buffer_start(struct launch_case *, const char *name, const char *where);
/* Sets one key (type count fill seed value start step min max file expect rel abs). Relative paths
 * are taken as given. Errors do not say where. */
bool buffer_set(struct launch_case *, struct buffer_draft *, const char *key, struct given v,
                struct err *e);
/* Checks that the keys fit together and adds the buffer or symbol to the case. */
bool buffer_finish(struct launch_case *, const struct buffer_draft *, bool symbol, struct err *e);

/* Adds a texture or surface whose keys fit together; strings are copied. */
bool texture_add(struct launch_case *, const struct case_texture *, struct err *e);

bool arg_add_texture(struct launch_case *, const char *where, const char *texture, struct err *e);
bool arg_add_buffer(struct launch_case *, const char *where, const char *buffer, struct err *e);
bool arg_add_value(struct launch_case *, const char *where, enum value_type, struct number,
                   struct err *e);
bool arg_add_bytes(struct launch_case *, const char *where, const char *hex, struct err *e);

#endif
