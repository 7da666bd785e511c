/* Names of C++ kernels as their source has them. Done by the C++ runtime library where the system has one (libstdc++,
 * which nvcc's programs need themselves); without it names stay as they are. */
#ifndef WS_NCU_DEMANGLE_H
#define WS_NCU_DEMANGLE_H

/* "k(float*, int)" of _Z1kPfi; symbols that are not mangled as they are. The caller frees it. */
char *demangle(const char *symbol);

#endif
