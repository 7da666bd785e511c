#include "ncu/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

/* Itanium C++ ABI, chapter 3.4. */
typedef char *cxa_demangle(const char *symbol, char *buf, size_t *n, int *status);

char *demangle(const char *symbol)
{
  void *library = strncmp(symbol, "_Z", 2) == 0 ? dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL) : NULL;
  char *name = NULL;
  if (library) {
    void *found = dlsym(library, "__cxa_demangle");
    cxa_demangle *call;
    int status;
    memcpy(&call, &found, sizeof call); /* ISO C has no cast from an object's address to a function's */
    if (found) name = call(symbol, NULL, NULL, &status);
    dlclose(library);
  }
  if (!name) NO_MEMORY_IF(!(name = strdup(symbol)));
  return name;
}
