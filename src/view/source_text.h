/* Lines of a source file that the compiler named: read once, for listings. The path comes from a file of the user's;
 * what it names may be gone, or no text.
 */
#ifndef WS_VIEW_SOURCE_TEXT_H
#define WS_VIEW_SOURCE_TEXT_H

#include <stdint.h>

struct source_text {
  char *text;        /* NULL: cannot be read */
  const char **line; /* NUL-terminated */
  uint32_t n_lines;
};

/* Reads folder/name, else name alone. Only regular files of at most 16 MiB. */
struct source_text source_text_read(const char *folder, const char *name);
void source_text_free(struct source_text *);

/* Line number `line`, from 1, without leading blanks; "" when there is none. */
const char *source_text_line(const struct source_text *, uint32_t line);

#endif
