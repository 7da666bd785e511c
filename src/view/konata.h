/* The instructions of a pipeline log (host/pipe_log.h) as a file that the viewer Konata opens
 * (github.com/shioyadan/Konata): Kanata 0004, the format of docs/kanata-log-format.md there. One cycle of the file is
 * an SM cycle of the launch.
 *
 *   lane 0   stages; those whose names hold an X execute, and arrows go between them, from producers to consumers
 *   lane 1   what the warp waited for before the instruction issued
 *   thread   a warp; simulator's id: order of issue among what the log holds
 * Instructions that are on their way when the run ends are flushed there.
 */
#ifndef WS_VIEW_KONATA_H
#define WS_VIEW_KONATA_H

#include <stdio.h>

#include "host/pipe_log.h"
#include "view/report.h"

void view_konata_write(FILE *, const struct pipe_log *, const struct report *);

#endif
