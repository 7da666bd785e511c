/* What a kernel is called in its source, without namespaces, template arguments and parameters. */
#ifndef WS_LOAD_PLAIN_NAME_H
#define WS_LOAD_PLAIN_NAME_H

#include <stddef.h>

/* The last plain component of a mangled name (Itanium C++ ABI): vecadd of _Z6vecaddPf, _ZN2ns6vecaddEv,
 * _ZL6vecaddv, _Z6vecaddIfEvPT_; it points into the symbol, *n characters. Other symbols whole. */
const char *plain_name(const char *symbol, size_t *n);

struct nearest;
/* Offers a kernel for a misspelt name: by its symbol and by its plain name (base/nearest.h). */
void plain_name_offer(struct nearest *, const char *symbol);

#endif
