/* A trace in the format of Perfetto (ui.perfetto.dev): protobuf messages `Trace` of `TracePacket`, field numbers as in
 * protos/perfetto/trace of github.com/google/perfetto. Tracks form a tree, slices lie on tracks.
 *
 *   struct perfetto *p = perfetto_new();
 *   uint64_t group = perfetto_track(p, 0, "streams"), t = perfetto_track(p, group, "stream 7");
 *   perfetto_slice(p, t, 10, 25, "kernel", NULL, 0);
 *   perfetto_write(p, f);
 *   perfetto_free(p);
 *
 * Slices of one track must nest: each begins behind the end of the one before, or within one that is told later. Times
 * are what the viewer shows as nanoseconds. At most PERFETTO_MAX_SLICES are kept, a file of some 70 MB.
 */
#ifndef WS_HOST_PERFETTO_H
#define WS_HOST_PERFETTO_H

#include <stdint.h>
#include <stdio.h>

enum { PERFETTO_MAX_SLICES = 2 * 1000 * 1000 };

struct perfetto;

/* What the viewer shows of a slice beside its name. */
struct perfetto_arg {
  const char *name;
  uint64_t number;
  const char *text; /* NULL: the number */
};

struct perfetto *perfetto_new(void);
void perfetto_free(struct perfetto *);
/* Before its first track: what tells its tracks and names from those of others, so that their files one behind the
 * other are a file, too; from 0, which it is else. */
void perfetto_number(struct perfetto *, uint32_t number);

/* A track or a group of tracks; parent 0: at the top. Shown in the order in which they are made. */
uint64_t perfetto_track(struct perfetto *, uint64_t parent, const char *name);
/* Cycles or nanoseconds [begin, end). */
void perfetto_slice(struct perfetto *, uint64_t track, uint64_t begin, uint64_t end, const char *name,
                    const struct perfetto_arg *, unsigned n_args);
/* Something that takes no time. */
void perfetto_instant(struct perfetto *, uint64_t track, uint64_t at, const char *name);

/* A track of numbers in this unit, "MB/s"; its value from a time on. Times of a track ascend. */
uint64_t perfetto_counter(struct perfetto *, uint64_t parent, const char *name, const char *unit);
void perfetto_value(struct perfetto *, uint64_t track, uint64_t at, double value);

/* Slices, instants and values that were too many. */
uint64_t perfetto_lost(const struct perfetto *);
void perfetto_write(const struct perfetto *, FILE *);

#endif
