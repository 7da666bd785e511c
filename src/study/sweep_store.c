#include "study/sweep_store.h"

#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "warpstep/warpstep.h"

struct sweep_store {
  sqlite3 *db;
  sqlite3_stmt *add, *get;
  int lock; /* -1: opened to read only */
  char path[PATH_MAX];
};

static bool failed(const struct sweep_store *s, struct err *e)
{
  NO_MEMORY_IF(sqlite3_errcode(s->db) == SQLITE_NOMEM);
  return err_set(e, "%s: %s; choose another file of results (--out)", s->path, sqlite3_errmsg(s->db));
}

/* --- opening ------------------------------------------------------------------------------------ */

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS study(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS result(gpu TEXT NOT NULL, run TEXT NOT NULL, settings TEXT NOT NULL, status INTEGER NOT NULL,"
    " cycles REAL, time_ns REAL, warp_insts REAL, host_seconds REAL, why TEXT, report TEXT, PRIMARY KEY(gpu, run, settings));";

static bool set_key(struct sweep_store *s, const char *key, const char *value, struct err *e)
{
  sqlite3_stmt *q;
  if (sqlite3_prepare_v2(s->db, "INSERT OR IGNORE INTO study VALUES(?, ?)", -1, &q, NULL) != SQLITE_OK) return failed(s, e);
  sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
  sqlite3_bind_text(q, 2, value, -1, SQLITE_STATIC);
  const bool ok = sqlite3_step(q) == SQLITE_DONE;
  sqlite3_finalize(q);
  return ok || failed(s, e);
}

static bool same_build(struct sweep_store *s, const char *build, struct err *e)
{
  sqlite3_stmt *q;
  if (sqlite3_prepare_v2(s->db, "SELECT value FROM study WHERE key = 'build'", -1, &q, NULL) != SQLITE_OK) return failed(s, e);
  const bool row = sqlite3_step(q) == SQLITE_ROW;
  const bool same = row && strcmp((const char *)sqlite3_column_text(q, 0), build) == 0;
  sqlite3_finalize(q);
  return same || err_set(e, "%s: its results are of another build of warpstep, and cannot be compared with new ones; choose "
                            "another file (--out), or remove it", s->path);
}

static bool prepare(struct sweep_store *s, struct err *e)
{
  static const char add[] = "INSERT OR REPLACE INTO result VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  static const char get[] = "SELECT status, cycles, time_ns, warp_insts, host_seconds FROM result WHERE gpu = ? AND run = ? AND settings = ?";
  return (sqlite3_prepare_v2(s->db, add, -1, &s->add, NULL) == SQLITE_OK &&
          sqlite3_prepare_v2(s->db, get, -1, &s->get, NULL) == SQLITE_OK) || failed(s, e);
}

static struct sweep_store *open_file(const char *path, int flags, struct err *e)
{
  struct sweep_store *s = mem_zeroed(1, sizeof *s);
  s->lock = -1;
  snprintf(s->path, sizeof s->path, "%s", path);
  if (sqlite3_open_v2(path, &s->db, flags, NULL) == SQLITE_OK) {
    sqlite3_busy_timeout(s->db, 10000);
    return s;
  }
  failed(s, e);
  sweep_store_close(s);
  return NULL;
}

static bool take_lock(struct sweep_store *s, struct err *e)
{
  s->lock = open(s->path, O_RDONLY | O_CLOEXEC);
  if (s->lock >= 0 && flock(s->lock, LOCK_EX | LOCK_NB) == 0) return true;
  return err_set(e, "%s: another sweep is writing to it; wait for it, or choose another file (--out)", s->path);
}

static bool begin(struct sweep_store *s, const struct sweep *w, const char *build, struct err *e)
{
  if (sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK) return failed(s, e);
  return take_lock(s, e) && set_key(s, "build", build, e) && same_build(s, build, e) && set_key(s, "version", ws_version(), e) &&
         set_key(s, "file", w->path, e) && set_key(s, "name", w->name, e) && prepare(s, e);
}

struct sweep_store *sweep_store_open(const char *path, const struct sweep *w, const char *build, struct err *e)
{
  struct sweep_store *s = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e);
  if (!s || begin(s, w, build, e)) return s;
  sweep_store_close(s);
  return NULL;
}

struct sweep_store *sweep_store_look(const char *path, struct err *e)
{
  struct sweep_store *s = open_file(path, SQLITE_OPEN_READONLY, e);
  if (!s || prepare(s, e)) return s;
  sweep_store_close(s);
  return NULL;
}

void sweep_store_close(struct sweep_store *s)
{
  if (!s) return;
  sqlite3_finalize(s->add);
  sqlite3_finalize(s->get);
  sqlite3_close(s->db);
  if (s->lock >= 0) close(s->lock);
  mem_free(s);
}

/* --- rows --------------------------------------------------------------------------------------- */

static void bind_point(sqlite3_stmt *q, const struct sweep *w, const struct sweep_point *p)
{
  char settings[SWEEP_SETTINGS];
  sweep_settings(w, p, settings);
  sqlite3_reset(q);
  sqlite3_bind_text(q, 1, p->gpu, -1, SQLITE_TRANSIENT);
  sqlite3_bind_text(q, 2, p->run, -1, SQLITE_TRANSIENT);
  sqlite3_bind_text(q, 3, settings, -1, SQLITE_TRANSIENT);
}

static void bind_number(sqlite3_stmt *q, int at, bool known, double value)
{
  if (known) sqlite3_bind_double(q, at, value);
  else sqlite3_bind_null(q, at);
}

static void bind_text(sqlite3_stmt *q, int at, const char *text)
{
  if (text) sqlite3_bind_text(q, at, text, -1, SQLITE_TRANSIENT);
  else sqlite3_bind_null(q, at);
}

bool sweep_store_add(struct sweep_store *s, const struct sweep *w, const struct sweep_point *p, const struct sweep_result *r,
                     struct err *e)
{
  bind_point(s->add, w, p);
  sqlite3_bind_int(s->add, 4, r->status);
  bind_number(s->add, 5, r->timed, r->cycles);
  bind_number(s->add, 6, r->timed, r->time_ns);
  bind_number(s->add, 7, r->timed, r->warp_insts);
  bind_number(s->add, 8, true, r->host_seconds);
  bind_text(s->add, 9, r->why);
  bind_text(s->add, 10, r->report);
  const bool ok = sqlite3_step(s->add) == SQLITE_DONE;
  sqlite3_reset(s->add);
  return ok || failed(s, e);
}

bool sweep_store_get(struct sweep_store *s, const struct sweep *w, const struct sweep_point *p, struct sweep_result *r)
{
  *r = (struct sweep_result){0};
  bind_point(s->get, w, p);
  const bool there = sqlite3_step(s->get) == SQLITE_ROW;
  if (there) {
    r->status = sqlite3_column_int(s->get, 0);
    r->timed = sqlite3_column_type(s->get, 1) != SQLITE_NULL;
    r->cycles = sqlite3_column_double(s->get, 1);
    r->time_ns = sqlite3_column_double(s->get, 2);
    r->warp_insts = sqlite3_column_double(s->get, 3);
    r->host_seconds = sqlite3_column_double(s->get, 4);
  }
  sqlite3_reset(s->get);
  return there;
}

bool sweep_store_has(struct sweep_store *s, const struct sweep *w, const struct sweep_point *p, int *status)
{
  struct sweep_result r;
  const bool there = sweep_store_get(s, w, p, &r);
  *status = r.status;
  return there;
}

static bool merge_attached(struct sweep_store *s, struct err *e)
{
  static const char other[] = "SELECT 1 FROM study AS a JOIN other.study AS b USING(key, value) WHERE key = 'build'";
  sqlite3_stmt *q;
  if (sqlite3_prepare_v2(s->db, other, -1, &q, NULL) != SQLITE_OK) return failed(s, e);
  const bool same = sqlite3_step(q) == SQLITE_ROW;
  sqlite3_finalize(q);
  if (!same) return err_set(e, "%s: a part of another build of warpstep", s->path);
  return sqlite3_exec(s->db, "INSERT OR IGNORE INTO result SELECT * FROM other.result", NULL, NULL, NULL) == SQLITE_OK || failed(s, e);
}

bool sweep_store_merge(struct sweep_store *s, const char *path, struct err *e)
{
  sqlite3_stmt *q;
  if (access(path, R_OK) != 0) return err_set(e, "%s: %s", path, host_error());
  if (sqlite3_prepare_v2(s->db, "ATTACH ? AS other", -1, &q, NULL) != SQLITE_OK) return failed(s, e);
  sqlite3_bind_text(q, 1, path, -1, SQLITE_STATIC);
  bool ok = sqlite3_step(q) == SQLITE_DONE;
  sqlite3_finalize(q);
  if (!ok) return failed(s, e);
  ok = merge_attached(s, e);
  sqlite3_exec(s->db, "DETACH other", NULL, NULL, NULL);
  return ok;
}
