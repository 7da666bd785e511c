/* User errors: bad files, bad options, bad presets. A function that can meet one takes a
 * struct err * as its last argument and returns false (or NULL) after filling it with one
 * line: what is wrong, where, what to do. Only src/cli prints it and chooses the exit code. */
#ifndef WS_BASE_ERR_H
#define WS_BASE_ERR_H

#include <stdbool.h>

struct err {
  char msg[512]; /* one line, no newline at the end; empty while nothing went wrong */
};

/* Formats the message, truncated to fit, safe to print whatever the names in it are (base/text.h). A null e is
 * allowed. */
void err_fill(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

static inline bool err_failed(void)
{
  return false;
}

/* err_fill, then false, so that callers can write: return err_set(e, "%s:%d: …", file, line). A
 * macro, so that the compiler sees the false. */
#define err_set(...) (err_fill(__VA_ARGS__), err_failed())

/* Passes a failure up: the callee has already filled the error. */
#define TRY(expr)                                                                                  \
  do {                                                                                             \
    if (!(expr)) return false;                                                                     \
  } while (0)

#endif
