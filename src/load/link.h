/* Link of relocatable objects (nvcc -rdc=true), what nvlink does before the addresses are known: one
 * list of sections and one of symbols for all of them, in the order of the files. Contents are not copied or
 * changed: sections get their places later (module.c), and the numbers of symbols in a section go through
 * elf_section.numbers.
 *
 *   name defined once, used elsewhere    uses mean the definition
 *   weak definitions (inline, template)  the strong one if there is one, else that of the first file;
 *                                        the code of the others is dropped
 *   local names (static)                 each its own
 *   no definition                        runtime services and extern __shared__ arrays stay undefined
 *
 * nvlink prefers the weak function that uses fewer registers; results do not depend on it.
 */
#ifndef WS_LOAD_LINK_H
#define WS_LOAD_LINK_H

#include "load/elf.h"

struct link_object {
  const char *name; /* file, used in errors */
  struct elf_file elf;
};

/* Fills out; lists are allocated from a, contents stay where the objects have them. One file is taken as
 * it is. Errors: files for different GPUs, a file that is linked already, a name that two files define,
 * that none defines, that files declare differently. */
bool link_objects(struct elf_file *out, struct arena *a, const struct link_object *object, unsigned n,
                  struct err *e);

/* "a.o, b.o", short enough for error lines. */
const char *link_name(struct arena *a, const struct link_object *object, unsigned n);

#endif
