/* Descriptors as text, which is what a plan's JSON is: an operation graph and all that it names. A node is
 * [kind, [attribute, ...]], an attribute [name, type, [node, ...]] or [name, type, "its bytes in hexadecimal"].
 * Handles and pointers are left out. A program may keep the text and plan it in another process.
 */
#ifndef WS_DNN_TEXT_H
#define WS_DNN_TEXT_H

#include "libs/cudnn/dnn_backend.h"

/* The text of a descriptor, which the caller frees; `*length` without its end. NULL: there is no memory. */
char *dnn_text_of(const struct dnn_backend *d, int64_t *length);
/* Finalized descriptors made from a text, which the caller destroys. NULL: it is not one. */
struct dnn_backend *dnn_text_read(const char *text, int64_t length);

#endif
