/* One kernel's trace file: header, blocks in order of their ids, and what its form has at the end. */
#ifndef WS_TRACE_WRITER_H
#define WS_TRACE_WRITER_H

#include "base/err.h"
#include "base/output.h"
#include "trace/block.h"
#include "trace/format.h"

struct trace_writer;

/* DIR/kernel-ID with the suffix of the form. The header must live as long as the writer. NULL with e filled. */
struct trace_writer *trace_writer_new(const char *dir, const struct trace_header *, enum trace_form,
                                      struct err *e);
/* Its name inside the directory. */
const char *trace_writer_name(const struct trace_writer *);
void trace_writer_block(struct trace_writer *, const struct trace_block *);
/* Finishes and frees. The file is sealed (base/output.h): its user puts it in its place, or drops it. False with e
 * filled: not everything could be written, and there is no file. */
bool trace_writer_finish(struct trace_writer *, struct output *sealed, struct err *e);

#endif
